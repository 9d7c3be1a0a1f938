import ExampleKit
import Foundation
import Testing
import TidemarkPhones

@testable import TidemarkShow

struct ShowMachineTests {
    private static let app = ShowState.App(
        name: "x", title: "X", problem: "p", promise: "q",
        acts: [ShowState.Named(id: "collect", title: "Collect")])
    private static let script = [
        StoryScene("Both are opened.", [.launch], seconds: 5, until: .content),
        StoryScene(
            "Killed, no network.", [.kill, .airplane(true), .launch, .tap("go", text: "a")],
            seconds: 3),
    ]
    private static let content = Screen(
        "X", .fresh, sections: [Screen.Section(nil, [Row("a", "A")])],
        controls: [Control("go", "Go")])

    /// Returns a machine on a day that has begun, with both phones running.
    private func running() -> ShowMachine {
        var machine = ShowMachine(ShowState(app: Self.app, apps: []), Self.script)
        let effects = machine.step(.prepared)
        #expect(effects == [.launch(.before, launch: 1), .launch(.after, launch: 1)])
        return machine
    }

    private func show(
        _ machine: inout ShowMachine, _ side: PhoneSide, _ milliseconds: Double = 10
    ) -> [ShowEffect] {
        let launch = machine.state[side].launches
        return machine.step(.news(side, launch: launch, .screen(Self.content, milliseconds)))
    }

    @Test func `the first content counts from each launch`() {
        var machine = running()
        let empty = Screen(
            "X", .loading, sections: [Screen.Section(nil, [Row("s", "", kind: .skeleton)])])
        _ = machine.step(.news(.after, launch: 1, .screen(empty, 3)))
        #expect(machine.state[.after].firstContent == [nil])
        _ = show(&machine, .after, 12)
        _ = show(&machine, .after, 900)
        #expect(machine.state[.after].firstContent == [12])
        #expect(machine.state[.after].blank == 0)
        // The other phone may still show content, so its launch does not yet count as empty.
        #expect(machine.state[.before].blank == 0)
        _ = machine.step(.ordered(.kill(.before)))
        #expect(machine.state[.before].blank == 1)
        #expect(machine.state[.before].slowest == nil)
    }

    /// The server confirms a screen a moment after its comparison. This once removed the
    /// comparison, and the button seemed to do nothing.
    @Test func `a comparison stays while the screen shows the same documents`() {
        var machine = running()
        func content(_ state: Screen.State, _ rows: String...) -> Screen {
            Screen(
                "X", state,
                sections: [
                    Screen.Section(nil, rows.map { Row($0, "A").with { $0.isDocument = true } })
                ])
        }
        let found = PhoneState.Comparison(count: 1, missing: 0, extra: 0)
        _ = machine.step(.news(.after, launch: 1, .screen(content(.loading, "a"), 5)))
        _ = machine.step(.compared(.after, found))
        _ = machine.step(.news(.after, launch: 1, .screen(content(.fresh, "a"), 6)))
        #expect(machine.state[.after].comparison == found)
        _ = machine.step(.news(.after, launch: 1, .screen(content(.fresh, "a", "b"), 7)))
        #expect(machine.state[.after].comparison == nil)
    }

    @Test func `a killed phone is dead, and what its process said late is not heard`() {
        var machine = running()
        #expect(machine.step(.ordered(.kill(.before))) == [.kill(.before)])
        #expect(machine.state[.before].life == .dead("Killed: kill -9."))
        #expect(show(&machine, .before).isEmpty)
        #expect(machine.state[.before].screen == nil)
        #expect(machine.step(.ended(.before, launch: 1, "late")).isEmpty)
        #expect(machine.state[.before].life == .dead("Killed: kill -9."))
        #expect(machine.step(.ordered(.launch(.before))) == [.launch(.before, launch: 2)])
        _ = machine.step(.news(.before, launch: 1, .screen(Self.content, 5)))
        #expect(machine.state[.before].screen == nil, "it was the killed process's")
        _ = machine.step(.ended(.before, launch: 2, "crashed"))
        #expect(machine.state[.before].life == .dead("crashed"))
    }

