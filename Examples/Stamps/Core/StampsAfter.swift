public import ExampleKit
import Foundation
import Synchronization
import Tidemark
import TidemarkApp
public import TidemarkImages

/// The app on Tidemark: what the device holds is on the screen before anybody is asked, and everything
/// else comes when it comes.
public final class StampsAfter: PhoneApp {
    /// What the count of a rank may take.
    private static let patience = Duration.seconds(10)

    private struct State {
        var model = StampsModel()
        var launch: Launch?
        /// Whose feed is being watched.
        var user: UserID?
        var tasks: [Task<Void, Never>] = []
        /// Whose profile is being listened to.
        var profileOf: UserID?
        /// Asks for the rank, until it is known.
        var counting: Task<Void, Never>?
    }

    private let phone: PhoneEnvironment
    private let stack: TidemarkStack
    private let publisher: ScreenPublisher
    /// Nil where there are none.
    private let pictures: StampPictures?
    private let state = Mutex(State())

    public var screens: AsyncStream<Screen> { publisher.screens }

    public init(_ phone: PhoneEnvironment) throws {
        self.phone = phone
        publisher = ScreenPublisher(StampsModel().screen(now: phone.now()))
        stack = try TidemarkStack(Self.settings(phone.settings))
        pictures = try phone.settings.pictures.map {
            try StampPictures(folder: phone.settings.folder + "/pictures", address: $0)
        }
        let launch = stack.launch(
            StackSettings.Stages(
                showContent: { [weak self] user, _ in await self?.showContent(of: user) },
                // This app has no onboarding: its accounts are made on the web.
                beginSignUp: { _, _, _ in },
                runBackground: { [weak self] in await self?.diagnose() }))
        state.withLock { $0.launch = launch }
        let watching = launch.start { [weak self] in self?.launchChanged($0) }
        state.withLock { $0.tasks.append(watching) }
    }

    static func settings(_ phone: PhoneSettings) -> StackSettings {
        phone.stackSettings { firestore, user in user == nil ? [] : [try feed(firestore)] }
    }

    private static func feed(_ firestore: Firestore) throws -> Feed {
        try Feed(
            FeedDefinition(
                query: firestore.collection(Paths.stamps), itemTime: Paths.created,
                way: .changeTime(Paths.updated, deletedField: Paths.deleted),
                window: Paths.window))
    }

    // MARK: What the launch says

    private func showContent(of user: UserID?) async {
        if let user { watchFeed(of: user) }
        state.withLock { $0.launch }?.contentShown()
    }

    private func launchChanged(_ machine: LaunchMachine) {
        let screen = machine.screen
        change { model in
            model.message = screen.message
            model.actions = screen.actions.compactMap(Self.control)
            // The person has been told that the server does not answer.
            if screen.message != nil { model.giveUpFigures() }
            switch screen.content {
            case .nothing: model.place = .opening
            case .local(.some): model.place = .stamps
            case .local(nil), .signIn, .onboarding: model.place = .signIn
            }
        }
        if case .local(let user?) = screen.content { watchFeed(of: user) }
        // Before the session is known, calls would go without a token.
        switch machine.state {
        case .signedIn(let user), .profileReady(let user): watchProfile(of: user)
        case .live(let user):
            watchProfile(of: user)
            countRank(of: user)
        default: break
        }
    }

    private static func control(_ action: LaunchAction) -> Control? {
        switch action {
        case .tryAgain: Control("tryAgain", "Try again", .button(isMain: true))
        case .signInAgain: Control("signInAgain", "Sign in again")
        case .resumeOnboarding, .beginSignUp, .goTo, .submit, .giveUp: nil
        }
    }

    private func watchFeed(of user: UserID) {
        let isKnown = state.withLock { state in
            defer { state.user = user }
            return state.user == user
        }
        guard !isKnown, let feed = try? stack.feeds(of: user).first else { return }
        let states = TypedFeed(of: Stamp.self, feed).states
        let watching = Task { [weak self] in for await state in states { self?.show(state) } }
        state.withLock { $0.tasks.append(watching) }
    }

    /// What the device holds, and then each change.
    private func watchProfile(of user: UserID) {
        let profiles = stack.firestore.collection(Paths.users).document(user.text)
            .values(as: Collector.self)
        let isKnown = state.withLock { state in
            if state.profileOf == user { return true }
            state.profileOf = user
            state.tasks.append(
                Task { [weak self] in
                    do { for try await state in profiles { self?.show(state) } } catch { return }
                })
            return false
        }
        if !isKnown { showLastRank(of: user) }
    }

    private func show(_ feed: TypedFeedState<Stamp>) {
        let lines = feed.items.map {
            StampsModel.Line(id: $0.item.document.documentID, stamp: $0.value)
        }
        change { model in
            model.lines = lines
            model.state = Screen.State(feed.phase, hasRows: !lines.isEmpty)
        }
        loadPictures()
    }

