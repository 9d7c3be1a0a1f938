import ExampleKit
import Foundation
import TidemarkPhones
import Testing

@testable import TidemarkShow

/// Tests the page that plays a recording without a server.
struct `The page of a recording` {
    private static let stamps = ShowState.App(
        name: "stamps", title: "Stamps", problem: "Slow.", promise: "Fast.")

    private func state(_ change: (inout ShowState) -> Void = { _ in }) -> ShowState {
        var state = ShowState(app: Self.stamps, apps: [ShowState.Named(id: "stamps", title: "S")])
        state.stage = .ready
        change(&state)
        return state
    }

    /// Returns the data that the script of a page reads.
    private func contents(of html: String) throws -> RecordingPage.Contents {
        let start = try #require(
            html.range(of: #"<script type="application/json" id="recording">"#))
        let end = try #require(
            html.range(of: "</script>", range: start.upperBound..<html.endIndex))
        return try JSONDecoder().decode(
            RecordingPage.Contents.self, from: Data(html[start.upperBound..<end.lowerBound].utf8))
    }

    @Test func `starts when the phones are ready, and stores each text once`() throws {
        var preparing = state()
        preparing.stage = .preparing("x")
        let quiet = state()
        let later = state { $0.written = 3 }
        let page = try RecordingPage([
            Moment(at: 0, state: preparing), Moment(at: 5, state: quiet),
            Moment(at: 6, state: later), Moment(at: 7, state: quiet),
            Moment(at: 8, state: quiet),
        ])
        let contents = page.contents
        #expect(contents.frames.map(\.at) == [0, 1, 2])
        #expect(contents.frames[0].parts.count == 6)
        #expect(contents.frames[1].parts.keys.sorted() == ["world"])
        #expect(contents.frames[2].parts["world"] == contents.frames[0].parts["world"])
        #expect(contents.texts.count == 7)
        #expect(contents.last.isRecording)
        #expect(throws: OrderError.self) {
            try RecordingPage([Moment(at: 0, state: preparing)])
        }
    }

    @Test func `shows the last of several changes within the pause`() throws {
        let page = try RecordingPage(
            (0..<20).map { index in
                Moment(at: Double(index) / 20, state: state { $0.written = index })
            })
        #expect(page.contents.frames.count < 10)
        let world = try #require(page.contents.frames.last?.parts["world"])
        #expect(page.contents.texts[world].contains("19"))
    }

    @Test func `has no text that ends its script, and loads nothing`() throws {
        let page = try RecordingPage([
            Moment(at: 0, state: state { $0.message = "</script><script>alert(1)" })
        ])
        let html = String(decoding: page.html, as: UTF8.self)
        #expect(html.components(separatedBy: "</script>").count == 3)
        #expect(!html.contains("<script>alert"))
        #expect(!html.contains("src=") && !html.contains("/assets/"))
        #expect(try contents(of: html) == page.contents)
    }

    /// The page that README links to. The figures of the page must match the story that it shows.
    @Test func `in the repository ends with the figures of its story`() throws {
        let root = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let html = try String(
            contentsOf: root.appending(path: "Documentation/Show.html"), encoding: .utf8)
        #expect(html.utf8.count < 4_000_000)
        let contents = try contents(of: html)
        let last = contents.last
        #expect(last.story?.isOver == true, "make show-page records a whole story")

        var shown: [String: Int] = [:]
        for frame in contents.frames { shown.merge(frame.parts) { $1 } }
        let story = contents.texts[try #require(shown["story"])]
        for side in PhoneSide.allCases {
            let phone = last[side]
            let comparison = try #require(phone.comparison)
            let row = try #require(
                story.components(separatedBy: "<tr>").first { $0.contains(side.title) })
            for figure in [
                Words.count(phone.reads), phone.slowest.map(Words.milliseconds) ?? "never",
                "\(phone.blank) of \(phone.launches)",
                "\(comparison.missing) of \(comparison.count)",
            ] { #expect(row.contains(">\(figure)<"), "\(side): \(figure) in \(row)") }
        }
        let (before, after) = (last[.before], last[.after])
        #expect(after.comparison?.missing == 0 && after.comparison?.extra == 0)
        #expect(after.blank == 0 && after.reads < before.reads)
        let times = contents.frames.map(\.at)
        #expect(times == times.sorted() && (times.last ?? 0) > 20)
    }
}
