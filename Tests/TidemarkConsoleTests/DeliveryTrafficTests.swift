import Synchronization
import Testing
import TidemarkHTTP
import TidemarkModel
import TidemarkServer

@testable import TidemarkConsole

/// Deliveries to functions, beside the calls that cause them and that they cause.
@Suite(.timeLimit(.minutes(2))) struct `Deliveries in the traffic` {
    private static let database = try! DatabaseID(project: "demo")

    private static func begin(
        _ log: inout TrafficLog, _ asked: String, byFunction: Bool = true
    ) -> Int {
        log.begin(
            method: "RunQuery", database: "d", label: nil, client: nil, asked: asked,
            canBeFunction: byFunction, at: 1)
    }

    private static func deliver(_ log: inout TrafficLog, _ document: String) -> Int {
        log.beginDelivery(
            of: TrafficEvent(id: "e", document: document, time: 5), to: "count",
            change: "created", database: "d", at: 1)
    }

    // MARK: Whose call it is

    @Test func `a call is the one of the only function that runs`() {
        var log = TrafficLog()
        let before = Self.begin(&log, "rooms")
        let delivery = Self.deliver(&log, "rooms/a")
        let during = Self.begin(&log, "counts")
        let phone = Self.begin(&log, "counts", byFunction: false)
        log.endDelivery(delivery, at: 2) { $0.end(.delivered, at: 2) }
        let after = Self.begin(&log, "counts")
        #expect(
            [before, during, phone, after].map { log[$0]?.links.cause } == [
                nil, delivery, nil, nil,
            ])
        #expect(log[delivery]?.outcome == "OK" && log[delivery]?.links.cause == nil)
    }

    @Test func `a call during two functions belongs to the one whose document it names`() {
        var log = TrafficLog()
        let first = Self.deliver(&log, "rooms/a")
        let second = Self.deliver(&log, "rooms/b")
        let named = Self.begin(&log, "rooms/b")
        let prefix = Self.begin(&log, "rooms/bb")
        let other = Self.begin(&log, "counts where n > 1")
        #expect([named, prefix, other].map { log[$0]?.links.cause } == [second, nil, nil])
        log.endDelivery(second, at: 2) { $0.end(.failed("status 500"), at: 2) }
        let alone = Self.begin(&log, "counts")
        #expect(log[alone]?.links.cause == first)
        #expect(log[second]?.outcome == "failed" && log[second]?.message == "status 500")
    }

    @Test func `a stream keeps the times of its newest commits`() {
        var entry = TrafficEntry(
            id: 1, began: 0, method: "Write", database: "d", label: nil, client: nil, asked: "")
        for number in 1...150 {
            entry.noteCommit(at: Timestamp(microseconds: Int64(number)))
            entry.noteCommit(at: Timestamp(microseconds: Int64(number)))
        }
        #expect(entry.links.commits == Array(51...150))
    }

    // MARK: The whole way

    /// A function that queries, and then answers.
    private final class Function: EventReceiver {
        let server: Mutex<RecordedTransport?> = Mutex(nil)

        func reaches(_ trigger: EventTrigger) -> Bool { true }

        func deliver(_ event: DocumentEvent, done: @escaping @Sendable (DeliveryAnswer) -> Void) {
            guard let transport = server.withLock({ $0 }) else { return done(.unknownKey) }
            let context = CallContext(database: event.trigger.database, token: "owner")
            let request = Request.runQuery(RunQueryRequest(query: Query(collectionID: "rooms")))
            _ = transport.call(request, context) { event in
                if case .ended = event { done(.delivered) }
            }
        }
    }

    @Test func `lead from a commit to its function, and to what that reads`() async throws {
        let server = try FirestoreServer(FirestoreServer.Configuration())
        defer { server.close() }
        let traffic = RecordedTransport(server) { 1_000_000 }
        let function = Function()
        function.server.withLock { $0 = traffic }
        let deliveries = RecordedDeliveries()
        deliveries.attach(traffic)
        let events = ServerEvents(server)
        try events.start(deliveries.recording(function))
        try events.register(
            try EventTrigger(
                key: "count", database: Self.database, type: EventType(.written),
                pattern: TriggerPattern("rooms/{id}"), address: "http://127.0.0.1:1"))
        let context = CallContext(database: Self.database, label: "phone")
        let write = Mutation(
            path: try DocumentPath("rooms/a"), .set(["n": .integer(1)]), precondition: .none)
        _ = try await traffic.replies(
            to: .commit(CommitRequest(mutations: [write])), context)
        #expect(await events.waitUntilIdle(within: .seconds(60)) == .idle)
        let log = traffic.snapshot
        let delivery = try #require(log.newest(1) { $0.links.event != nil }.first)
        #expect(delivery.asked == "rooms/a created" && delivery.client == "function count")
        let after = TrafficRelations(of: delivery, in: log)
        #expect(after.commit?.label == "phone" && after.commit?.method == "Commit")
        #expect(after.calls.map(\.method) == ["RunQuery"] && after.calls.first?.reads == 1)
        let commit = try #require(after.commit)
        #expect(TrafficRelations(of: commit, in: log).deliveries == [delivery])
        let call = try #require(after.calls.first)
        #expect(TrafficRelations(of: call, in: log).cause == delivery)
        let page = try await page(["traffic", "\(delivery.id)"], Console(server, traffic: traffic))
        #expect(page.contains("1 reads") && page.contains("$0.06 for 100,000 such events"))
        #expect(page.contains("Caused by <a href=\"/traffic/\(commit.id)\">"))
    }

    private func page(_ path: [String], _ console: Console) async throws -> String {
        let answer = try #require(await console.answer(PageRequest(path: path, query: [])))
        guard case .bytes(let bytes) = answer.body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `a function in a chain is conspicuous`() {
        var log = TrafficLog()
        let delivery = Self.deliver(&log, "rooms/a")
        log.endDelivery(delivery, at: 2) { $0.end(.delivered, at: 2) }
        let entries = log.newest(10) { _ in true }
        #expect(TrafficAdvice.loops([("count", 9), ("other", 20)], entries).isEmpty)
        let advice = TrafficAdvice.loops([("count", 12)], entries)
        #expect(advice.map(\.entry) == [delivery])
        #expect(advice.first?.what.contains("count seems to trigger itself: 12 events") == true)
        #expect(TrafficFilter(show: .functions).passes(entries[0]))
    }
}
