import ExampleKit
import Testing
import TidemarkPhones

@testable import TidemarkDemo

struct `A person who signs up` {
    private func asking(_ control: String) -> Screen {
        Screen("Homes", .quiet, controls: [Control(control, control)])
    }

    private let home = Screen(
        "Homes", .quiet,
        sections: [
            Screen.Section(nil, [Row("home", "Home")]),
            Screen.Section(nil, [Row("m1", "Bo").with { $0.isDocument = true }]),
        ])

    private func tapped(_ next: PhoneUse.Next) -> String? {
        if case .tap(let id, _) = next { id } else { nil }
    }

    private func isKill(_ next: PhoneUse.Next) -> Bool {
        if case .kill = next { true } else { false }
    }

    @Test func `fills in what is asked, each once`() {
        var person = SignUpPerson(name: "Ada", killAt: 0)
        #expect(tapped(person.next(Screen("Homes"))) == nil)
        for control in ["begin", "name", "home"] {
            #expect(tapped(person.next(asking(control))) == control)
            #expect(tapped(person.next(asking(control))) == nil)
        }
        #expect(tapped(person.next(home)) == nil)
    }

    @Test(arguments: [(1, "name"), (2, "home")])
    func `is interrupted at a step`(step: Int, control: String) {
        var person = SignUpPerson(name: "Ada", killAt: step)
        #expect(tapped(person.next(asking("begin"))) == "begin")
        if step == 2 { #expect(tapped(person.next(asking("name"))) == "name") }
        #expect(isKill(person.next(asking(control))))
    }

    @Test func `is interrupted at home, whatever is there`() {
        var person = SignUpPerson(name: "Ada", killAt: 3)
        #expect(tapped(person.next(asking("home"))) == "home")
        #expect(isKill(person.next(home)))
    }

    @Test func `is stuck before a screen that only waits, and not before one with a way out`() {
        var run = SignUpRun()
        run.note(Screen("Setting up your home"))
        run.note(Screen("Homes", .failed(reason: "No.", wayOut: nil)))
        #expect(!run.isUsable && !run.isLive)
        run.note(Screen("Homes", .failed(reason: "No.", wayOut: "begin")))
        #expect(run.isUsable && !run.isLive)
        run.note(home)
        #expect(run.isLive)
        #expect(run.screens == ["Setting up your home", "Homes: No.", "Homes"])
    }
}

struct `What a sign-up comes to` {
    private func wrongs(
        killed: Int, on network: LaunchNetwork, orphans: Int = 0, finished: Int = 14
    ) -> [String] {
        SignUpFigures(
            devices: 14, killed: killed, accounts: 14, accountsWithoutProfile: orphans,
            profilesWithoutAccount: 0, secondAccounts: 0, deadEnds: 0, finished: finished
        ).wrongs(on: network)
    }

    @Test func `is wrong where fewer steps were killed than the network lets it reach`() {
        for network in LaunchNetwork.allCases {
            let steps = network.reachableSteps
            #expect(wrongs(killed: steps, on: network) == [])
            #expect(
                wrongs(killed: steps - 1, on: network)
                    == ["killed at \(steps - 1) steps, not \(steps)"])
        }
        #expect(LaunchNetwork.healthy.reachableSteps == SignUpDevice.steps(of: .after))
    }

    @Test func `is wrong with an account that is half made, or a device that never lives`() {
        #expect(
            wrongs(killed: 14, on: .threeG, orphans: 2, finished: 13)
                == ["2 accounts without a profile", "1 devices not live in the end"])
    }
}
