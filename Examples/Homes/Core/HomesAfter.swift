public import ExampleKit
import Foundation
import Synchronization
import Tidemark
public import TidemarkApp
public import TidemarkFiles
public import TidemarkImages

/// The app on Tidemark. The sign-up is a job in a journal, and the launch is a state machine in
/// which every state has a way out.
public final class HomesAfter: PhoneApp {
    private struct State {
        var launch: Launch?
        /// The user whose feed is watched.
        var user: UserID?
        /// The user whose profile is watched.
        var profileOf: UserID?
        /// True if the interrupted onboarding of an earlier run was resumed.
        var hasResumed = false
        var proof: Proof?
        /// The number of photos that the user has chosen.
        var chosenPhotos = 0
        /// The loaded picture, and its object's name.
        var picture: (path: String, picture: TidemarkImages.Picture)?
    }

    /// The user's identity according to Apple.
    private struct Proof {
        var credential: ProviderCredential
        /// The fields of the profile that Apple sends once.
        var profile: MapValue = [:]
    }

    /// The credential of local mode, in which there is no sheet of Apple's; nil with Apple's sheet.
    private let madeUp: ProviderCredential?

    private let stack: TidemarkStack
    private let shown: ScreenModel<HomesModel>
    private let tasks = AppTasks()
    /// The profile's picture; nil in an app without Storage.
    private let photo: HomePhoto?
    /// Returns the next photo that the user has taken; nil if there are none.
    private let takenPhoto: @Sendable (Int) -> URL?
    private let state = Mutex(State())

    public var screens: AsyncStream<Screen> { shown.screens }

    public convenience init(_ phone: PhoneEnvironment) throws {
        try self.init(
            Self.settings(phone.settings), madeUp: phone.settings.user.appleCredential,
            storage: phone.settings.storage, takenPhoto: { phone.settings.photo(after: $0) },
            now: phone.now)
    }

    /// Makes the app with Apple's own sheet: the view calls ``signIn(with:)`` with its answer.
    ///
    /// - Parameter storage: The place of the pictures; nil for an app without them.
    public convenience init(_ settings: StackSettings, storage: PhoneStorage? = nil) throws {
        try self.init(settings, madeUp: nil, storage: storage, now: { Date() })
    }

    /// Makes the app that Xcode runs. On a real project, it has Apple's own sheet; local servers,
    /// which accept a made-up token, need no account at Apple.
    public convenience init(_ services: PhoneServices) throws {
        switch services {
        case .project:
            try self.init(Self.settings(services), storage: services.phoneStorage())
        case .local:
            let user = services.phoneSettings().user
            try self.init(
                Self.settings(services), madeUp: user.appleCredential,
                storage: services.phoneStorage(), now: { Date() })
        }
    }

    init(
        _ settings: StackSettings, madeUp: ProviderCredential?, storage: PhoneStorage?,
        takenPhoto: @escaping @Sendable (Int) -> URL? = { _ in nil },
        now: @escaping @Sendable () -> Date
    ) throws {
        self.madeUp = madeUp
        self.takenPhoto = takenPhoto
        var model = HomesModel()
        model.hasPhotos = storage != nil
        shown = ScreenModel(model, now: now) { $0.screen(now: $1) }
        let stack = try TidemarkStack(settings)
        self.stack = stack
        photo = try storage.map {
            try HomePhoto(
                AppPhotos(stack.firestore, FileSettings($0)), stack.firestore,
                folder: settings.folder + "/pictures")
        }
        let launch = stack.launch(
            StackSettings.Stages(
                showContent: { [weak self] user, _ in await self?.showContent(of: user) },
                beginSignUp: { [weak self] jobs, account, step in
                    if account == nil {
                        await self?.signIn(jobs)
                    } else if let profile = try? jobs.draft() {
                        await jobs.completeProfile(profile, step: step)
                    }
                }))
        state.withLock { $0.launch = launch }
        tasks.add(launch.start { [weak self] in self?.launchChanged($0) })
    }

    /// Returns the settings of files, accounts, Firestore and feed, for a played phone.
    public static func settings(_ phone: PhoneSettings) -> StackSettings {
        phone.stackSettings { firestore, user in try feeds(firestore, user) }
    }

    /// Returns the settings of files, accounts, Firestore and feed, for an app on a device.
    ///
    /// - Parameter accounts: `.cloud(key:)` with the project's web key, or a local server.
    public static func settings(
        folder: String, projectID: String, accounts: AccountsEndpoint
    ) -> StackSettings {
        StackSettings(
            folder: folder, projectID: projectID, accounts: accounts, feeds: feeds)
    }

