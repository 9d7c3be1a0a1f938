import Testing
import TidemarkServer
import TidemarkTesting

@testable import Tidemark

/// Tests that the client counts the reads that the server bills, for every kind of read.
struct ReadMeterTests {
    /// Listens until the server has confirmed a snapshot for which `isEnough` is true, and then
    /// stops.
    private func follow(
        _ query: Query, until isEnough: (QuerySnapshot) -> Bool = { _ in true }
    ) async throws -> QuerySnapshot {
        for try await snapshot in query.snapshots(includeMetadataChanges: true)
        where !snapshot.metadata.isFromCache && isEnough(snapshot) { return snapshot }
        throw CancellationError()
    }

    /// Writes the documents `rooms/r0`, `rooms/r1` and so on with another client.
    private func fill(_ local: LocalFirestore, _ count: Int) async throws {
        let writer = try local.firestore(label: "writer")
        for start in stride(from: 0, to: count, by: 400) {
            let batch = writer.batch()
            for index in start..<min(start + 400, count) {
                batch.setData(["n": index], forDocument: writer.document("rooms/r\(index)"))
            }
            try await batch.commit()
        }
    }

    /// Keeps the client away for so many minutes, after the server has noticed that it left.
    private func pass(
        _ minutes: Int, without reader: Firestore, _ local: LocalFirestore
    ) async throws {
        await reader.disableNetwork()
        // The server handles this call after everything that it received before.
        let other = try local.firestore(label: "other")
        _ = try await other.document("others/none").getDocument()
        local.advance(by: .seconds(minutes * 60))
        await reader.enableNetwork()
    }

    private func report(_ firestore: Firestore) async throws -> ReadReport {
        try await firestore.readMeter.report()
    }

    @Test func `documents, queries and aggregations`() async throws {
        let local = try LocalFirestore.start()
        try await fill(local, 1_500)
        let reader = try local.firestore(label: "reader")
        let rooms = reader.collection("rooms")
        _ = try await reader.document("rooms/r1").getDocument()
        try await local.checkMeters()
        #expect(try await report(reader).reads == 1)
        _ = try await reader.document("rooms/none").getDocument()
        #expect(try await report(reader).reads == 2, "a missing document was looked up")
        _ = try await rooms.whereField("n", isEqualTo: -1).getDocuments()
        #expect(try await report(reader).reads == 3, "a query costs one at least")
        _ = try await rooms.order(by: "n").limit(to: 7).getDocuments(source: .server)
        #expect(try await report(reader).reads == 10)
        _ = try await rooms.count.getAggregation()
        #expect(try await report(reader).reads == 12, "a read for each 1,000 entries begun")
        try await local.checkMeters()
        let all = try await report(reader)
        #expect(all.byCause == [.get: 12] && all.byLabel == ["reader": 12])
        _ = try await rooms.getDocuments(source: .cache)
        #expect(try await report(reader) == all, "the cache is free")
        await local.stop()
    }

    @Test func `a sum says no more than that it costs something`() async throws {
        let local = try LocalFirestore.start()
        try await fill(local, 1_500)
        let reader = try local.firestore(label: "reader")
        _ = try await reader.collection("rooms").aggregate([.sum("n")]).getAggregation()
        let row = try #require(try await report(reader).rows.first)
        #expect(row.reads == 1 && row.lowerBounds == 1)
        #expect(local.meter().first { $0.label == "reader" }?.reads == 2)
        await local.stop()
    }

    @Test func `a transaction's reads`() async throws {
        let local = try LocalFirestore.start()
        try await fill(local, 3)
        let reader = try local.firestore(label: "reader")
        try await reader.runTransaction { transaction in
            for id in ["r0", "r1", "none"] {
                _ = try await transaction.getDocument(reader.document("rooms/\(id)"))
            }
        }
        #expect(try await report(reader).reads == 3)
        try await local.checkMeters()
        await local.stop()
    }

    @Test func `a listener's rows, changes, leavers and deletions`() async throws {
        let local = try LocalFirestore.start()
        try await fill(local, 20)
        let reader = try local.firestore(label: "reader")
        let writer = try local.firestore(label: "writer")
        let low = reader.collection("rooms").whereField("n", isLessThan: 10)
        let seen = SnapshotLog(low)
        try await seen.wait { $0.count == 10 }
        try await local.checkMeters()
        #expect(try await report(reader).byCause == [.listen: 10])
        try await writer.document("rooms/r1").updateData(["x": 1])
        try await seen.wait { $0.documents.contains { $0["x"] as? Int == 1 } }
        #expect(try await report(reader).reads == 11)
        // The row leaves because it changed, and the server sends the change too.
        try await writer.document("rooms/r2").updateData(["n": 99])
        try await seen.wait { $0.count == 9 }
        #expect(try await report(reader).reads == 12)
        try await writer.document("rooms/r3").delete()
        try await seen.wait { $0.count == 8 }
        #expect(try await report(reader).reads == 12, "a deletion is free")
        try await local.checkMeters()
        seen.remove()
        await local.stop()
    }

    @Test func `a window that one row leaves and another enters`() async throws {
        let local = try LocalFirestore.start()
        try await fill(local, 20)
        let reader = try local.firestore(label: "reader")
        let writer = try local.firestore(label: "writer")
        let seen = SnapshotLog(reader.collection("rooms").order(by: "n").limit(to: 5))
        try await seen.wait { $0.count == 5 }
        try await writer.document("rooms/new").setData(["n": -1])
        try await seen.wait { $0.documents.first?.documentID == "new" }
        try await writer.document("rooms/new").delete()
        try await seen.wait { $0.documents.first?.documentID == "r0" && $0.count == 5 }
        try await local.checkMeters()
        seen.remove()
        await local.stop()
    }

