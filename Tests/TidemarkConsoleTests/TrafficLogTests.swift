import Testing
import TidemarkModel

@testable import TidemarkConsole

@Suite struct TrafficLogTests {
    private static func begin(
        _ log: inout TrafficLog, _ asked: String, at time: Int64 = 0, method: String = "RunQuery"
    ) -> Int {
        log.begin(
            method: method, database: "d", label: "app", client: nil, asked: asked, at: time)
    }

    @Test func `the oldest calls are forgotten, open ones are kept`() {
        var log = TrafficLog(capacity: 3)
        let stream = Self.begin(&log, "a stream")
        for number in 0..<5 {
            let id = Self.begin(&log, "call \(number)")
            log.end(id) { $0.end(.ok, at: 7) }
        }
        #expect(
            log.newest(10) { _ in true }.map(\.asked) == [
                "call 4", "call 3", "call 2", "a stream",
            ])
        #expect(log.forgotten == 2)
        #expect(log.openCount == 1)
        #expect(log[stream]?.outcome == nil)
        #expect(log[2] == nil)
    }

    @Test func `only the newest are given, and only those that pass`() {
        var log = TrafficLog(capacity: 100)
        for number in 0..<50 {
            let id = Self.begin(&log, "rooms/\(number % 5)")
            let status = number % 2 == 0 ? RPCStatus.ok : RPCStatus(.notFound, "none")
            log.end(id) { $0.end(status, at: 1) }
        }
        let failed = TrafficFilter(text: "ROOMS/3", failedOnly: true)
        let found = log.newest(3) { failed.passes($0) }
        #expect(found.map(\.id) == [44, 34, 24])
        #expect(found.allSatisfy { $0.message == "none" })
    }

    @Test func `a stream's targets count their documents`() throws {
        var log = TrafficLog()
        let id = Self.begin(&log, "nothing yet", method: "Listen")
        let query = TidemarkModel.Query(collection: try CollectionPath("rooms"))
        log.update(id) { $0.add(ListenTarget(id: 2, .query(query))) }
        let document = Document(
            path: try DocumentPath("rooms/blue"), fields: ["n": .integer(1)], createTime: .epoch,
            updateTime: .epoch)
        for _ in 0..<3 {
            log.update(id) { $0.note(.documentChange(DocumentChange(document, targetIDs: [2]))) }
        }
        log.update(id) { $0.note(.targetChange(TargetChange(.current, targetIDs: [2]))) }
        let entry = try #require(log[id])
        #expect(entry.documents == 3 && entry.targets.map(\.documents) == [3])
        #expect(entry.targets.map(\.state) == [.current])
        #expect(entry.asked == "rooms")
    }

    @Test func `a listener without a limit that was sent much stands out`() throws {
        var entry = TrafficEntry(
            id: 1, began: 0, method: "Listen", database: "d", label: nil, client: nil, asked: "")
        var query = TidemarkModel.Query(collection: try CollectionPath("rooms"))
        entry.add(ListenTarget(id: 2, .query(query)))
        entry.targets[0].documents = TrafficAdvice.manyDocuments - 1
        #expect(TrafficAdvice.onListener(entry) == nil)
        entry.targets[0].documents = 11_003
        #expect(TrafficAdvice.onListener(entry)?.what.contains("11\u{202F}003") == true)
        query.limit = .first(20_000)
        entry.targets = []
        entry.add(ListenTarget(id: 2, .query(query)))
        entry.targets[0].documents = 11_003
        #expect(TrafficAdvice.onListener(entry) == nil)
    }

    @Test func `lookups one by one are a storm, and stop being one`() {
        func advice(_ count: Int, apart: Int64) -> [TrafficAdvice] {
            var log = TrafficLog()
            for number in 0..<count {
                let id = Self.begin(
                    &log, "users/\(number)", at: Int64(number) * apart, method: "GetDocument")
                log.end(id) { $0.end(.ok, at: 1) }
            }
            return TrafficAdvice.advice(on: log.newest(1_000) { _ in true })
        }
        #expect(advice(19, apart: 1_000).isEmpty)
        #expect(advice(20, apart: 1_000).first?.what == "20 lookups in users within ten seconds.")
        #expect(advice(200, apart: 1_000_000).isEmpty)
    }
}
