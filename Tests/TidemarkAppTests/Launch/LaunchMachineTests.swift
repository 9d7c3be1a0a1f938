import Testing
import TidemarkApp

@Suite struct `A launch machine` {
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
}
