import Foundation
import Testing

struct `Scripts of feeds` {
    @Test(arguments: FeedSpec.all)
    func play(_ spec: FeedSpec) throws {
        do { try FeedSpecRunner(spec).run() } catch { Issue.record("\(error)") }
    }

    /// Checks that each hazard in the table of delta-sync has a script.
    @Test func `there is one for each hazard`() {
        let hazards = Set(FeedSpec.all.map(\.hazard))
        let wanted: Set = [
            "equal timestamps", "in-flight commit", "edit of an old item", "late arrival",
            "hard delete", "left the filter", "lost permission", "writer without the field",
            "device clock wrong", "two devices clear", "page limit hit mid-window",
            "partial page error",
        ]
        #expect(hazards == wanted)
    }

    @Test func `a key that is not known is refused`() throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString + ".json")
        defer { try? FileManager.default.removeItem(at: url) }
        func spec(_ text: String) throws -> FeedSpec {
            try Data(text.utf8).write(to: url)
            return try FeedSpec(url)
        }
        #expect(throws: FeedSpecError.self) {
            _ = try spec(#"{"hazard": "x", "way": "itemTime", "steps": [], "stops": []}"#)
        }
        for step in [
            #"{"wait": 1, "wiat": 2}"#, #"{"sync": "phone", "read": 1}"#, #"{"wiat": 2}"#,
            #"{"sync": "watch"}"#,
        ] {
            let spec = try spec(#"{"hazard": "x", "way": "itemTime", "steps": [\#(step)]}"#)
            #expect(throws: FeedSpecError.self) { try FeedSpecRunner(spec).run() }
        }
    }
}