    /// Returns the settings of the app that Xcode runs, for an app with view controllers.
    public static func settings(_ services: PhoneServices) -> StackSettings {
        services.stackSettings(feeds: feeds)
    }

    @Sendable private static func feeds(_ firestore: Firestore, _ user: UserID?) throws -> [Feed] {
        user == nil ? [] : [try feed(firestore)]
    }

    private static func feed(_ firestore: Firestore) throws -> Feed {
        try Feed(
            FeedDefinition(
                query: firestore.collection(Paths.members), itemTime: Paths.joined,
                way: .changeTime(Paths.updated, deletedField: Paths.deleted),
                window: Paths.window))
    }

    // MARK: Launch states

    private func showContent(of user: UserID?) async {
        if let user { watch(user) }
        state.withLock { $0.launch }?.contentShown()
    }

    private func launchChanged(_ machine: LaunchMachine) {
        goOn(machine)
        let screen = machine.screen
        let draft = (try? stack.jobs.draft()) ?? nil
        shown.change { $0.follow(machine, draft: draft) }
        if case .local(let user?) = screen.content { watch(user) }
        // A call before the session is loaded would be sent without a token.
        switch machine.state {
        case .signedIn(let user), .profileReady(let user), .live(let user): watchProfile(of: user)
        default: break
        }
    }

    /// Starts the onboarding when the account exists, and continues an interrupted sign-up at the
    /// next launch.
    private func goOn(_ machine: LaunchMachine) {
        let launch: Launch? = state.withLock { state in
            if case .profileMissing = machine.state { return state.launch }
            if machine.screen.content != .signIn || state.hasResumed { return nil }
            state.hasResumed = true
            return state.launch
        }
        for case .resumeOnboarding(let step) in machine.screen.actions {
            launch?.perform(.resumeOnboarding(step: step))
        }
    }

    private func watch(_ user: UserID) {
        guard state.withLock({ $0.user.exchange(user) }),
            let feed = try? stack.feeds(of: user).first
        else { return }
        tasks.watch(TypedFeed(of: Member.self, feed).states, for: self) { $0.show($1) }
    }

    private func watchProfile(of user: UserID) {
        guard state.withLock({ $0.profileOf.exchange(user) }) else { return }
        let profile = stack.firestore.collection(Paths.users).document(user.text)
        tasks.watch(profile.values(as: Profile.self), for: self) { $0.show($1.value, of: user) }
        watchPhoto(of: user)
    }

    private func show(_ profile: Profile?, of user: UserID) {
        guard let profile else { return }
        shown.change { model in
            (model.name, model.home, model.photo) = (profile.name, profile.home, profile.photo)
            if !isLoaded(profile.photo) { model.isPhotoLoaded = false }
        }
        loadPhoto(of: user)
    }

    private func show(_ feed: TypedFeedState<Member>) {
        shown.change { model in
            model.lines = feed.items.map {
                HomesModel.Line(
                    id: $0.item.document.documentID, member: $0.value,
                    isPending: $0.hasPendingWrites)
            }
            model.state = Screen.State(feed.phase, hasRows: true)
        }
    }

    // MARK: The picture

    /// The picture of the profile, for a view; nil while it is not loaded. Never waits.
    public var picture: TidemarkImages.Picture? { state.withLock { $0.picture?.picture } }

    private func isLoaded(_ photo: StoredFile?) -> Bool {
        state.withLock { $0.picture?.path == photo?.path }
    }

    /// Sends the picture of an earlier process too.
    private func watchPhoto(of user: UserID) {
        guard let photo else { return }
        tasks.begin(self) { app in
            await photo.photos.outbox.start()
            app.tasks.watch(await photo.uploads(of: user.text), for: app) { app, upload in
                app.shown.change { $0.upload = upload }
            }
        }
    }

    /// Loads the picture of the profile, unless it is loaded.
    private func loadPhoto(of user: UserID) {
        guard let photo, let file = shown.value.photo, !isLoaded(file) else { return }
        tasks.begin(self) { app in
            guard let picture = await photo.load(file, of: user.text) else { return }
            app.state.withLock { $0.picture = (file.path, picture) }
            app.shown.change { if $0.photo == file { $0.isPhotoLoaded = true } }
        }
    }

