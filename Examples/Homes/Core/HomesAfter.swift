public import ExampleKit
import Foundation
import Synchronization
import Tidemark
public import TidemarkApp

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
    private let state = Mutex(State())

    public var screens: AsyncStream<Screen> { shown.screens }

    public convenience init(_ phone: PhoneEnvironment) throws {
        try self.init(
            Self.settings(phone.settings), madeUp: phone.settings.user.appleCredential,
            now: phone.now)
    }

    /// Makes the app with Apple's own sheet: the view calls ``signIn(with:)`` with its answer.
    public convenience init(_ settings: StackSettings) throws {
        try self.init(settings, madeUp: nil, now: { Date() })
    }

    /// Makes the app that Xcode runs. On a real project, it has Apple's own sheet; local servers,
    /// which accept a made-up token, need no account at Apple.
    public convenience init(_ services: PhoneServices) throws {
        switch services {
        case .project: try self.init(Self.settings(services))
        case .local:
            let user = services.phoneSettings().user
            try self.init(
                Self.settings(services), madeUp: user.appleCredential,
                now: { Date() })
        }
    }

    init(
        _ settings: StackSettings, madeUp: ProviderCredential?, now: @escaping @Sendable () -> Date
    ) throws {
        self.madeUp = madeUp
        shown = ScreenModel(HomesModel(), now: now) { $0.screen(now: $1) }
        stack = try TidemarkStack(settings)
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

    static func settings(_ phone: PhoneSettings) -> StackSettings {
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
        tasks.watch(profile.values(as: Profile.self), for: self) { $0.show($1.value) }
    }

    private func show(_ profile: Profile?) {
        guard let profile else { return }
        shown.change { ($0.name, $0.home) = (profile.name, profile.home) }
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

    public func networkMayBeBack() async { await stack.signal(.networkIsBack) }

    public func clockChanged() async { shown.change { _ in } }

    public func close() async {
        state.withLock { $0.launch }?.close()
        tasks.cancel()
        await stack.close()
        shown.finish()
    }
}
