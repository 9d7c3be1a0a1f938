import Synchronization
import Testing
import TestSupport

@testable import TidemarkApp

struct `A launch` {
    private static let user = UserID("ada")!

    /// Records the calls to the parts of a launch, in order, and answers them.
    private final class Script: Sendable {
        private let log = Mutex<[String]>([])
        let (changes, change) = AsyncStream.makeStream(of: SessionChange.self)
        let (news, notify) = AsyncStream.makeStream(of: JobNews.self)

        var asked: [String] { log.withLock { $0 } }
        func note(_ text: String) { log.withLock { $0.append(text) } }

        func parts(
            _ facts: LocalFacts, _ session: SessionReading, profile: ProfileReading = .found,
            feedsAreLive: Bool = true
        ) -> LaunchParts {
            var parts = LaunchParts(changes: changes, news: news)
            parts.openLocal = { [self] in
                note("local"); return facts
            }
            parts.showContent = { [self] user in note("content \(user?.text ?? "nobody")") }
            parts.readSession = { [self] in
                note("session"); return session
            }
            parts.loadProfile = { [self] _ in
                note("profile"); return profile
            }
            parts.setLocalFlag = { [self] _ in note("flag") }
            parts.runFeeds = { [self] _, isLive in
                note("feeds"); isLive(feedsAreLive)
            }
            parts.runBackground = { [self] in note("background") }
            parts.resumeJob = { [self] in note("job") }
            return parts
        }
    }

    /// Long budgets, because a busy machine must not make a stage run out of time.
    private static let patient = {
        var budgets = LaunchMachine.Budgets()
        budgets.localData = .seconds(50)
        budgets.firstContent = .seconds(50)
        budgets.session = .seconds(50)
        budgets.profile = .seconds(50)
        budgets.feeds = .seconds(50)
        return budgets
    }()

    private func states(
        of launch: Launch, until isEnd: (LaunchMachine) -> Bool
    ) async -> LaunchMachine {
        for await machine in launch.machines where isEnd(machine) { return machine }
        return launch.machine
    }

    private func isLive(_ machine: LaunchMachine) -> Bool {
        if case .live = machine.state { true } else { false }
    }

    @Test(.timeLimit(.minutes(2))) func `goes by its stages, and none before the content`()
        async throws
    {
        let script = Script()
        let facts = LocalFacts(lastUser: Self.user, completeProfile: Self.user)
        let launch = Launch(script.parts(facts, .signedIn(Self.user)), budgets: Self.patient)
        launch.start()
        _ = await states(of: launch) { $0.state == .localReady }
        try await until("the content is asked for") { script.asked.contains("content ada") }
        #expect(script.asked == ["local", "content ada"])
        launch.contentShown()
        _ = await states(of: launch, until: isLive)
        try await until("the background work begins") { script.asked.contains("background") }
        #expect(script.asked == ["local", "content ada", "session", "feeds", "background"])
    }

    @Test(.timeLimit(.minutes(2)))
    func `repairs a local flag that was lost, without a word`() async throws {
        let script = Script()
        let launch = Launch(
            script.parts(LocalFacts(), .signedIn(Self.user)), budgets: Self.patient)
        launch.start()
        _ = await states(of: launch) { $0.state == .localReady }
        launch.contentShown()
        _ = await states(of: launch, until: isLive)
        try await until("the flag is asked for") { script.asked.contains("flag") }
        #expect(script.asked.contains("profile"))
    }

