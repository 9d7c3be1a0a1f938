import Testing
import TidemarkApp

struct `A launch machine` {
    private func user(_ number: Int) -> UserID { UserID("u\(number)")! }

    @Test func `keeps the last sign-ins until it may apply them, and begins the rest once`() {
        var machine = LaunchMachine()
        _ = machine.step(.start)
        let last = LaunchMachine.defaultMaxHeld + 1
        for number in 0...last { _ = machine.step(.changed(.signedIn(user(number)))) }
        #expect(machine.held.count == LaunchMachine.defaultMaxHeld)
        #expect(machine.held.first == .signedIn(user(2)), "the oldest went")
        _ = machine.step(.localReady(LocalFacts()))
        _ = machine.step(.contentShown)
        _ = machine.step(.session(.signedOut))
        #expect(machine.held.isEmpty && machine.user == user(last), "the last one decides")
        #expect(!machine.hasBackground)
        _ = machine.step(.profile(.found, of: user(last)))
        #expect(machine.step(.feedsLive).contains(.startBackground))
        #expect(machine.hasBackground)
        _ = machine.step(.feedsLost)
        #expect(!machine.step(.feedsLive).contains(.startBackground), "it runs already")
    }

    /// Returns a machine whose feeds wait, after these events.
    private func waiting(_ events: LaunchEvent...) -> LaunchMachine {
        var machine = LaunchMachine()
        let ada = user(1)
        let known = LocalFacts(lastUser: ada, completeProfile: ada)
        let before: [LaunchEvent] = [
            .start, .localReady(known), .contentShown, .session(.signedIn(ada)),
        ]
        for event in before + events {
            _ = machine.step(event)
        }
        return machine
    }

    @Test func `says that the user is offline only if there is no network`() {
        #expect(waiting(.timerFired).problem == .noAnswer)
        #expect(waiting(.network(isAvailable: false), .timerFired).problem == .offline)
        #expect(waiting(.timerFired, .network(isAvailable: false)).problem == .offline)
        let back = waiting(
            .network(isAvailable: false), .timerFired, .network(isAvailable: true))
        #expect(back.problem == .noAnswer)
        #expect(
            waiting(.network(isAvailable: false), .network(isAvailable: true), .timerFired).problem
                == .noAnswer)
    }

    @Test func `asks once for the reason, and says it`() {
        var machine = waiting()
        #expect(machine.step(.timerFired).contains(.diagnose))
        for (verdict, problem) in [
            (Verdict.captivePortal, LaunchProblem.unreachable(.captivePortal)),
            (.backendDown, .unreachable(.backendDown)), (.noNetwork, .offline),
            (.healthy, .noAnswer), (.slow, .noAnswer), (.unknown, .noAnswer),
        ] {
            var next = machine
            _ = next.step(.diagnosis(verdict))
            #expect(next.problem == problem)
            #expect(next.screen.actions == [.tryAgain, .signInAgain])
        }
        // A launch that has become live, or that tries again, has no problem.
        _ = machine.step(.feedsLive)
        _ = machine.step(.diagnosis(.captivePortal))
        #expect(machine.problem == nil)
        machine = waiting(.timerFired, .person(.tryAgain), .diagnosis(.captivePortal))
        #expect(machine.problem == nil)
        #expect(machine.step(.timerFired).contains(.diagnose))
        // Without a network, there is no reason to look for.
        machine = waiting(.network(isAvailable: false))
        #expect(!machine.step(.timerFired).contains(.diagnose))
    }

    @Test(arguments: [
        (LaunchProblem.offline, "You're offline."), (.noAnswer, "The server isn't answering."),
        (.unreachable(.captivePortal), "This network wants you to log in first."),
        (.unreachable(.backendDown), "The service isn't running right now."),
    ])
    func `has a sentence for each reason`(problem: LaunchProblem, sentence: String) {
        #expect(problem.message.hasPrefix(sentence))
    }
}
