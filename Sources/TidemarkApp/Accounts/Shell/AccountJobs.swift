import Foundation
import Synchronization
public import Tidemark

/// Signs up and deletes accounts, as jobs that continue after a kill.
///
/// ```swift
/// let jobs = AccountJobs(accounts, profiles: FirestoreProfiles(firestore), files: files)
/// try await jobs.signUp(
///     .password(email: "ada@example.com", "correct horse"),
///     profile: ["name": .string("Ada")])
/// for await news in jobs.news {
///     print(news)
/// }
/// ```
public actor AccountJobs {
    /// The way in which the user signs in.
    public enum Way: Sendable {
        case password(email: String, String)
        case provider(ProviderCredential)
        case customToken(String)
        /// The user gives no data: the installation invents an address and a password.
        case installation
    }

    /// Called after every effect, with its name. A demonstration ends the process there.
    package typealias Probe = @Sendable (String) -> Void

    let identity: any IdentityProvider
    let secrets: any CredentialStore
    let profiles: any ProfileStore
    let files: LaunchFiles
    private let pause: @Sendable (Duration) async -> Void
    let observers: [Observer]
    let probe: Probe?
    private(set) var job = AccountJob()
    /// The secret of a sign-up that begins after an earlier sign-up is undone.
    private var newSecret: [UInt8]?
    /// The number of calls that keep a step so far, and of the last one that was kept.
    private nonisolated let keeps = Mutex(0)
    private var lastKeep = 0
    private var hasResumed = false
    private var isRecovering = false
    /// The time since which the journal has a record, only for metrics.
    private var journalBegan: Date?
    private let input: AsyncStream<JobNews>.Continuation
    /// The news of the jobs, in order, for one reader. The newest 64 are kept.
    public nonisolated let news: AsyncStream<JobNews>

    public init(_ accounts: Accounts, profiles: any ProfileStore, files: LaunchFiles) {
        self.init(accounts, profiles: profiles, files: files, probe: nil)
    }

    /// Creates the jobs of an app whose users sign in by another library.
    ///
    /// - Parameters:
    ///   - identity: The source of the app's user.
    ///   - secrets: The store of the secret with which an unfinished sign-up creates its account.
    ///   - profiles: The store of profiles.
    ///   - files: The launch data on this device.
    ///   - observers: The receivers of failures to create a profile.
    public init(
        _ identity: any IdentityProvider, secrets: any CredentialStore,
        profiles: any ProfileStore, files: LaunchFiles, observers: [Observer] = []
    ) {
        self.init(
            identity, secrets: secrets, profiles: profiles, files: files, observers: observers,
            probe: nil)
    }

    package init(
        _ accounts: Accounts, profiles: any ProfileStore, files: LaunchFiles, probe: Probe?,
        pause: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.init(
            accounts, secrets: accounts.store, profiles: profiles, files: files, probe: probe,
            pause: pause)
    }

    /// - Parameters:
    ///   - probe: Called at each step, for tests that kill the app there.
    ///   - pause: Waits between attempts; in tests it returns immediately.
    package init(
        _ identity: any IdentityProvider, secrets: any CredentialStore,
        profiles: any ProfileStore, files: LaunchFiles, observers: [Observer] = [], probe: Probe?,
        pause: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.identity = identity
        self.secrets = secrets
        self.profiles = profiles
        self.files = files
        self.observers = observers
        self.pause = pause
        self.probe = probe
        (news, input) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
    }

    /// Returns true if this device knows that a user has a profile. A launch of another user looks
    /// for the profile, which costs one read.
    public nonisolated func knowsProfile(of user: UserID) -> Bool {
        files.known.completeProfile == user
    }

    /// Returns the unfinished job in the journal, for a launch.
    ///
    /// - Throws: ``LaunchFiles/Failure`` if the journal cannot be read.
    public nonisolated func unfinished() throws(LaunchFiles.Failure) -> UnfinishedJob? {
        guard let record = try files.record() else { return nil }
        let kind: UnfinishedJob.Kind =
            switch record.phase {
            case .filling, .onboarding: .filling
            case .account, .profile, .flag: .signUp
            case .undoing, .deleting: .removal
            }
        // The session of a sign-up that the journal does not contain yet.
        return UnfinishedJob(
            kind, user: record.user ?? identity.userOfSignUp, step: record.step)
    }

    // MARK: What the person asks for

    /// Keeps the user's step in the onboarding. Asks no server.
    ///
    /// - Parameters:
    ///   - step: The app's number for the next step.
    ///   - profile: The input so far; nil leaves the kept input.
    public func keep(step: Int, profile: MapValue? = nil) throws(LaunchFiles.Failure) {
        try keep(step: step, profile: profile, number: nextKeep())
    }

    /// Returns a function that keeps a step, unless a call that begins after this one has kept a
    /// step already. A launch keeps its steps in tasks, which may come after the app's own call.
    package nonisolated func keepingFromNow() -> @Sendable (_ step: Int) async -> Void {
        let number = nextKeep()
        return { step in try? await self.keep(step: step, profile: nil, number: number) }
    }

    private nonisolated func nextKeep() -> Int {
        keeps.withLock { count in
            count += 1
            return count
        }
    }

    private func keep(
        step: Int, profile: MapValue?, number: Int
    ) throws(LaunchFiles.Failure) {
        guard number > lastKeep else { return }
        lastKeep = number
        resumeIfNeeded(acts: false)
        switch job.work {
        case .idle, .removed, .parkedForPerson, .parkedForNetwork: break
        // The sign-up was faster: there is nothing left to keep for it.
        case .journalling, .acting, .pausing, .finished: return
        }
        var record =
            job.record
            ?? AccountRecord(
                id: UUID().uuidString, method: .password(email: ""), profile: [],
                phase: .filling(identity.user))
        record.step = step
        switch record.phase {
        case .filling, .onboarding:
            if let profile { record.profile = FieldsCodec.encode(profile) }
        // The submitted input is the profile, and stays unchanged.
        case .account, .profile, .flag, .undoing, .deleting: break
        }
        try files.setRecord(record)
        _ = job.step(.recall(record))
    }

    /// Returns the input so far, also of an earlier run of the app; nil if there is none.
    public nonisolated func draft() throws(LaunchFiles.Failure) -> MapValue? {
        guard let record = try files.record() else { return nil }
        switch record.phase {
        case .undoing, .deleting: return nil
        case .filling, .account, .onboarding, .profile, .flag:
            return record.profile.isEmpty ? nil : record.fields
        }
    }

    /// Creates only the account, or finds the account of the same identity, as *Sign in with Apple*
    /// at the start of an app does. The onboarding follows, with ``completeProfile(_:step:)`` at
    /// its end.
    ///
    /// The journal has the sign-up before the server is asked, so the next launch finds an account
    /// whose creation the user never saw. If the user gives up, the account is deleted, unless it
    /// existed before. While a removal waits for the user to sign in again, this sign-in confirms
    /// the removal, and begins nothing else.
    ///
    /// - Parameters:
    ///   - way: The way in which the user signs in.
    ///   - profile: The known fields, such as the name that Apple sends once. They are kept as the
    ///     ``draft()`` of the onboarding. An empty value leaves the existing draft.
    /// - Throws: ``CredentialStoreError`` if the store cannot be read. Nothing has begun then.
    public func signIn(_ way: Way, profile: MapValue = [:]) throws(CredentialStoreError) {
        let known = profile.isEmpty ? [] : FieldsCodec.encode(profile)
        try begin(way, profile: known, step: 0, makesAccountFirst: true)
    }

    /// Ends an onboarding that waits for a profile, because the server reports that the user has a
    /// profile.
    public func profileFound(_ user: UserID) {
        resumeIfNeeded(acts: false)
        step(.profileFound(user))
    }

    /// Creates the account and its profile.
    ///
    /// - Parameters:
    ///   - way: The way in which the user signs up.
    ///   - profile: The profile's fields.
    ///   - step: The step of the onboarding, for the next launch.
    /// - Throws: ``CredentialStoreError`` if the store cannot be read. Nothing has begun then.
    public func signUp(
        _ way: Way, profile: MapValue, step: Int = 0
    ) throws(CredentialStoreError) {
        try begin(way, profile: FieldsCodec.encode(profile), step: step, makesAccountFirst: nil)
    }

    private func begin(
        _ way: Way, profile: [UInt8], step: Int, makesAccountFirst: Bool?
    ) throws(CredentialStoreError) {
        resumeIfNeeded(acts: false)
        if job.isBusy { return }
        let (method, secret) = try material(of: way)
        if let record = removalThatWaits { return confirm(record, Self.proof(method, secret)) }
        guard let bytes = try? JSONEncoder().encode(secret) else {
            throw .failed("The secret cannot be encoded.")
        }
        let known = try secrets.read(.signUp).flatMap {
            try? JSONDecoder().decode(SignUpSecret.self, from: Data($0))
        }
        let isSame = job.record?.method == method && known == secret
        newSecret = isSame ? nil : [UInt8](bytes)
        self.step(
            .begin(
                AccountRecord(
                    id: isSame ? job.record?.id ?? UUID().uuidString : UUID().uuidString,
                    method: method, profile: profile, step: step,
                    phase: .filling(makesAccountFirst == true ? nil : identity.user),
                    makesAccountFirst: makesAccountFirst)))
    }

    /// Writes the profile of a signed-in user who has none.
    public func completeProfile(_ profile: MapValue, step: Int = 0) {
        resumeIfNeeded(acts: false)
        guard let user = identity.user else { return }
        self.step(
            .begin(
                AccountRecord(
                    id: UUID().uuidString, method: .customToken,
                    profile: FieldsCodec.encode(profile), step: step, phase: .filling(user))))
    }

    /// Deletes the profile and then the account of the signed-in user.
    public func deleteAccount() {
        resumeIfNeeded(acts: false)
        guard let user = identity.user else { return }
        step(
            .delete(
                AccountRecord(
                    id: UUID().uuidString, method: .customToken, profile: [],
                    phase: .deleting(user))))
    }

    /// Deletes the account of the signed-in user, who has confirmed the deletion by signing in with
    /// Apple once more: withdraws the permission at Apple, then continues as ``deleteAccount()``.
    ///
    /// - Throws: The server's error, before anything is deleted: `wrongCredentials` for the
    ///   identity of another user.
    public func deleteAccount(confirmedBy identity: AppleIdentity) async throws(AccountError) {
        try await self.identity.reauthenticate(with: identity.credential)
        if let code = identity.authorizationCode {
            try await self.identity.revokeApple(authorizationCode: code)
        }
        deleteAccount()
    }

    /// Continues a job that waits for a network, or for a device that could not be read. Call it
    /// when the system reports that either is available again; ``TidemarkStack`` does. Does nothing
    /// if no job waits.
    public func networkMayBeBack() {
        guard hasResumed else { return }
        step(.networkIsBack)
    }

    /// Continues the job in the journal, at a launch or when the user retries.
    public func resume() {
        if !resumeIfNeeded(acts: true) { step(.tryAgain) }
    }

    /// Ends the sign-up, and undoes its creations.
    public func giveUp() {
        resumeIfNeeded(acts: false)
        step(.giveUp)
    }

    // MARK: The machine

    @discardableResult
    private func resumeIfNeeded(acts: Bool) -> Bool {
        if hasResumed { return false }
        hasResumed = true
        let record = try? files.record()
        guard acts else {
            _ = job.step(.recall(record))
            return false
        }
        if record == nil { input.yield(.removed) }
        isRecovering = record != nil
        // The record is older than this launch; the journal has no time.
        journalBegan = isRecovering ? Date() : nil
        LaunchMetrics.journal(since: journalBegan)
        if isRecovering { LaunchMetrics.recovery("tried") }
        perform(job.step(.resume(record)))
        return true
    }

    private func step(_ event: AccountJobEvent) { perform(job.step(event)) }

    /// Continues a removal after the user has signed in again.
    func continueRemoval(_ record: AccountRecord) {
        step(job.work == .idle ? .resume(record) : .tryAgain)
    }

    private func perform(_ effects: [AccountJobEffect]) {
        for effect in effects {
            switch effect {
            case .journal(let record): journal(record)
            case .perform(let action): Task { await self.run(action) }
            case .pause(let time):
                Task {
                    await pause(time)
                    self.step(.pauseOver)
                }
            case .notify(let news):
                LaunchMetrics.job(news)
                recovered(news)
                input.yield(news)
            }
        }
    }

    /// Counts the result of a job that a launch has found unfinished.
    private func recovered(_ news: JobNews) {
        guard isRecovering else { return }
        switch news {
        case .finished: LaunchMetrics.recovery("finished")
        case .removed: LaunchMetrics.recovery("removed")
        case .needsPerson, .waiting, .signedIn: return
        }
        isRecovering = false
    }

    private func journal(_ record: AccountRecord?) {
        let isDone: Bool
        do {
            // The secret that creates the account is stored before the journal names the account.
            if case .account? = record?.phase, let newSecret {
                try secrets.write(.signUp, newSecret)
                self.newSecret = nil
                reached("secret kept")
            }
            try files.setRecord(record)
            if record == nil { journalBegan = nil } else { journalBegan = journalBegan ?? Date() }
            LaunchMetrics.journal(since: journalBegan)
            isDone = true
        } catch { isDone = false }
        reached("journal: " + (record.map { "\($0.phase)".prefix { $0 != "(" } } ?? "cleared"))
        step(.journalled(isDone))
    }

    private func run(_ action: AccountAction) async {
        guard let record = job.record else { return }
        let event = await answer(to: action, record)
        reached("\(action)".prefix { $0 != "(" } + "")
        step(event)
    }

    func reached(_ name: some StringProtocol) { probe?(String(name)) }

    private func material(
        of way: Way
    ) throws(CredentialStoreError) -> (AccountRecord.Method, SignUpSecret) {
        switch way {
        case .password(let email, let password):
            return (.password(email: email), SignUpSecret(password: password))
        case .provider(let credential):
            return (
                .provider(credential.provider),
                SignUpSecret(token: credential.idToken, nonce: credential.nonce)
            )
        case .customToken(let token): return (.customToken, SignUpSecret(token: token))
        case .installation:
            // An unfinished sign-up by the installation uses the same address again.
            if case .installation? = job.record?.method, let method = job.record?.method,
                let bytes = try secrets.read(.signUp),
                let secret = try? JSONDecoder().decode(SignUpSecret.self, from: Data(bytes))
            {
                return (method, secret)
            }
            let name = UUID().uuidString.lowercased()
            let password = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
            return (
                .installation(address: "\(name)@installation.invalid"),
                SignUpSecret(password: password.base64EncodedString())
            )
        }
    }
}
