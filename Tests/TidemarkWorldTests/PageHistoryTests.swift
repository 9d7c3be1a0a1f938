import Foundation
import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

/// Random histories of a conversation and of a device that pages the conversation from disk. At the
/// end of each visit, and after changes during the visit, the device must show what a full read
/// shows, down to the last loaded page.
///
/// The histories run one at a time, because hundreds of servers at the same time would exceed the
/// time limit. `TIDEMARK_PAGE_SEEDS=17` plays one seed again, `0..<1000` plays more.
@Suite(.serialized, .timeLimit(.minutes(2))) struct PageHistoryTests {
    @Test(arguments: SeedRange("TIDEMARK_PAGE_SEEDS", 0..<12).all)
    func `pages from disk show what a full read shows, and read no more than is new`(
        seed: UInt64
    ) async throws {
        let world = try await DiskPagesWorld(seed: seed)
        for visit in 0..<6 {
            let violation = try await world.visit()
            #expect(violation == nil, "seed \(seed), visit \(visit)")
            if violation != nil { break }
            try await world.absence()
        }
        await world.end()
    }
}

private final class DiskPagesWorld {
    private static let start = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)
    private let local: LocalFirestore
    private let author: CollectionReference
    private let folder: String
    private var device: Firestore
    private var random: SeededRandom
    private var count = 0
    private var changes = 0
    private let pageSize = 5

    init(seed: UInt64, count: Int = 30) async throws {
        local = try LocalFirestore.start(now: Self.start)
        author = try local.firestore(label: "author").collection("messages")
        folder =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-\(UUID().uuidString)").path
        device = try local.firestore(label: "device", cache: .directory(folder))
        random = SeededRandom(seed: seed)
        for start in stride(from: 0, to: count, by: 400) {
            let batch = author.firestore.batch()
            for _ in start..<min(count, start + 400) {
                batch.setData(fields(age: count - self.count), forDocument: author.document(next()))
            }
            try await batch.commit()
        }
        local.advance(by: .seconds(600))
    }

    func end() async {
        await local.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func next() -> String {
        count += 1
        return "m\(count - 1)"
    }

    private func fields(age: Int) -> [String: any Sendable] {
        [
            // Times are coarse, so some messages have equal times.
            "sentAt": local.now.advanced(by: .zero - .seconds(age / 2)), "text": "\(count)",
            "updatedAt": FieldValue.serverTimestamp(),
        ]
    }

    /// Makes changes as other users while the device shows nothing.
    func absence() async throws {
        try await changeSome(atMost: 13)
        let pause = [1, 400, 7_200].randomElement(using: &random) ?? 1
        local.advance(by: .seconds(pause))
        if Bool.random(using: &random) {
            await device.terminate()
            device = try local.firestore(label: "device", cache: .directory(folder))
        }
    }

    private func changeSome(atMost most: Int) async throws {
        for _ in 0..<Int.random(in: 0...most, using: &random) {
            changes += 1
            let id = "m\(Int.random(in: 0..<count, using: &random))"
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2: try await author.document(next()).setData(fields(age: 0))
            case 3:
                try await author.document(next())
                    .setData(fields(age: Int.random(in: 0..<900, using: &random)))
            case 4: try await change(id, ["text": "edited \(changes)"])
            case 5: try await change(id, ["deletedAt": FieldValue.serverTimestamp()])
            case 6: try await change(id, ["deletedAt": FieldValue.delete()])
            default:
                try await change(
                    id,
                    [
                        "sentAt": local.now.advanced(
                            by: .zero - .seconds(Int.random(in: 0..<900, using: &random)))
                    ])
            }
            local.advance(by: .seconds(Int.random(in: 0..<3, using: &random)))
        }
    }

    private func change(_ id: String, _ fields: [String: any Sendable]) async throws {
        var fields = fields
        fields["updatedAt"] = FieldValue.serverTimestamp()
        try await author.document(id).setData(fields, merge: true)
    }

    private func pager() throws -> Pager {
        try Pager(
            device.collection("messages"), orderedBy: "sentAt", pageSize: pageSize,
            pagesFromDisk: .keptRight(changeTime: "updatedAt", deletedField: "deletedAt"))
    }

    private func truth() async throws -> [String] {
        let all = try await author.order(by: "sentAt", descending: true)
            .order(by: FieldPath.documentID, descending: true).getDocuments(source: .server)
        return all.documents.filter { $0["deletedAt"] == nil }.map(Self.line)
    }

    private static func line(_ document: QueryDocumentSnapshot) -> String {
        "\(document.documentID) \(document["text"] as? String ?? "")"
    }

    /// - Returns: The error, or nil if the visit shows the right items.
    func visit() async throws -> String? {
        let pager = try pager()
        defer { pager.close() }
        for await state in pager.states where !state.isFromCache && !state.isLoadingMore { break }
        try await pager.refresh()
        for _ in 0..<Int.random(in: 0...12, using: &random) where pager.current.hasMore {
            pager.loadMore()
            for await state in pager.states where !state.isLoadingMore { break }
        }
        if let error = pager.current.error { return "\(error)" }
        if let fault = fault(pager.current, try await truth()) { return fault }
        // The same must hold after changes during the visit: the head has a listener, and the pages
        // below are read again.
        let before = pager.current.items.count
        let changesBefore = changes
        try await changeSome(atMost: pageSize - 1)
        try await pager.refresh()
        if let fault = await settled(pager, try await truth()) { return fault }
        let shown = pager.current.items.map(Self.line)
        if shown.count < before - (changes - changesBefore) { return "\(shown.count) of \(before)" }
        // A second visit without changes may read only the head and the overlap of the changes.
        return try await repeated(shown)
    }

    private func fault(_ state: PagerState, _ truth: [String]) -> String? {
        let shown = state.items.map(Self.line)
        if shown != Array(truth.prefix(shown.count)) {
            return "shown \(shown), and there are \(truth)"
        }
        return !state.hasMore && shown.count != truth.count ? "not all are shown" : nil
    }

    /// Returns the last error if the test's time limit ends the wait, or nil when the pager shows
    /// the right items.
    private func settled(_ pager: Pager, _ truth: [String]) async -> String? {
        var last: String?
        for await state in pager.states where !state.isLoadingMore {
            last = fault(state, truth)
            if last == nil { break }
        }
        return last
    }

    private func repeated(_ shown: [String]) async throws -> String? {
        local.advance(by: .seconds(3_600))
        let again = try pager()
        defer { again.close() }
        for await state in again.states where !state.isFromCache && !state.isLoadingMore { break }
        try await again.refresh()
        let before = reads
        while again.current.items.count < shown.count, again.current.hasMore {
            again.loadMore()
            for await state in again.states where !state.isLoadingMore { break }
        }
        let lines = again.current.items.prefix(shown.count).map(Self.line)
        if lines != shown { return "the second time \(lines), the first time \(shown)" }
        // The last page may extend further than the first visit did.
        let bound = again.current.items.count - shown.count + pageSize
        return reads - before > bound ? "\(reads - before) reads of what is held" : nil
    }

    private var reads: Int { local.meter().first { $0.label == "device" }?.reads ?? 0 }
}
