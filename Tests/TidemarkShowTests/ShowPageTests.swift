import ExampleKit
import Foundation
import Testing
import TidemarkImages
import TidemarkPhones

@testable import TidemarkShow

struct ShowPageTests {
    private func state(_ screen: Screen?) -> ShowState {
        var state = ShowState(
            app: ShowState.App(name: "x", title: "X", problem: "p", promise: "q"),
            apps: [ShowState.Named(id: "x", title: "X")])
        state.stage = .ready
        state[.after].life = .running
        state[.after].screen = screen
        return state
    }

    private func text(_ state: ShowState) -> String {
        String(decoding: ShowPage.document(state), as: UTF8.self)
    }

    @Test func `what a document holds is shown and never run`() {
        let evil = "<script>alert(1)</script>\"'&"
        var screen = Screen(
            evil, .stale(age: 3, reason: evil),
            sections: [Screen.Section(evil, [Row(evil, evil, detail: evil, badge: evil)])],
            controls: [Control(evil, evil, kind: .field(placeholder: evil, button: evil))])
        screen.sections[0].rows[0].isTappable = true
        let page = text(state(screen))
        #expect(!page.contains("<script>alert"))
        #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;"))
        #expect(page.components(separatedBy: "<script").count == 2, "the page's own module alone")
    }

    @Test(arguments: [
        (Screen.State.loading, "Loading…"), (.fresh, "Up to date"),
        (.stale(age: 7_200, reason: "Offline."), "As of 2 h ago. Offline."),
        (.failed(reason: "It broke.", wayOut: "again"), "It broke."),
        (.empty("Nothing."), "Nothing."),
    ])
    func `each state of a screen is said in words`(state: Screen.State, words: String) {
        #expect(text(self.state(Screen("X", state))).contains(words))
    }

    @Test func `a photo is a part of the page, as is the phone on which it arrives`() throws {
        let size = PictureSize(width: 4, height: 3)
        let photo = Photo(
            TidemarkImages.Picture(size: size, pixels: [UInt8](repeating: 200, count: 48)))
        let row = Row("a", "Look!", kind: .bubble(isOwn: true)).with { $0.photo = photo }
        let screen = Screen("Grace", .fresh, sections: [Screen.Section(nil, [row])])
        var shown = state(screen)
        #expect(text(shown).contains("<img class=\"photo\" src=\"data:image/jpeg;base64,/9j/"))
        #expect(!text(shown).contains("Photos lost"))
        shown.app.photoControl = "photo"
        shown[.after].chosenPhotos = 2
        shown[.after].other = OtherPhone.View(Screen("Grace’s phone", .fresh), photos: 1)
        shown.story = ShowState.Story(scene: 0, count: 1, caption: "c", isOver: true)
        shown[.after].comparison = PhoneState.Comparison(count: 1, missing: 0, extra: 0)
        #expect(text(shown).contains("Nothing has arrived yet."))
        #expect(text(shown).contains("Grace’s phone: On Tidemark"))
        #expect(text(shown).contains("Photos lost"))
        #expect(text(shown).contains("<td class=\"number bad\">1 of 2</td>"))
        let kept = try RecordingPage([Moment(at: 0, state: shown)])
        #expect(String(decoding: kept.html, as: UTF8.self).contains("img-src data:"))
    }

    @Test func `a dead end is named`() {
        let screen = Screen("X", .failed(reason: "Stuck.", wayOut: nil))
        #expect(text(state(screen)).contains("failed: Stuck. No button to continue."))
    }

    @Test func `parts change alone`() {
        let before = state(Screen("X", .fresh))
        var after = before
        after[.after].screen = Screen("Y", .fresh)
        let changed = zip(ShowPage.parts(before), ShowPage.parts(after))
            .filter { $0.html != $1.html }.map(\.0.id)
        #expect(changed == ["phone-after"])
    }

    @Test func `calls at the same time are drawn below each other`() {
        func call(_ id: Int, _ start: Double, _ seconds: Double?) -> PhoneState.Call {
            PhoneState.Call(
                id: id, method: "Listen", asked: "a", start: start, seconds: seconds, reads: 0,
                bytes: 0, outcome: nil)
        }
        let placed = TimelinePart.placed([
            call(1, 0, nil), call(2, 1, 1), call(3, 1.5, 1), call(4, 3, 1),
        ])
        #expect(placed.map(\.row) == [0, 1, 2, 1])
    }

    @Test func `figures are written as a person reads them`() {
        #expect(Words.count(1_234_567) == "1,234,567" && Words.count(999) == "999")
        #expect(Words.milliseconds(999) == "999 ms" && Words.milliseconds(18_600) == "18.6 s")
        #expect(Words.dollars(5_400) == "$5,400" && Words.dollars(0) == "$0.00")
        var state = state(nil)
        // The figures are from Journeys 2: 1,000 users make 50,000 reads a day each, at $0.36 for
        // 100,000.
        state[.before].reads = 50_000
        state.users = 1_000
        #expect(state.monthlyDollars(.before, price: ShowPage.price) == 5_400)
    }

    @Test func `a recording is played back as it was, and takes no orders`() async throws {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("show-\(UUID().uuidString).jsonl").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let recorder = try Recorder(path)
        let states = ["A", "B", "C"].map { state(Screen($0, .fresh)) }
        for state in states { recorder.write(state) }
        recorder.close()
        // The recording ends in the middle of its last line, as after a kill.
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        try data.dropLast(10).write(to: URL(fileURLWithPath: path))
        let playback = try Playback(path)
        #expect(playback.moments.map { $0.state[.after].screen?.title } == ["A", "B"])
        #expect(playback.moments.allSatisfy { $0.state.isRecording })
        #expect(throws: OrderError.self) { try playback.order(.play(on: .healthy)) }
        #expect(throws: OrderError.self) { try Playback("/dev/null") }
    }
}
