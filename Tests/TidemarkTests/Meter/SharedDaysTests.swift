import Testing
import TidemarkModel
import TidemarkReads
import TidemarkTesting

@testable import Tidemark

/// The reads of a day as a document, for the sum over all devices.
struct SharedDaysTests {
    private func fill(_ local: LocalFirestore) async throws -> Firestore {
        let writer = try local.firestore(label: "writer")
        for index in 0..<3 { try await writer.document("rooms/r\(index)").setData(["n": index]) }
        return writer
    }

    @Test func `a finished day becomes one small document without names`() async throws {
        let local = try LocalFirestore.start()
        let writer = try await fill(local)
        let app = try local.firestore(label: "chat")
        #expect(FleetDay.collection == ReadMeter.sharedDays)
        let days = app.collection(ReadMeter.sharedDays)
        _ = try await app.collection("rooms").getDocuments(source: .server)
        #expect(try await app.readMeter.shareDays(in: days, version: "3.2") == 0, "it is today")
        _ = try await app.document("rooms/r0").getDocument(source: .cache)
        _ = try await app.collection("rooms").getDocuments(source: .cache)

        local.advance(by: .seconds(86_400))
        _ = try await app.document("rooms/r0").getDocument(source: .server)
        #expect(try await app.readMeter.shareDays(in: days, version: "3.2", group: "free") == 1)
        #expect(try await app.readMeter.shareDays(in: days, version: "3.2", group: "free") == 0)
        try await app.waitForPendingWrites()

        let stored = try await writer.collection(ReadMeter.sharedDays)
            .getDocuments(source: .server).documents
        #expect(stored.count == 1)
        let day = try #require(stored[0].fields.flatMap(FleetDay.init))
        #expect(day.version == "3.2" && day.group == "free" && day.cached == 2)
        #expect(day.rows == [.init(screen: "", label: "chat", cause: "get", reads: 3)])
        #expect(abs(day.dollars - 3 * 0.06 / 100_000) < 1e-12)
        #expect(stored[0].documentID.count == 20, "a random name")
        #expect(FleetReport([day]).reads == 3)
        // The example of the doc comment.
        let firestore = app
        do {
            let days = firestore.collection(ReadMeter.sharedDays)
            _ = try await firestore.readMeter.shareDays(in: days, version: "3.2", group: "free")
        }
    }

    @Test func `nothing is stored or counted without a call`() async throws {
        let local = try LocalFirestore.start()
        let writer = try await fill(local)
        let app = try local.firestore(label: "chat")
        _ = try await app.collection("rooms").getDocuments(source: .server)
        _ = try await app.document("rooms/r0").getDocument(source: .cache)
        local.advance(by: .seconds(2 * 86_400))
        _ = try await app.document("rooms/r0").getDocument(source: .server)
        try await app.waitForPendingWrites()
        let days = writer.collection(ReadMeter.sharedDays)
        #expect(try await days.getDocuments(source: .server).documents.isEmpty)
        _ = try await app.readMeter.shareDays(
            in: app.collection(ReadMeter.sharedDays), version: "1")
        try await app.waitForPendingWrites()
        let stored = try await days.getDocuments(source: .server).documents
        #expect(stored.compactMap { $0.fields.flatMap(FleetDay.init) }.map(\.cached) == [0])
    }

    @Test func `many rows are cut, and their reads stay`() async throws {
        let local = try LocalFirestore.start()
        let writer = try await fill(local)
        let app = try local.firestore(label: "chat")
        for number in 0..<60 {
            _ = try await app.document("rooms/r0").counted(for: "part \(number)")
                .getDocument(source: .server)
        }
        local.advance(by: .seconds(86_400))
        _ = try await app.document("rooms/r0").getDocument(source: .server)
        _ = try await app.readMeter.shareDays(
            in: app.collection(ReadMeter.sharedDays), version: "1")
        try await app.waitForPendingWrites()
        let stored = try await writer.collection(ReadMeter.sharedDays)
            .getDocuments(source: .server).documents
        let day = try #require(stored.first?.fields.flatMap(FleetDay.init))
        #expect(day.rows.count == 50 && day.reads == 60)
        #expect(day.rows.last?.label == "other" && day.rows.last?.reads == 11)
    }

    @Test func `the names of documents survive a kill, and old days are forgotten`() {
        var log = SharedDayLog(nil)
        let day = BillingDay(number: 20_000)
        log.note(day, id: "abc", isSent: false)
        let again = SharedDayLog(log.bytes)
        #expect(again.id(of: day) == "abc" && !again.isSent(day))
        for number in 0..<100 {
            log.note(BillingDay(number: 20_001 + number), id: "x", isSent: true)
        }
        #expect(log.id(of: day) == nil && log.isSent(BillingDay(number: 20_100)))
        #expect(SharedDayLog(Array("damaged\n1 2\n".utf8)) == SharedDayLog(nil))
    }
}
