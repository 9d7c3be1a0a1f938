import Foundation
import Testing
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

/// The plan of a feed's next read equals its bill, in reads and in the units of the Enterprise
/// edition.
struct FeedUnitTests {
    private static let indexes = """
        {"indexes": [
          {"collectionGroup": "stamps", "fields": [
            {"fieldPath": "createdAt", "order": "DESCENDING"}]},
          {"collectionGroup": "stamps", "fields": [
            {"fieldPath": "updatedAt", "order": "ASCENDING"}]}]}
        """

    private func start(_ edition: DatabaseEdition) throws -> LocalFirestore {
        var configuration = FirestoreServer.Configuration()
        configuration.editions = DatabaseEditions(edition)
        configuration.indexes = IndexSettings(
            try IndexConfiguration(json: Data(Self.indexes.utf8)))
        return try .start(configuration: configuration)
    }

    private func bill(_ local: LocalFirestore) -> (reads: Int, units: BilledUnits) {
        let row = local.meter().first { $0.label == "app" }
        return (row?.reads ?? 0, row?.units ?? BilledUnits())
    }

    @Test(arguments: DatabaseEdition.allCases)
    func `a plan equals its bill in both editions`(edition: DatabaseEdition) async throws {
        let local = try start(edition)
        let writer = try local.firestore(label: "writer")
        for number in 0..<30 {
            try await writer.document("stamps/s\(10 + number)").setData([
                "createdAt": Date(timeIntervalSince1970: 1_700_000_000 + Double(number)),
                "updatedAt": FieldValue.serverTimestamp(), "name": "Stamp \(number)",
            ])
        }
        let app = try local.firestore(label: "app")
        let feed = try Feed(
            FeedDefinition(
                query: app.collection("stamps"), itemTime: "createdAt",
                way: .changeTime("updatedAt", deletedField: "deletedAt")))
        try await feed.open()
        for round in 0..<2 {
            let plan = await feed.plan
            let (reads, units) = bill(local)
            try await feed.sync()
            let after = bill(local)
            #expect(plan.prediction.allows(after.reads - reads), "round \(round): \(plan)")
            // A document of less than 4 KiB is a unit; an entry has a path, a time and 48 bytes.
            let predicted = plan.units(documentBytes: 200, entryBytes: 83)
            if edition == .enterprise {
                #expect(predicted.allows(after.units - units), "\(plan): \(after.units - units)")
            } else {
                #expect(after.units.isZero)
            }
            guard round == 1 else { continue }
            #expect(plan.prediction.ifUnchanged == after.reads - reads)
            if edition == .enterprise {
                #expect(predicted.ifUnchanged == after.units - units)
                #expect(after.units.read - units.read == 31, "30 documents, and their entries")
            }
        }
        await local.stop()
    }

    // MARK: What a feed expects

    /// Returns a writer's document, which is new or changed.
    private func write(_ numbers: Range<Int>, _ writer: Firestore) async throws {
        for number in numbers {
            try await writer.document("stamps/s\(10 + number)").setData([
                "createdAt": Date(timeIntervalSince1970: 1_700_000_000 + Double(number)),
                "updatedAt": FieldValue.serverTimestamp(), "name": "Stamp \(number)",
            ])
        }
    }

    /// The size of a document, and that of an index entry: a path, a time and 48 bytes.
    private let row = ExpectedRow(documentBytes: 200, entryBytes: 83)

    private func expected(_ feed: Feed, changes: Int, items: Int = 0) async throws -> PlannedBill {
        let reads = try #require(await feed.readsToListen(changes: changes, items: items))
        return reads.reduce(into: PlannedBill()) { sum, read in
            sum += read.plan.bill(of: Array(repeating: row, count: read.rows)) ?? PlannedBill()
        }
    }

    /// Opens the feed until it is live, and returns its bill.
    private func listen(
        _ feed: Feed, in local: LocalFirestore
    ) async throws -> (reads: Int, units: BilledUnits) {
        let before = bill(local)
        await feed.startListening()
        try await feed.untilLive()
        let after = bill(local)
        return (after.reads - before.reads, after.units - before.units)
    }