    private func loadPictures() {
        let lines = state.withLock { $0.model.lines }
        pictures?.load(lines.prefix(Paths.onScreen)) { [weak self] id in
            self?.change { $0.pictures.insert(id) }
        }
    }

    private func show(_ profile: DocumentState<Collector>) {
        change { model in
            switch profile {
            case .unknown: break
            case .missing: model.profile = .unknown
            case .value(let collector):
                // How old it is, the state line says.
                model.name = collector.name
                model.profile = .known("\(collector.totalStamps)", isFresh: true)
            }
        }
    }

    /// The last rank, from disk: nobody is asked.
    private func showLastRank(of user: UserID) {
        let users = stack.firestore.collection(Paths.users)
        let showing = Task { [weak self] in
            let last = try? await users.rank(of: user.text, by: Paths.total, within: .zero)
            guard let last else { return }
            self?.change {
                if $0.rank == .loading { $0.rank = .known("\(last.position)", isFresh: false) }
            }
        }
        state.withLock { $0.tasks.append(showing) }
    }

    /// The rank is counted by the server, once a launch: when the profile is live, that costs no read more.
    private func countRank(of user: UserID, again: Bool = false) {
        let users = stack.firestore.collection(Paths.users)
        state.withLock { state in
            let isKnown =
                if case .known(_, isFresh: true) = state.model.rank { true } else { false }
            if !again, isKnown || state.counting != nil { return }
            state.counting?.cancel()
            state.counting = Task { [weak self] in
                let rank = try? await users.rank(
                    of: user.text, by: Paths.total, within: Self.patience)
                if Task.isCancelled { return }
                self?.show(rank)
                self?.state.withLock { $0.counting = nil }
            }
        }
    }

    /// - Parameter rank: Nil where the server has not said, and the device holds none.
    private func show(_ rank: Rank?) {
        change { model in
            if let rank {
                model.rank = .known("\(rank.position)", isFresh: rank.isFresh)
            } else if model.rank == .loading {
                model.rank = .unknown
            }
        }
    }

    private func diagnose() async {
        let parts = phone.settings.firestore.split(separator: ":")
        guard phone.settings.diagnoses, parts.count == 2, let port = Int(parts[1]) else { return }
        var doctor = Doctor(
            DiagnosisTarget(
                host: String(parts[0]), port: port, usesTLS: false,
                project: phone.settings.project))
        doctor.label = phone.settings.label
        guard let report = try? await doctor.diagnose() else { return }
        change { $0.connection = report.verdict.message }
    }

    /// The picture of a row, for a view; nil until it is there. Never waits.
    public func picture(of row: String) -> TidemarkImages.Picture? {
        let line = state.withLock { $0.model.lines.first { $0.id == row } }
        return line.flatMap { pictures?.picture(of: $0.stamp) }
    }

    private func change(_ body: (inout StampsModel) -> Void) {
        let model = state.withLock { state in
            body(&state.model)
            return state.model
        }
        publisher.show(model.screen(now: phone.now()))
    }

    // MARK: What the person does

    public func tap(_ id: String, _ text: String) async {
        let launch = state.withLock { $0.launch }
        switch id {
        case "tryAgain": launch?.perform(.tryAgain)
        case "signInAgain": launch?.perform(.signInAgain)
        case "signIn":
            let (accounts, user) = (stack.accounts, phone.settings.user)
            Task { [weak self] in
                do throws(AccountError) {
                    _ = try await accounts.signIn(email: user.email, password: user.password)
                } catch {
                    self?.change { $0.state = .failed(reason: error.message, wayOut: "signIn") }
                }
            }
        case "refresh":
            let feed = stack.feeds.first
            Task { _ = try? await feed?.sync() }
            if let user = state.withLock({ $0.user }) { countRank(of: user, again: true) }
        default: break
        }
    }

    public func readPlan() async -> [String] {
        guard let plan = await stack.feeds.first?.plan else { return ["Sign in."] }
        return [
            "Show the newest \(Paths.window) stamps from disk: no reads.",
            "\(plan.reason) At least \(plan.prediction.atLeast) reads.",
            "Look whether the profile has changed: 1 read.",
            "Count the users with more stamps: 1 read for each 1,000.",
        ]
    }

    public func networkMayBeBack() async {
        loadPictures()
        await stack.signal(.networkIsBack)
    }

    public func clockChanged() async { change { _ in } }

    public func close() async {
        let (launch, tasks) = state.withLock { state in
            (state.launch, state.tasks + [state.counting].compactMap(\.self))
        }
        launch?.close()
        for task in tasks { task.cancel() }
        pictures?.close()
        await stack.close()
        publisher.finish()
    }
}