    /// Gives the profile another picture. Returns when it is on disk, also without a network. It is
    /// shown at once.
    public func choose(_ picture: FileUpload) async {
        guard let photo, let user = stack.identity.user else { return }
        let replaced = shown.value.photo
        do throws(FirestoreError) {
            let receipt = try await photo.choose(picture, of: user.text)
            shown.change { $0.message = nil }
            follow(receipt, replacing: replaced)
        } catch { shown.change { $0.message = error.message } }
    }

    /// Deletes the replaced picture when the new one has arrived, and shows the reason if the
    /// server refuses it.
    private func follow(_ receipt: WriteReceipt, replacing replaced: StoredFile?) {
        tasks.add(
            Task { [weak self] in
                do throws(FirestoreError) {
                    try await receipt.acknowledged()
                    if let replaced { await self?.photo?.remove(replaced) }
                } catch {
                    // The user has given up the picture.
                    if error.code == .cancelled { return }
                    self?.shown.change { $0.message = error.message }
                }
            })
    }

    private func settle(isRetried: Bool) async {
        guard let outbox = photo?.photos.outbox, let upload = shown.value.upload else { return }
        do throws(FirestoreError) {
            if isRetried {
                try await outbox.retry(upload.id)
            } else {
                try await outbox.discard(upload.id)
            }
        } catch { shown.change { $0.message = error.message } }
    }

    /// Chooses the next photo that the user has taken.
    private func chooseTaken() async {
        let number = state.withLock { state in
            defer { state.chosenPhotos += 1 }
            return state.chosenPhotos
        }
        if let file = takenPhoto(number) { await choose(FileUpload(file)) }
    }

    // MARK: User actions

    public func tap(_ id: String, _ text: String) async {
        guard let launch = state.withLock({ $0.launch }) else { return }
        switch id {
        case "begin":
            guard let madeUp else { return }
            state.withLock { $0.proof = Proof(credential: madeUp) }
            begin()
        case "name":
            await keep(step: 1, ["name": .string(text)])
            launch.perform(.goTo(step: 1))
        case "home":
            var profile = (try? stack.jobs.draft()) ?? nil ?? MapValue()
            profile["home"] = .string(text)
            await keep(step: 1, profile)
            launch.perform(.submit)
        case "photo": await chooseTaken()
        case "retryPhoto": await settle(isRetried: true)
        case "discardPhoto": await settle(isRetried: false)
        case "tryAgain": launch.perform(.tryAgain)
        case "signInAgain": launch.perform(.signInAgain)
        case "giveUp": launch.perform(.giveUp)
        default: break
        }
    }

    /// True if *Sign in with Apple* is Apple's own button.
    public var hasAppleSheet: Bool { madeUp == nil }

    /// Signs in with the answer of Apple's sheet, for the first time or again.
    public func signIn(with identity: AppleIdentity) {
        let name = identity.givenName.map { ["name": .string($0)] as MapValue }
        state.withLock {
            $0.proof = Proof(credential: identity.credential, profile: name ?? [:])
        }
        begin()
    }

    /// Shows the reason why Apple's sheet returned no identity.
    public func signInFailed(_ error: AppleSignInError) {
        if error == .cancelled { return }
        shown.change { $0.message = "Apple didn't sign you in. Please try again." }
    }

    private func begin() {
        let launch = state.withLock { $0.launch }
        launch?.perform(.beginSignUp)
        launch?.perform(.submit)
    }

    private func signIn(_ jobs: AccountJobs) async {
        guard let proof = state.withLock({ $0.proof }) else { return }
        try? await jobs.signIn(.provider(proof.credential), profile: proof.profile)
    }

    /// Stores the typed text before the next step is shown.
    private func keep(step: Int, _ profile: MapValue) async {
        do { try await stack.jobs.keep(step: step, profile: profile) } catch {
            shown.change { $0.message = "This phone can't keep what you typed." }
        }
    }

    public func readPlan() async -> [String] {
        guard let plan = await stack.feeds.first?.plan else {
            return ["Look into the journal of sign-ups: no reads."]
        }
        return [
            "Show the home from disk: no reads.",
            "\(plan.reason) At least \(plan.prediction.atLeast) reads.",
        ]
    }

    public func networkMayBeBack() async {
        await stack.signal(.networkIsBack)
        if let user = stack.identity.user { loadPhoto(of: user) }
    }

    public func clockChanged() async { shown.change { _ in } }

    public func close() async {
        state.withLock { $0.launch }?.close()
        tasks.cancel()
        await photo?.photos.outbox.stop()
        await stack.close()
        shown.finish()
    }
}
