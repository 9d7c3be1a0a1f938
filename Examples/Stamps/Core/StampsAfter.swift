public import ExampleKit
import Foundation
import Synchronization
import Tidemark
import TidemarkApp

/// The app on Tidemark: what the device holds is on the screen before anybody is asked, and everything
/// else comes when it comes.
public final class StampsAfter: PhoneApp {
    private struct State {
        var model = StampsModel()
        var launch: Launch?
        /// Whose feed is being watched.
        var user: UserID?
        var tasks: [Task<Void, Never>] = []
        /// Asks for the rank; the newest one alone.
        var figures: Task<Void, Never>?
    }

    private let phone: PhoneEnvironment
    private let stack: TidemarkStack
    private let publisher: ScreenPublisher
    private let state = Mutex(State())

    public var screens: AsyncStream<Screen> { publisher.screens }

    public init(_ phone: PhoneEnvironment) throws {
        self.phone = phone
        publisher = ScreenPublisher(StampsModel().screen(now: phone.now()))
        stack = try TidemarkStack(Self.settings(phone.settings))
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
            switch screen.content {
            case .nothing: model.place = .opening
            case .local(.some): model.place = .stamps
            case .local(nil), .signIn, .onboarding: model.place = .signIn
            }
        }
        if case .local(let user?) = screen.content { watchFeed(of: user) }
        if case .live(let user) = machine.state { readFigures(of: user) }
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
        let watching = Task { [weak self] in
            for await state in states { self?.show(state) }
        }
        state.withLock { $0.tasks.append(watching) }
        readFigures(of: user)
    }

    private func show(_ feed: TypedFeedState<Stamp>) {
        change { model in
            model.lines = feed.items.map {
                StampsModel.Line(id: $0.item.document.documentID, stamp: $0.value)
            }
            model.state = Screen.State(feed.phase, hasRows: !model.lines.isEmpty)
        }
    }

    /// The rank is counted by the server. The last one is shown after a second without an answer; where
    /// there is none, the row says so and is filled when the count arrives.
    private func readFigures(of user: UserID) {
        let users = stack.firestore.collection(Paths.users)
        let reading = Task { [weak self] in
            for patience in [Duration.seconds(1), .seconds(60)] {
                let rank = try? await users.rank(of: user.text, by: Paths.total, within: patience)
                if Task.isCancelled { return }
                self?.show(rank)
                if rank != nil { return }
            }
        }
        state.withLock { state in
            state.figures?.cancel()
            state.figures = reading
        }
    }

    private func show(_ rank: Rank?) {
        change { model in
            if let rank {
                model.rank = .known("\(rank.position)", isFresh: rank.isFresh)
                model.profile = .known("\(Int(rank.value))", isFresh: rank.isFresh)
            } else if model.rank == .loading {
                (model.rank, model.profile) = (.unknown, .unknown)
            }
        }
    }

    private func diagnose() async {
        let parts = phone.settings.firestore.split(separator: ":")
        guard parts.count == 2, let port = Int(parts[1]) else { return }
        var doctor = Doctor(
            DiagnosisTarget(
                host: String(parts[0]), port: port, usesTLS: false,
                project: phone.settings.project))
        doctor.label = phone.settings.label
        guard let report = try? await doctor.diagnose() else { return }
        change { $0.connection = report.verdict.message }
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
            if let user = state.withLock({ $0.user }) { readFigures(of: user) }
        default: break
        }
    }

    public func readPlan() async -> [String] {
        guard let plan = await stack.feeds.first?.plan else { return ["Sign in."] }
        return [
            "Show the newest \(Paths.window) stamps from disk: no reads.",
            "\(plan.reason) At least \(plan.prediction.atLeast) reads.",
            "Count the users with more stamps: 1 read for each 1,000.",
        ]
    }

    public func networkMayBeBack() async { await stack.signal(.networkIsBack) }

    public func clockChanged() async { change { _ in } }

    public func close() async {
        let (launch, tasks) = state.withLock { state in
            (state.launch, state.tasks + [state.figures].compactMap(\.self))
        }
        launch?.close()
        for task in tasks { task.cancel() }
        await stack.close()
        publisher.finish()
    }
}
