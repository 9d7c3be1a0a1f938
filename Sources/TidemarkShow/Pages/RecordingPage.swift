import ExampleKit
import Foundation
import TidemarkConsole
import TidemarkPhones

/// A recorded show as one HTML file, which any browser plays without a server.
///
/// The page starts when both phones are ready. A change of the page is shown at most every
/// ``RecordingPage/pause`` seconds; a part that returns to an earlier text is stored once.
struct RecordingPage {
    /// The minimum time between two frames, in seconds.
    static let pause = 0.25

    /// What the page's script reads.
    struct Contents: Codable, Equatable {
        /// The HTML of all versions of all parts.
        var texts: [String]
        var frames: [Frame]
        /// The state of the last frame, for a check of the figures.
        var last: ShowState
    }

    struct Frame: Codable, Equatable {
        /// The seconds since the first frame.
        var at: Double
        /// The indexes of the texts of the changed parts, by the id of each part.
        var parts: [String: Int]
    }

    let contents: Contents
    private let first: ShowState

    /// - Throws: A sentence if the show was never ready.
    init(_ moments: [Moment]) throws(OrderError) {
        let shown = moments.drop { $0.state.stage != .ready }
        guard let first = shown.first, let last = shown.last else {
            throw OrderError("The recording ended before both phones were ready.")
        }
        var texts: [String] = []
        var indexes: [String: Int] = [:]
        var current: [String: Int] = [:]
        var frames: [Frame] = []
        for (offset, moment) in shown.enumerated() {
            // Later changes within the pause replace this one.
            let next = offset + 1 < shown.count ? shown[shown.startIndex + offset + 1] : nil
            if let next, let frame = frames.last, next.at - first.at - frame.at < Self.pause {
                continue
            }
            var changed: [String: Int] = [:]
            for part in ShowPage.parts(Self.recorded(moment.state)) {
                let text = part.html.rendered
                let index = indexes[text] ?? texts.count
                if index == texts.count {
                    texts.append(text)
                    indexes[text] = index
                }
                if current[part.id] != index { changed[part.id] = index }
                current[part.id] = index
            }
            if changed.isEmpty { continue }
            let at = ((moment.at - first.at) * 100).rounded() / 100
            frames.append(Frame(at: at, parts: changed))
        }
        contents = Contents(texts: texts, frames: frames, last: Self.recorded(last.state))
        self.first = Self.recorded(first.state)
    }

    /// Returns the state as the page shows it: without the buttons of other apps.
    private static func recorded(_ state: ShowState) -> ShowState {
        var state = state
        state.isRecording = true
        state.apps = []
        return state
    }

    /// The file. It loads nothing from elsewhere.
    var html: [UInt8] {
        var bytes = Array(
            """
            <!DOCTYPE html><html lang="en"><head><meta charset="utf-8">\
            <meta name="viewport" content="width=device-width, initial-scale=1">\
            <meta name="color-scheme" content="light dark">\
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
            style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">\
            <title>A recorded show · Tidemark</title><style>
            """.utf8)
        bytes += PackageResources.show_css
        bytes += Array("</style></head><body>".utf8)
        ShowPage.body(first).render(into: &bytes)
        Self.controls.render(into: &bytes)
        bytes += Array(#"<script type="application/json" id="recording">"#.utf8)
        // A text that contains "</script>" must not end the element.
        bytes += Array(
            String(decoding: JSONLine.encode(contents), as: UTF8.self)
                .replacing("<", with: "\\u003c").utf8)
        bytes += Array("</script><script>".utf8)
        bytes += PackageResources.player_js
        bytes += Array("</script></body></html>\n".utf8)
        return bytes
    }

    private static var controls: HTML {
        Tag.div(.class("player"), .role("group"), .label("Player")) {
            Tag.button(.type(.button), .id("player-play"), .class("main")) { "Play" }
            Tag.input(
                .id("player-place"), .type(.range), .label("Place in the recording"),
                .value("0"))
            Tag.output(.id("player-time")) { "0:00" }
            Tag.button(.type(.button), .id("player-speed")) { "Speed 1×" }
        }
    }
}
