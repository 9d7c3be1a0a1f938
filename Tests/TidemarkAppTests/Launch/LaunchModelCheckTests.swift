import Testing
import TestSupport

@testable import TidemarkApp

/// Checks every state that a launch can reach.
@Suite(.ownThread) struct `Every launch that can be` {
    private static let a = UserID("a")!
    private static let b = UserID("b")!

    private static let events: [LaunchEvent] = {
        let facts = [
            LocalFacts(), LocalFacts(lastUser: a, completeProfile: a),
            LocalFacts(unfinished: UnfinishedJob(.signUp, user: nil, step: 1)),
            LocalFacts(unfinished: UnfinishedJob(.filling, user: nil, step: 1)),
            LocalFacts(lastUser: a, unfinished: UnfinishedJob(.signUp, user: a, step: 1)),
            LocalFacts(lastUser: a, unfinished: UnfinishedJob(.removal, user: a, step: 0)),
        ]
        var events: [LaunchEvent] = [.start, .localFailed, .contentShown, .unlocked, .timerFired]
        events += facts.map { .localReady($0) }
        events += [.signedIn(a), .signedIn(b), .signedOut, .locked, .failed].map { .session($0) }
        events += [.signedIn(a), .signedIn(b), .signedOut(.asked), .signedOut(.expired)]
            .map { .changed($0) }
        for user in [a, b] {
            events += [.found, .missing, .unavailable].map { .profile($0, of: user) }
        }
        events += [.finished(a), .signedIn(a), .needsPerson(step: 1), .waiting, .removed]
            .map { .job($0) }
        events += [
            .feedsLive, .feedsLost, .network(isAvailable: false), .network(isAvailable: true),
            .diagnosis(.captivePortal),
        ]
        events += [
            .tryAgain, .signInAgain, .resumeOnboarding(step: 1), .beginSignUp, .goTo(step: 1),
            .submit, .giveUp,
        ].map { .person($0) }
        return events
    }()

    /// An event of a launch, and the effects that it causes.
    private struct Step {
        let event: LaunchEvent
        let effects: [LaunchEffect]
    }

    private static func isPersons(_ event: LaunchEvent) -> Bool {
        switch event {
        case .person, .unlocked, .changed(.signedIn), .changed(.signedOut(.asked)): true
        default: false
        }
    }

    /// Returns each kind of fault that launches from `start` have, and a summary of the graph.
    private func check(_ start: LaunchMachine) throws -> (wrong: Set<String>, summary: String) {
        let graph = try #require(
            Graph<LaunchMachine, Step>(from: [start]) { node in
                Self.events.map { event in
                    var next = node
                    let effects = next.step(event)
                    return (Step(event: event, effects: effects), next)
                }
            }, "the graph does not close")
        var wrong = Set<String>()
        for node in graph.nodes { wrong.formUnion(faults(of: node)) }
        for edge in graph.edges {
            wrong.formUnion(faults(of: edge.event, graph.nodes[edge.from], graph.nodes[edge.to]))
        }
        let circle = graph.circle(along: { !Self.isPersons($0.event.event) }) { edge in
            graph.nodes[edge.from].state != graph.nodes[edge.to].state
                || !edge.event.effects.isEmpty
        }
        if circle != nil { wrong.insert("goes in a circle without the person") }
        let home = graph.stranded(from: { if case .live = $0.state { true } else { false } })
        if !home.isEmpty { wrong.insert("cannot come to live data any more") }
        return (
            wrong,
            "\(graph.nodes.count) states, \(graph.edges.count) edges, closed at depth \(graph.depth)"
        )
    }

    private func faults(of node: LaunchMachine) -> [String] {
        var faults: [String] = []
        let isResting =
            switch node.state {
            case .signedOut, .profileMissing, .onboarding, .live: true
            case .cold: !node.hasStarted
            default: false
            }
        if !isResting, node.problem == nil, !node.isTimerRunning {
            faults.append("waits without a timer")
        }
        if isResting, node.isTimerRunning { faults.append("has a timer and waits for nothing") }
        // The launch shows a usable screen after its timer fires.
        var later = node
        if node.isTimerRunning { _ = later.step(.timerFired) }
        if case .localReady = node.state { _ = later.step(.timerFired) }
        if node.hasStarted, !later.screen.isUsable { faults.append("is not usable in time") }
        if later.problem != nil {
            let leads = later.screen.actions.contains { action in
                var next = later
                return !next.step(.person(action)).isEmpty || next != later
            }
            if !leads { faults.append("has no action that does something") }
        }
        if node.problem?.message.isEmpty == true { faults.append("has nothing to say") }
        return faults
    }

    private func faults(
        of step: Step, _ from: LaunchMachine, _ to: LaunchMachine
    ) -> [String] {
        var faults: [String] = []
        if case .changed = step.event, from.isHolding, from.state != to.state {
            faults.append("a sign-in event changes the onboarding")
        }
        let isBeforeContent =
            switch (from.state, step.event) {
            case (.cold, _): true
            case (.localReady, .contentShown), (.localReady, .timerFired): false
            case (.localReady, _): true
            default: false
            }
        for effect in step.effects {
            switch effect {
            case .startBackground, .openFeeds, .loadProfile:
                if isBeforeContent {
                    faults.append("a later stage begins before the first content")
                }
            case .endSession:
                if !Self.isPersons(step.event) { faults.append("ends a session by itself") }
            default: break
            }
        }
        var isRunning = from.isTimerRunning && step.event != .timerFired
        for effect in step.effects {
            if case .startTimer = effect {
                if isRunning { faults.append("has two timers") }
                isRunning = true
            } else if effect == .cancelTimer {
                isRunning = false
            }
        }
        if isRunning != to.isTimerRunning { faults.append("loses a timer") }
        return faults
    }

    @Test func `comes to a screen in time, never goes in a circle, and has a way on`() throws {
        let (wrong, summary) = try check(LaunchMachine(maxHeld: 2))
        print("launch machine: \(summary)")
        #expect(wrong.isEmpty)
    }

    #if TIDEMARK_DEFECTS
        @Test(arguments: [
            (LaunchDefects.waitsForProfileForEver, "waits without a timer"),
            (.appliesSignInsDuringOnboarding, "a sign-in event changes the onboarding"),
            (.signedInWithoutUser, "waits without a timer"),
            (.diagnosesBeforeContent, "a later stage begins before the first content"),
            (.asksAgainByItself, "goes in a circle without the person"),
            (.takesLockedForSignedOut, "ends a session by itself"),
        ])
        func `is found out when it does what the old app did`(
            defect: LaunchDefects, fault: String
        ) throws {
            var machine = LaunchMachine(maxHeld: 1)
            machine.defects = defect
            #expect(try check(machine).wrong.contains(fault))
        }
    #endif
}
