import Foundation
import Testing
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

/// Plays `Specs/pager` on the real engine and the real server, in process and on virtual time.
@Suite(.timeLimit(.minutes(2))) struct `Scripts of pagers` {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Specs/pager")

    static let files: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".json") }.sorted()
    }()

    /// The hazards in the table of delta-sync, without those of marks.
    @Test(arguments: [
        "equal-times", "in-flight-commit", "an-edit-while-away", "a-late-arrival",
        "a-delete-in-the-middle", "a-delete-while-away", "left-the-filter",
        "left-the-filter-of-pages-from-disk", "writer-without-the-field", "device-clock-turned",
        "more-arrive-than-the-head-holds", "an-error-leaves-it-ready",
    ])
    func `are there for each hazard`(name: String) {
        #expect(Self.files.contains(name + ".json"))
    }

    @Test(arguments: files)
    func `show and read what they say`(file: String) async throws {
        let data = try Data(contentsOf: Self.folder.appendingPathComponent(file))
        let script = try JSONDecoder().decode(PagerScript.self, from: data)
        #expect(script.name + ".json" == file)
        let player = try await PagerPlayer(script)
        for (number, step) in script.steps.enumerated() {
            try await player.perform(step, "\(file), step \(number + 1)")
        }
        await player.end()
    }

    @Test func `refuse words that they do not know`() {
        let text = """
            {"name": "x", "hazard": "y", "pageSize": 3, "pages": "never", "items": 1,
             "steps": [{"opne": true}]}
            """
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(PagerScript.self, from: Data(text.utf8))
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(
                PagerScript.self,
                from: Data(
                    text.replacing("opne", with: "open").replacing("items", with: "itmes").utf8))
        }
    }
}

/// Plays a script with a server, the author of a conversation, and a device.
private final class PagerPlayer {
    private let script: PagerScript
    private let local: LocalFirestore
    private let author: CollectionReference
    private let folder: String
    private let clock: TurnedClock
    private var device: Firestore
    private var pager: Pager?
    private var readsBefore = 0

    private static let start = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)

    init(_ script: PagerScript) async throws {
        self.script = script
        local = try LocalFirestore.start(now: Self.start)
        author = try local.firestore(label: "author").collection("rooms/blue/messages")
        folder =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-\(UUID().uuidString)").path
        clock = try TurnedClock(local)
        device = try clock.firestore(label: "device", cache: .directory(folder))
        for number in stride(from: 1, through: script.items, by: 1) {
            try await write(
                "m\(number)", ["sentAt": time(number), "text": "m\(number)", "room": "blue"])
        }
        local.advance(by: .seconds(1_000))
    }

    func end() async {
        pager?.close()
        await local.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func time(_ seconds: Int) -> Timestamp {
        Self.start.advanced(by: .seconds(seconds - 10_000))
    }

    private func write(
        _ id: String, _ fields: [String: any Sendable], isMarked: Bool = true
    ) async throws {
        var fields = fields
        if isMarked { fields["updatedAt"] = FieldValue.serverTimestamp() }
        try await author.document(id).setData(fields, merge: true)
    }

    func perform(_ step: PagerScript.Step, _ place: String) async throws {
        switch step {
        case .open:
            let messages = device.collection("rooms/blue/messages")
            pager = try Pager(
                script.isFiltered ? messages.whereField("room", isEqualTo: "blue") : messages,
                orderedBy: "sentAt", pageSize: script.pageSize,
                pagesFromDisk: script.pages.value)
            pager?.start()
        case .close:
            pager?.close()
            pager = nil
        case .relaunch:
            pager?.close()
            pager = nil
            await device.terminate()
            device = try clock.firestore(label: "device", cache: .directory(folder))
        case .refresh: try await pager?.refresh()
        case .offline: await device.disableNetwork()
        case .online: await device.enableNetwork()
        case .loadMore(let count):
            // Runs on the main actor like the pager's listeners, so no page arrives between the
            // calls.
            let pager = pager
            await MainActor.run { for _ in 0..<count { pager?.loadMore() } }
        case .advance(let seconds): local.advance(by: .seconds(seconds))
        case .clock(let seconds): clock.turn(ahead: .seconds(seconds))
        case .insert(let id, let seconds, let isMarked):
            try await write(
                id, ["sentAt": time(seconds), "text": id, "room": "blue"], isMarked: isMarked)
        case .edit(let id, let changed):
            var fields: [String: any Sendable] = ["text": id + "*"]
            if changed > 0 { fields["updatedAt"] = local.now.advanced(by: .seconds(-changed)) }
            try await write(id, fields, isMarked: changed == 0)
        case .leave(let id): try await write(id, ["room": "red"])
        case .mark(let id):
            try await write(id, ["deletedAt": FieldValue.serverTimestamp()])
        case .delete(let id): try await author.document(id).delete()
        case .move(let id, let seconds): try await write(id, ["sentAt": time(seconds)])
        case .show(let shown): try await check(shown, place)
        }
    }

    private func check(_ shown: PagerScript.Shown, _ place: String) async throws {
        guard let pager else { throw NotOpen() }
        var last: PagerState?
        for await state in pager.states {
            last = state
            if isRight(state, shown) { break }
        }
        // The loop ends without the right state only at the time limit.
        guard let last, isRight(last, shown) else {
            Issue.record(
                """
                \(place) shows \(last?.items.map { $0["text"] as? String ?? "" } ?? []), hasMore \
                \(last?.hasMore ?? false), loading \(last?.isLoadingMore ?? false), error \
                \(last?.error as Any)
                """)
            throw NotShown()
        }
        let reads = local.meter().first { $0.label == "device" }?.reads ?? 0
        if let expected = shown.reads { #expect(reads - readsBefore == expected, "\(place)") }
        readsBefore = reads
    }

    private func isRight(_ state: PagerState, _ shown: PagerScript.Shown) -> Bool {
        state.items.map { $0["text"] as? String ?? "" } == shown.ids
            && shown.hasMore ?? state.hasMore == state.hasMore
            && shown.failed ?? false == (state.error != nil)
            && (!state.isLoadingMore || state.isFromCache)
            && !(shown.isFresh && state.isFromCache)
    }

    private struct NotShown: Error {}
    private struct NotOpen: Error {}
}

extension PagerScript.Pages {
    fileprivate var value: PagesFromDisk {
        switch self {
        case .never: .never
        case .youngerThanAnHour: .youngerThan(.seconds(3_600))
        case .keptRight: .keptRight(changeTime: "updatedAt", deletedField: "deletedAt")
        }
    }
}