    @Test(.timeLimit(.minutes(2)))
    func `goes on with onboarding where the profile is missing`() async throws {
        let script = Script()
        let entered = Mutex<[LaunchMachine.State]>([])
        let launch = Launch(
            script.parts(LocalFacts(), .signedIn(Self.user), profile: .missing),
            budgets: Self.patient
        ) { transition in entered.withLock { $0.append(transition.to) } }
        launch.start()
        _ = await states(of: launch) { $0.state == .localReady }
        launch.contentShown()
        let machine = await states(of: launch) { $0.state == .profileMissing(Self.user, step: 0) }
        #expect(machine.screen.content == .onboarding(step: 0))
        #expect(machine.screen.actions.contains(.resumeOnboarding(step: 0)))
        launch.perform(.goTo(step: 1))
        // The app moves on without the user, and the user's own step arrives too late.
        launch.perform(.resumeOnboarding(step: 0))
        launch.perform(.goTo(step: 2))
        // The launch takes events one after another, possibly on another caller's thread.
        _ = await states(of: launch) { $0.state == .onboarding(Self.user, step: 2) }
        try await until("the second step of the onboarding is shown") {
            entered.withLock { $0.last } == .onboarding(Self.user, step: 2)
        }
        let steps = entered.withLock { $0.suffix(2) }
        #expect(Array(steps) == [1, 2].map { .onboarding(Self.user, step: $0) })
    }

    @Test(.timeLimit(.minutes(2)))
    func `tells the person when a stage takes its whole time`() async {
        let script = Script()
        var parts = script.parts(LocalFacts(), .signedOut)
        parts.readSession = {
            let (never, input) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            input.finish()
            return .failed
        }
        var budgets = Self.patient
        budgets.session = .milliseconds(5)
        let launch = Launch(parts, budgets: budgets)
        launch.start()
        _ = await states(of: launch) { $0.state == .localReady }
        launch.contentShown()
        let machine = await states(of: launch) { $0.problem == .sessionSlow }
        #expect(machine.screen.isUsable && machine.screen.actions.contains(.tryAgain))
    }

    @Test(.timeLimit(.minutes(2)))
    func `keeps sign-in events until a sign-up is over`() async {
        let script = Script()
        let facts = LocalFacts(unfinished: UnfinishedJob(.signUp, user: Self.user, step: 1))
        let launch = Launch(script.parts(facts, .signedIn(Self.user)), budgets: Self.patient)
        launch.start()
        _ = await states(of: launch) { $0.state == .localReady }
        launch.contentShown()
        _ = await states(of: launch) { $0.state == .profilePending(Self.user) }
        let other = UserID("bob")!
        script.change.yield(.signedIn(other))
        let held = await states(of: launch) { !$0.held.isEmpty }
        #expect(held.state == .profilePending(Self.user))
        script.notify.yield(.finished(Self.user))
        let machine = await states(of: launch) { $0.user == other }
        #expect(machine.held.isEmpty)
    }

    @Test(.timeLimit(.minutes(2))) func `times every state`() async throws {
        let script = Script()
        let seen = Mutex<[LaunchMachine.State]>([])
        let facts = LocalFacts(lastUser: Self.user, completeProfile: Self.user)
        let launch = Launch(script.parts(facts, .signedIn(Self.user)), budgets: Self.patient) {
            transition in
            seen.withLock { $0.append(transition.from) }
        }
        launch.start()
        _ = await states(of: launch) { $0.state == .localReady }
        launch.contentShown()
        _ = await states(of: launch, until: isLive)
        // The new state is visible before its transition is reported.
        try await until("four transitions are told") { seen.withLock { $0.count } >= 4 }
        #expect(
            seen.withLock { $0 } == [
                .cold, .localReady, .sessionUnknown, .profileReady(Self.user),
            ])
    }

    @Test(.timeLimit(.minutes(2))) @MainActor
    func `shows a model the first content, and then the rest`() async throws {
        let script = Script()
        let facts = LocalFacts(lastUser: Self.user, completeProfile: Self.user)
        let model = LaunchModel(
            script.parts(facts, .signedIn(Self.user)), budgets: Self.patient
        ) { user in
            "content of \(user?.text ?? "nobody")"
        }
        #expect(model.isSkeleton && model.screen.content == .nothing)
        model.start()
        try await until("the model is live") { model.isLive }
        #expect(model.content == "content of ada" && !model.isSkeleton)
        #expect(model.firstContentAfter != nil)
    }
}