    @Test(arguments: DatabaseEdition.allCases)
    func `a feed knows its bill before it listens`(edition: DatabaseEdition) async throws {
        let local = try start(edition)
        let writer = try local.firestore(label: "writer")
        try await write(0..<30, writer)
        let app = try local.firestore(label: "app")
        var definition = FeedDefinition(
            query: app.collection("stamps"), itemTime: "createdAt",
            way: .changeTime("updatedAt", deletedField: "deletedAt"))
        definition.limit = 20
        definition.sharedMark = FeedDefinition.SharedMark(app.document("users/ann"))
        func check(_ name: String, changes: Int, items: Int = 0) async throws {
            // The server's times rise with each commit, also while the clock stands.
            local.advance(by: .seconds(60))
            let feed = try Feed(definition)
            try await feed.open()
            let planned = try await expected(feed, changes: changes, items: items)
            let billed = try await listen(feed, in: local)
            #expect(planned.reads == billed.reads, "\(name)")
            if edition == .enterprise { #expect(planned.units == billed.units, "\(name)") }
            await feed.stopListening()
        }
        // The marks, 20 of 30 items, and a listener that finds those of the last minutes again.
        let first = try Feed(definition)
        try await first.open()
        let reads = try #require(await first.readsToListen(changes: 0, items: 30))
        #expect(reads.map(\.plan.kind) == [.marks, .full, .delta])
        #expect(reads.map(\.rows) == [1, 20, 0])
        #expect(bill(local).reads == 0, "a prediction asks no server")
        _ = try await listen(first, in: local)
        await first.stopListening()
        try await check("resumes with nothing new", changes: 0)
        try await write(30..<33, writer)
        try await check("resumes with three changes", changes: 3)
        await local.stop()
    }

    @Test func `a feed that knows nothing expects a whole page`() async throws {
        let local = try start(.enterprise)
        let app = try local.firestore(label: "app")
        var definition = FeedDefinition(
            query: app.collection("stamps"), itemTime: "createdAt",
            way: .changeTime("updatedAt", deletedField: "deletedAt"))
        definition.limit = 50
        let feed = try Feed(definition)
        try await feed.open()
        let reads = await feed.readsToListen(changes: 50) ?? []
        let bill = reads.compactMap { read in
            let row = ExpectedRow(documentBytes: 2_048, entryBytes: 128)
            return read.plan.bill(of: Array(repeating: row, count: read.rows))
        }
        #expect(bill.map(\.reads) == [1, 1], "an empty list and its listener")
        #expect(await feed.readsToListen(changes: 0, items: 900)?.map(\.rows) == [50, 0])
        definition.limit = nil
        let whole = try Feed(definition)
        try await whole.open()
        #expect(await whole.readsToListen(changes: 0, items: 10_000) == nil, "more pages follow")
        await local.stop()
    }

    @Test func `a document of the last minutes is sent again once`() async throws {
        let local = try start(.standard)
        let writer = try local.firestore(label: "writer")
        try await write(0..<3, writer)
        let app = try local.firestore(label: "app")
        let definition = FeedDefinition(
            query: app.collection("stamps"), itemTime: "createdAt",
            way: .changeTime("updatedAt", deletedField: "deletedAt"))
        let first = try Feed(definition)
        try await first.open()
        _ = try await listen(first, in: local)
        await first.stopListening()
        // No listener resumes after an hour, and the last five minutes are read again. The demo
        // compares such predictions with the bill of each open of its first table.
        local.advance(by: .seconds(3_600))
        try await write(0..<1, writer)
        let again = try Feed(definition)
        try await again.open()
        let changed = try DocumentPath("stamps/s10")
        #expect(await again.readsToListen(changes: 1)?.map(\.rows) == [4])
        #expect(await again.readsToListen(changed: [changed, changed])?.map(\.rows) == [3])
        await local.stop()
    }

    @Test func `an audit is not foreseen`() async throws {
        let local = try start(.standard)
        let app = try local.firestore(label: "app")
        let feed = try Feed(
            FeedDefinition(query: app.collection("stamps"), itemTime: "createdAt", way: .audit()))
        try await feed.open()
        #expect(await feed.readsToListen(changes: 1) == nil)
        await local.stop()
    }
}