    @Test(arguments: [(29, 2), (31, 12), (60 * 24 * 30, 12)])
    func `a listener that comes back after so many minutes`(minutes: Int, more: Int) async throws {
        let local = try LocalFirestore.start()
        try await fill(local, 10)
        let reader = try local.firestore(label: "reader")
        let writer = try local.firestore(label: "writer")
        let rooms = reader.collection("rooms")
        _ = try await follow(rooms) { $0.count == 10 }
        #expect(try await report(reader).reads == 10)
        try await pass(minutes, without: reader, local)
        for id in ["a", "b"] { try await writer.document("rooms/\(id)").setData(["n": 1]) }
        _ = try await follow(rooms) { $0.count == 12 }
        try await local.checkMeters()
        #expect(try await report(reader).reads == 10 + more)
        await local.stop()
    }

    @Test(arguments: [(29, 1), (31, 11)])
    func `a launch after so many minutes`(minutes: Int, more: Int) async throws {
        let folder = try TemporaryFolder()
        let local = try LocalFirestore.start()
        try await fill(local, 10)
        let writer = try local.firestore(label: "writer")
        func launch() throws -> Firestore {
            try local.firestore(label: "reader", cache: .directory(folder.path))
        }
        let first = try launch()
        _ = try await follow(first.collection("rooms")) { $0.count == 10 }
        await first.terminate()
        _ = try await writer.document("others/none").getDocument()
        local.advance(by: .seconds(minutes * 60))
        try await writer.document("rooms/a").setData(["n": 1])
        let second = try launch()
        #expect(try await report(second).reads == 10, "counts are kept across launches")
        _ = try await follow(second.collection("rooms")) { $0.count == 11 }
        #expect(try await report(second).reads == 10 + more)
        #expect(local.meter().first { $0.label == "reader" }?.reads == 10 + more)
        await local.stop()
    }

    @Test func `an empty result costs one, and none when it is resumed`() async throws {
        let local = try LocalFirestore.start()
        let reader = try local.firestore(label: "reader")
        _ = try await follow(reader.collection("rooms"))
        #expect(try await report(reader).reads == 1)
        _ = try await follow(reader.collection("rooms"))
        #expect(try await report(reader).reads == 1)
        try await pass(60, without: reader, local)
        _ = try await follow(reader.collection("rooms"))
        #expect(try await report(reader).reads == 2)
        try await local.checkMeters()
        await local.stop()
    }

    @Test func `a document's listener`() async throws {
        let local = try LocalFirestore.start()
        try await fill(local, 1)
        let reader = try local.firestore(label: "reader")
        for name in ["rooms/r0", "rooms/none"] {
            for try await snapshot in reader.document(name).snapshots(includeMetadataChanges: true)
            where !snapshot.metadata.isFromCache { break }
        }
        #expect(try await report(reader).reads == 2)
        try await local.checkMeters()
        await local.stop()
    }

    @Test func `labels, screens and causes`() async throws {
        let local = try LocalFirestore.start()
        try await fill(local, 3)
        let app = try local.firestore(label: "app")
        let rooms = app.collection("rooms")
        try await ReadTag.with(label: "inbox", screen: "Inbox") {
            _ = try await rooms.getDocuments(source: .server)
            try await ReadTag.with(cause: .audit) { _ = try await rooms.count.getAggregation() }
            _ = try await app.document("rooms/r0").counted(for: "badge").getDocument()
        }
        _ = try await rooms.limit(to: 1).counted(screen: "Home").getDocuments(source: .server)
        let report = try await report(app)
        let rows = report.rows.map { "\($0.label)|\($0.screen)|\($0.cause)|\($0.reads)" }
        #expect(
            rows.sorted() == [
                "app|Home|get|1", "badge|Inbox|get|1", "inbox|Inbox|audit|1", "inbox|Inbox|get|3",
            ])
        #expect(report.byScreen == ["Inbox": 5, "Home": 1])
        // The server's meter uses the same labels for the calls.
        try await local.checkMeters()
        #expect(report.table.split(separator: "\n").count == 6)
        await local.stop()
    }

    @Test func `a test of an app says how much it may read`() async throws {
        let local = try LocalFirestore.start()
        try await fill(local, 5)
        let app = try local.firestore(label: "app")
        try await expectReads(atMost: 1, of: app) {
            _ = try await app.document("rooms/r0").getDocument()
        }
        let error = await #expect(throws: TooManyReads.self) {
            try await expectReads(atMost: 4, of: app) {
                _ = try await app.collection("rooms").getDocuments(source: .server)
            }
        }
        #expect(error?.report.reads == 5)
        #expect(error?.description.contains("app") == true)
        #expect(error?.description.contains("get") == true)
        await local.stop()
    }
}

/// A listener whose snapshots a test can wait for.
final class SnapshotLog: Sendable {
    private let snapshots: AsyncStream<QuerySnapshot>
    private let registration: any ListenerRegistration

    init(_ query: Query) {
        let (snapshots, input) = AsyncStream.makeStream(of: QuerySnapshot.self)
        self.snapshots = snapshots
        registration = query.addSnapshotListener(includeMetadataChanges: true) { snapshot, _ in
            if let snapshot { input.yield(snapshot) }
        }
    }

    /// Returns the first confirmed snapshot for which `isWanted` is true.
    @discardableResult
    func wait(_ isWanted: (QuerySnapshot) -> Bool) async throws -> QuerySnapshot {
        for await snapshot in snapshots where !snapshot.metadata.isFromCache && isWanted(snapshot) {
            return snapshot
        }
        throw CancellationError()
    }

    func remove() { registration.remove() }
}
