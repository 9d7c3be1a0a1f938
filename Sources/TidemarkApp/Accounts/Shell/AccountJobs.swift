import Foundation
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
    /// How the person shows who they are.
    public enum Way: Sendable {
        case password(email: String, String)
        case provider(ProviderCredential)
        case customToken(String)
        /// Nothing is asked of the person: the installation makes up an address and a password.
        case installation
    }

    /// Called after every effect, with its name: where a demonstration ends the process.
    package typealias Probe = @Sendable (String) -> Void

    let accounts: Accounts
    let profiles: any ProfileStore
    let files: LaunchFiles
    /// An account that another's session stands beside, while it is being undone.
    var foreign: AccountsService.SignIn?
    private let pause: @Sendable (Duration) async -> Void
    private let probe: Probe?
    private var job = AccountJob()
    /// The secret of a sign-up that begins once an earlier one is undone.
    private var newSecret: [UInt8]?
    private var hasResumed = false
    private var isRecovering = false
    /// Since when something stands in the journal, for metrics alone.
    private var journalBegan: Date?
    private let input: AsyncStream<JobNews>.Continuation
    /// What becomes of the jobs, in order; for one reader. The newest 64 are kept.
    public nonisolated let news: AsyncStream<JobNews>

    public init(_ accounts: Accounts, profiles: any ProfileStore, files: LaunchFiles) {
        self.init(accounts, profiles: profiles, files: files, probe: nil)
    }

    /// - Parameters:
    ///   - probe: Called at each step, for tests that kill the app there.
    ///   - pause: Waits between attempts; a test's returns at once.
    package init(
        _ accounts: Accounts, profiles: any ProfileStore, files: LaunchFiles, probe: Probe?,
        pause: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.accounts = accounts
        self.profiles = profiles
        self.files = files
        self.pause = pause
        self.probe = probe
        (news, input) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
    }

    /// What the journal holds, as a launch has to know it.
    ///
    /// - Throws: ``LaunchFiles/Failure`` when it cannot be read.
    public nonisolated func unfinished() throws(LaunchFiles.Failure) -> UnfinishedJob? {
        guard let record = try files.record() else { return nil }
        let kind: UnfinishedJob.Kind =
            switch record.phase {
            case .filling, .onboarding: .filling
            case .account, .profile, .flag: .signUp
            case .undoing, .deleting: .removal
            }
        // A session that the sign-up has made, and the journal does not know of yet.
        let own = accounts.isOfSignUp ? accounts.user : nil
        return UnfinishedJob(kind, user: record.user ?? own, step: record.step)
    }

    // MARK: What the person asks for

    /// Keeps how far the person has come. Asks no server.
    ///
    /// - Parameters:
    ///   - step: The app's number for the step that comes next.
    ///   - profile: What has been filled in so far; nil leaves what was kept before.
    public func keep(step: Int, profile: MapValue? = nil) throws(LaunchFiles.Failure) {
        resumeIfNeeded(acts: false)
        switch job.work {
        case .idle, .removed, .parkedForPerson, .parkedForNetwork: break
        // The sign-up has been faster: nothing is left to be kept for it.
        case .journalling, .acting, .pausing, .finished: return
        }
        var record =
            job.record
            ?? AccountRecord(
                id: UUID().uuidString, method: .password(email: ""), profile: [],
                phase: .filling(accounts.user))
        record.step = step
        switch record.phase {
        case .filling, .onboarding:
            if let profile { record.profile = FieldsCodec.encode(profile) }
        // What was submitted is what the profile becomes.
        case .account, .profile, .flag, .undoing, .deleting: break
        }
        try files.setRecord(record)
        _ = job.step(.recall(record))
    }

    /// What has been filled in so far, also by an earlier run of the app; nil for nothing.
    public nonisolated func draft() throws(LaunchFiles.Failure) -> MapValue? {
        guard let record = try files.record() else { return nil }
        switch record.phase {
        case .undoing, .deleting: return nil
        case .filling, .account, .onboarding, .profile, .flag:
            return record.profile.isEmpty ? nil : record.fields
        }
    }

    /// Makes the account alone, or finds the one that the same identity has: what *Sign in with Apple* at
    /// the start of an app does. The onboarding follows, and ``completeProfile(_:step:)`` at its end.
    ///
    /// The journal knows of it before the server is asked, so that an account which the person never saw
    /// made is found by the next launch. Given up, it is deleted, unless it was there before.
    ///
    /// - Parameters:
    ///   - way: How the person signs in.
    ///   - profile: What is known already, such as the name that Apple tells once: kept as the ``draft()``
    ///     of the onboarding. Empty leaves the draft that is there.
    /// - Throws: ``CredentialStoreError`` when the store cannot be read: nothing has begun then.
    public func signIn(_ way: Way, profile: MapValue = [:]) throws(CredentialStoreError) {
        let known = profile.isEmpty ? [] : FieldsCodec.encode(profile)
        try begin(way, profile: known, step: 0, makesAccountFirst: true)
    }

    /// The server says that the user has a profile: an onboarding that waits for one is over.
    public func profileFound(_ user: UserID) {
        resumeIfNeeded(acts: false)
        step(.profileFound(user))
    }

    /// Makes the account and its profile.
    ///
    /// - Parameters:
    ///   - way: How the person signs up.
    ///   - profile: The profile's fields.
    ///   - step: The step of the onboarding, for the next launch.
    /// - Throws: ``CredentialStoreError`` when the store cannot be read: nothing has begun then.
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
        guard let bytes = try? JSONEncoder().encode(secret) else {
            throw .failed("The secret cannot be encoded.")
        }
        let known = try accounts.store.read(.signUp).flatMap {
            try? JSONDecoder().decode(SignUpSecret.self, from: Data($0))
        }
        let isSame = job.record?.method == method && known == secret
        newSecret = isSame ? nil : [UInt8](bytes)
        self.step(
            .begin(
                AccountRecord(
                    id: isSame ? job.record?.id ?? UUID().uuidString : UUID().uuidString,
                    method: method, profile: profile, step: step,
                    phase: .filling(makesAccountFirst == true ? nil : accounts.user),
                    makesAccountFirst: makesAccountFirst)))
    }

    /// Writes the profile of somebody who is signed in and has none.
    public func completeProfile(_ profile: MapValue, step: Int = 0) {
        resumeIfNeeded(acts: false)
        guard let user = accounts.user else { return }
        self.step(
            .begin(
                AccountRecord(
                    id: UUID().uuidString, method: .customToken,
                    profile: FieldsCodec.encode(profile), step: step, phase: .filling(user))))
    }

    /// Deletes the account of who is signed in, and the profile before it.
    public func deleteAccount() {
        resumeIfNeeded(acts: false)
        guard let user = accounts.user else { return }
        step(
            .delete(
                AccountRecord(
                    id: UUID().uuidString, method: .customToken, profile: [],
                    phase: .deleting(user))))
    }

    /// Deletes the account of who is signed in, after the person has confirmed it by signing in with
    /// Apple once more: takes back at Apple what they had allowed, then goes on as ``deleteAccount()``.
    ///
    /// - Throws: What the server answers, before anything is deleted: `wrongCredentials` for another
    ///   person's identity.
    public func deleteAccount(confirmedBy identity: AppleIdentity) async throws(AccountError) {
        try await accounts.reauthenticate(with: identity.credential)
        if let code = identity.authorizationCode {
            try await accounts.revokeApple(authorizationCode: code)
        }
        deleteAccount()
    }

    /// Goes on with what waits for a network, or for a device that could not be read. To be called when
    /// the system says that either is back; ``TidemarkStack`` does. Does nothing while nothing waits.
    public func networkMayBeBack() {
        guard hasResumed else { return }
        step(.networkIsBack)
    }

    /// Goes on with what the journal holds: at a launch, or when the person tries again.
    public func resume() {
        if !resumeIfNeeded(acts: true) { step(.tryAgain) }
    }

    /// Ends the sign-up, and undoes what it has made.
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
        // It is older than this launch; by how much, the journal does not say.
        journalBegan = isRecovering ? Date() : nil
        LaunchMetrics.journal(since: journalBegan)
        if isRecovering { LaunchMetrics.recovery("tried") }
        perform(job.step(.resume(record)))
        return true
    }

    private func step(_ event: AccountJobEvent) { perform(job.step(event)) }

    private func perform(_ effects: [AccountJobEffect]) {
        for effect in effects {
            switch effect {
            case .journal(let record): journal(record)
            case .perform(let act): Task { await self.run(act) }
            case .pause(let time):
                Task {
                    await pause(time)
                    self.step(.pauseOver)
                }
            case .tell(let news):
                LaunchMetrics.job(news)
                recovered(news)
                input.yield(news)
            }
        }
    }

    /// Counts what came of a job that a launch has found unfinished.
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
            // With what it makes the account is there before the word that it does.
            if case .account? = record?.phase, let newSecret {
                try accounts.store.write(.signUp, newSecret)
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

    private func run(_ act: AccountAct) async {
        guard let record = job.record else { return }
        let event = await answer(to: act, record)
        reached("\(act)".prefix { $0 != "(" } + "")
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
            // The same one again, while a sign-up by it is not over.
            if case .installation? = job.record?.method, let method = job.record?.method,
                let bytes = try accounts.store.read(.signUp),
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