    @Test func `only what is on the screen can be tapped`() {
        var machine = running()
        #expect(machine.step(.ordered(.tap(.after, "go", ""))).isEmpty)
        _ = show(&machine, .after)
        #expect(machine.step(.ordered(.tap(.after, "gone", ""))).isEmpty)
        #expect(
            machine.step(.ordered(.tap(.after, "go", "hi")))
                == [.notify(.after, .tap(id: "go", text: "hi"))])
    }

    /// A story taps what an earlier tap of its scene brings to the screen.
    @Test func `a tap of a story waits for the screen that shows it`() {
        var app = Self.app
        app.photoControl = "photo"
        var machine = ShowMachine(ShowState(app: app, apps: []), [])
        machine.change(
            to: app,
            [
                StoryScene("Opened.", [.launch], seconds: 5),
                StoryScene("Sent.", [.tap("go"), .tap("photo")], seconds: 5, until: .content),
                StoryScene("Killed.", [.tap("photo"), .kill, .launch], seconds: 5),
            ])
        _ = machine.step(.ordered(.play(on: .healthy)))
        _ = machine.step(.prepared)
        _ = show(&machine, .before)
        _ = show(&machine, .after)
        let taps = machine.step(.sceneOver(0)).filter {
            if case .notify = $0 { true } else { false }
        }
        #expect(
            taps == [
                .notify(.before, .tap(id: "go", text: "")),
                .notify(.after, .tap(id: "go", text: "")),
            ])
        #expect(machine.step(.sceneRead(1)).isEmpty, "the photo is not sent yet")
        var next = Self.content
        next.controls = [Control("photo", "Photo")]
        #expect(
            machine.step(.news(.after, launch: 1, .screen(next, 20)))
                == [.notify(.after, .tap(id: "photo", text: ""))])
        #expect(machine.state[.after].chosenPhotos == 1)
        #expect(machine.state[.before].chosenPhotos == nil)
        #expect(machine.state[.after].missingPhotos == 1)
        _ = machine.step(
            .arrived(.after, OtherPhone.View(Screen("Grace", .fresh), photos: 1)))
        #expect(machine.state[.after].missingPhotos == 0)
        // The scene of a tap ends, and with it the tap.
        #expect(machine.step(.sceneOver(1)).contains(.kill(.before)))
        #expect(machine.step(.news(.before, launch: 2, .screen(next, 20))).isEmpty)
    }

    @Test func `a scene lasts until nothing waits to be sent`() {
        var machine = running()
        _ = machine.step(.ordered(.play(on: .healthy)))
        machine.change(
            to: Self.app,
            [
                StoryScene("Sent.", [.launch], seconds: 5, until: .sent),
                StoryScene("Over.", [.kill], seconds: 5),
            ])
        _ = machine.step(.prepared)
        var waiting = Self.content
        waiting.sections[0].rows[0].isPending = true
        _ = show(&machine, .before)
        _ = machine.step(.news(.after, launch: 1, .screen(waiting, 5)))
        #expect(machine.step(.sceneRead(0)).isEmpty)
        #expect(show(&machine, .after).contains(.kill(.after)))
    }

    @Test func `phones hear of a network that is back, and of no other`() {
        var machine = running()
        #expect(
            machine.step(.ordered(.airplane)) == [.network(.healthy, isAirplane: true)])
        #expect(
            machine.step(.ordered(.network(.blackhole))) == [.network(.blackhole, isAirplane: true)]
        )
        #expect(
            machine.step(.ordered(.airplane)) == [.network(.blackhole, isAirplane: false)])
        #expect(
            machine.step(.ordered(.network(.threeG))) == [
                .network(.threeG, isAirplane: false), .notify(.before, .networkIsBack),
                .notify(.after, .networkIsBack),
            ])
        #expect(machine.step(.ordered(.network(.threeG))).isEmpty)
    }

    @Test func `a story goes on when both have seen, at the earliest when its caption was read`() {
        var machine = running()
        #expect(machine.step(.ordered(.play(on: .healthy))) == [.prepare("x")])
        machine.change(to: Self.app, Self.script)
        #expect(
            machine.step(.prepared) == [
                .launch(.before, launch: 1), .launch(.after, launch: 1), .startScene(0, seconds: 5),
            ])
        #expect(show(&machine, .before).isEmpty)
        #expect(show(&machine, .after).isEmpty, "the caption has not been read")
        let second = machine.step(.sceneRead(0))
        #expect(
            second == [
                .kill(.before), .kill(.after), .network(.healthy, isAirplane: true),
                .launch(.before, launch: 2), .launch(.after, launch: 2), .startScene(1, seconds: 3),
            ])
        // The machine ignores the timer of the previous scene.
        #expect(machine.step(.sceneOver(0)).isEmpty)
        #expect(machine.state.story?.isOver == false)
        #expect(machine.step(.sceneOver(1)) == [.compare])
        #expect(machine.state.story?.isOver == true)
        #expect(machine.step(.sceneOver(1)).isEmpty)
        #expect(show(&machine, .after) == [.compare], "what is shown later counts too")
    }

    @Test func `a bad day's good network is a bad one`() {
        var machine = running()
        #expect(machine.step(.ordered(.play(on: .flaky))) == [.prepare("x")])
        machine.change(
            to: Self.app,
            [
                StoryScene("Out.", [.network(.blackhole), .launch], seconds: 5),
                StoryScene("Back.", [.network(.healthy)], seconds: 5),
            ])
        let first = machine.step(.prepared)
        #expect(
            first.prefix(2) == [
                .network(.flaky, isAirplane: false), .network(.blackhole, isAirplane: false),
            ])
        #expect(machine.step(.sceneOver(0)).first == .network(.flaky, isAirplane: false))
        #expect(machine.state.network == .flaky)
    }

    @Test func `a day that has not begun takes no orders but another one`() {
        var machine = ShowMachine(ShowState(app: Self.app, apps: []), Self.script)
        #expect(machine.step(.ordered(.launch(.after))).isEmpty)
        #expect(machine.state.message == "The day has not started yet.")
        #expect(machine.step(.ordered(.app("y"))) == [.prepare("y")])
    }

    @Test func `the clock turns for the server and for the phones that run`() {
        var machine = running()
        _ = machine.step(.ordered(.kill(.before)))
        #expect(
            machine.step(.ordered(.turnClock(3_600)))
                == [.setClock(3_600), .notify(.after, .clock(3_600))])
        #expect(machine.step(.ordered(.secondDevice("none"))).isEmpty)
        #expect(machine.step(.ordered(.secondDevice("collect"))) == [.secondDevice("collect")])
    }
}

struct OrderFormTests {
    @Test func `orders are checked before they are obeyed`() throws {
        #expect(try OrderForm("kill", side: .before).parsed() == .kill(.before))
        #expect(try OrderForm("network", id: "3g").parsed() == .network(.threeG))
        #expect(try OrderForm("play").parsed() == .play(on: .healthy))
        #expect(try OrderForm("play", id: "3g").parsed() == .play(on: .threeG))
        #expect(try OrderForm("others", number: 3).parsed() == .others(3))
        let wrong = [
            OrderForm("kill"), OrderForm("network", id: "5g"),
            OrderForm("play", id: "5g"), OrderForm("others", number: 0.5),
            OrderForm("others", number: 1e30), OrderForm("rate", number: -1), OrderForm("fly"),
            OrderForm("tap", side: .after, id: "x", text: String(repeating: "x", count: 2_001)),
        ]
        for form in wrong { #expect(throws: OrderError.self) { try form.parsed() } }
    }
}
