import Foundation
import Synchronization
import Testing
import TidemarkModel

@testable import TidemarkServer

/// Takes events and answers when the test says so.
private final class TestReceiver: EventReceiver {
    struct Delivery: Sendable {
        let event: DocumentEvent
        let done: @Sendable (DeliveryAnswer) -> Void

        var line: String {
            let type = event.trigger.type
            let (before, after) = (event.before?.fields.digits, event.after?.fields.digits)
            return "\(type.kind.rawValue) \(event.path) \(before ?? "-") \(after ?? "-")"
        }
    }

    private let deliveries = Mutex<[Delivery]>([])
    let reachesTools: Bool

    init(reachesTools: Bool = true) { self.reachesTools = reachesTools }

    func reaches(_ trigger: EventTrigger) -> Bool { trigger.address != nil || reachesTools }

    func deliver(_ event: DocumentEvent, done: @escaping @Sendable (DeliveryAnswer) -> Void) {
        deliveries.withLock { $0.append(Delivery(event: event, done: done)) }
    }

    /// Returns and removes the deliveries that are under way.
    func take() -> [Delivery] {
        deliveries.withLock { deliveries in
            defer { deliveries = [] }
            return deliveries
        }
    }
}

extension MapValue {
    /// The field `n` as a text; a hyphen if it is missing.
    fileprivate var digits: String {
        if case .integer(let number)? = self["n"] { "\(number)" } else { "-" }
    }
}

struct `Document events` {
    private let receiver = TestReceiver()

    private func trigger(
        _ kind: EventType.Kind = .written, _ pattern: String = "c/{id}", key: String? = nil,
        address: String? = nil
    ) throws -> EventTrigger {
        try EventTrigger(
            key: key ?? "\(kind.rawValue)-\(pattern)", database: DatabaseID(project: "test"),
            type: EventType(kind), pattern: TriggerPattern(pattern), address: address)
    }

    /// Returns a server with the triggers.
    private func server(
        _ triggers: EventTrigger..., directory: String? = nil, machine: TestMachine = TestMachine()
    ) throws -> TestServer {
        let server = try TestServer(directory: directory, machine: machine)
        try ServerEvents(server.server).start(receiver)
        for trigger in triggers { try ServerEvents(server.server).register(trigger) }
        machine.run()
        return server
    }

    /// Answers all deliveries until none follows, and returns them as lines.
    @discardableResult
    private func drain(
        _ server: TestServer, _ answer: DeliveryAnswer = .delivered
    ) -> [String] {
        var lines: [String] = []
        server.machine.run()
        while true {
            let deliveries = receiver.take()
            if deliveries.isEmpty { return lines }
            for delivery in deliveries {
                lines.append(delivery.line)
                delivery.done(answer)
            }
            server.machine.run()
        }
    }

    private func number(_ number: Int64) -> MapValue { ["n": .integer(number)] }

    @Test func `tell what was created, updated and deleted`() throws {
        let server = try server(
            trigger(.created), trigger(.updated), trigger(.deleted), trigger(.written))
        try server.commit(set("c/a", number(1)))
        #expect(Set(drain(server)) == ["created c/a - 1", "written c/a - 1"])
        try server.commit(set("c/a", number(2)))
        #expect(Set(drain(server)) == ["updated c/a 1 2", "written c/a 1 2"])
        try server.commit(delete("c/a"))
        #expect(Set(drain(server)) == ["deleted c/a 2 -", "written c/a 2 -"])
        try server.commit(set("d/a", number(1)), set("c/a/d/b", number(1)))
        #expect(drain(server).isEmpty)
    }

    @Test func `are none for a write that changes nothing`() throws {
        let server = try server(trigger())
        try server.commit(delete("c/a"))
        try server.commit(set("c/a", number(1)))
        drain(server)
        try server.commit(set("c/a", number(1)))
        try server.commit(delete("c/a"), set("c/a", number(1)))
        try server.commit(set("c/b", number(1)), delete("c/b"))
        #expect(drain(server).isEmpty)
    }

    @Test func `join several writes of a document in one commit`() throws {
        let server = try server(trigger())
        try server.commit(set("c/a", number(1)), set("c/b", number(7)), set("c/a", number(3)))
        #expect(drain(server) == ["written c/a - 3", "written c/b - 7"])
    }

    @Test func `come from every way to write`() throws {
        let server = try server(trigger())
        let batch = BatchWriteRequest(mutations: [set("c/a", number(1)), set("c/b", number(2))])
        _ = try server.replies(.batchWrite(batch))
        #expect(Set(drain(server)) == ["written c/a - 1", "written c/b - 2"])
        let transaction = try server.begin()
        _ = try server.get("c/a", at: .transaction(transaction))
        try server.commit(set("c/a", number(5)), transaction: transaction)
        #expect(drain(server) == ["written c/a 1 5"])
        _ = try server.replies(.deleteDocument(path("c/b"), .none))
        #expect(drain(server) == ["written c/b 2 -"])
        server.server.clear(server.database) { #expect($0 == nil) }
        #expect(drain(server) == ["written c/a 5 -"])
        #expect(try server.ids(collection("c")).isEmpty)
    }

    @Test func `name the author`() throws {
        let server = try server(trigger())
        func author(token: String?) throws -> EventAuthor? {
            let request = CommitRequest(mutations: [set("c/\(token?.count ?? 0)", number(1))])
            _ = try server.replies(.commit(request), token: token)
            server.machine.run()
            let delivery = receiver.take().first
            delivery?.done(.delivered)
            return delivery?.event.author
        }
        #expect(try author(token: nil) == EventAuthor(.unauthenticated))
        #expect(try author(token: "owner") == EventAuthor(.serviceAccount, id: "owner"))
        let claims = Data(#"{"sub":"ann"}"#.utf8).base64EncodedString()
            .replacing("=", with: "")
        #expect(try author(token: "e30.\(claims).") == EventAuthor(.apiKey, id: "ann"))
        #expect(try author(token: "any other token") == EventAuthor(.serviceAccount, id: "owner"))
    }

    @Test func `of expired documents are the system's`() throws {
        let file = #"""
            {"fieldOverrides": [
                {"collectionGroup": "c", "fieldPath": "end", "ttl": true, "indexes": []}]}
            """#
        let indexes = IndexSettings(try IndexConfiguration(json: Data(file.utf8)), policy: .warn)
        let server = try TestServer(indexes: indexes)
        try ServerEvents(server.server).start(receiver)
        try ServerEvents(server.server).register(try trigger(.deleted))
        let end = server.machine.now.advanced(by: .seconds(5))
        try server.commit(set("c/a", ["end": .timestamp(end), "n": .integer(1)]))
        server.machine.advance(.seconds(30))
        let delivery = try #require(receiver.take().first)
        #expect(delivery.line == "deleted c/a 1 -")
        #expect(delivery.event.author == EventAuthor(.system))
    }

    @Test func `are none for imports, and none before the start`() throws {
        let server = try TestServer()
        try server.commit(set("c/a", number(1)))
        try ServerEvents(server.server).start(receiver)
        try ServerEvents(server.server).register(try trigger())
        var context = server.context(ServerEvents.importLabel)
        context.isUnbilled = true
        let request = CommitRequest(mutations: [set("c/b", number(2))])
        _ = server.server.call(.commit(request), context) { _ in }
        #expect(drain(server).isEmpty)
        // A label alone is not believed.
        try server.commit(set("c/d", number(3)), label: ServerEvents.importLabel)
        #expect(drain(server) == ["written c/d - 3"])
    }

    @Test func `are dropped by going back to a snapshot`() throws {
        let server = try server(trigger())
        let snapshot = try server.server.snapshot()
        try server.commit(set("c/a", number(1)))
        server.machine.run()
        let late = receiver.take()
        try server.server.restore(snapshot)
        try server.commit(set("c/b", number(2)))
        for delivery in late { delivery.done(.failed("late")) }
        #expect(drain(server) == ["written c/b - 2"])
        #expect(ServerEvents(server.server).report().waiting == 0)
    }

    @Test func `survive the end of the process with their ids, in order`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("events-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let machine = TestMachine()
        let old = try server(trigger(), directory: folder, machine: machine)
        for value in 1...3 { try old.commit(set("c/a", number(Int64(value)))) }
        let first = try #require(receiver.take().first)
        first.done(.delivered)
        machine.run()
        let second = try #require(receiver.take().first)
        #expect(second.line == "written c/a 1 2")
        old.server.abandon()
        second.done(.delivered)
        machine.run()
        let new = try server(directory: folder, machine: machine)
        let again = try #require(receiver.take().first)
        #expect(again.event.id == second.event.id && again.event.id != first.event.id)
        #expect(again.event.time == second.event.time && again.line == second.line)
        again.done(.delivered)
        #expect(drain(new) == ["written c/a 2 3"])
        try new.commit(set("c/a", number(4)))
        #expect(drain(new) == ["written c/a 3 4"], "the trigger is still registered")
    }

    @Test func `are lost with their commit only`() throws {
        let server = try server(trigger())
        #expect(throws: RPCStatus.self) {
            try server.commit(set("c/a", number(1)), set("c/b", number(1), .exists(true)))
        }
        #expect(drain(server).isEmpty)
    }

    @Test func `are repeated on request, after they were delivered or set aside`() throws {
        let server = try server(trigger())
        let events = ServerEvents(server.server)
        try server.commit(set("c/a", number(1)))
        #expect(drain(server) == ["written c/a - 1"])
        let id = try #require(events.report().delivered.first?.id)
        try events.repeatEvent(id)
        server.machine.run()
        let delivery = try #require(receiver.take().first)
        #expect(delivery.event.id == id)
        delivery.done(.refused("400"))
        #expect(drain(server).isEmpty)
        #expect(events.report().setAside.map(\.reason) == ["400"])
        #expect(server.machine.log.contains { $0.contains("set aside: 400") })
        try events.repeatEvent(id)
        #expect(drain(server) == ["written c/a - 1"])
        #expect(events.report().setAside.isEmpty && events.report().delivered.count == 1)
        #expect(throws: RPCStatus.self) { try events.repeatEvent("none") }
    }

    @Test func `of a failing function are tried again, then set aside`() throws {
        let server = try server(trigger())
        try server.commit(set("c/a", number(1)))
        try server.commit(set("c/a", number(2)))
        var lines: [String] = []
        for _ in 0..<12 {
            lines += drain(server, .failed("boom"))
            server.machine.advance(.seconds(31))
        }
        let once = Array(repeating: "written c/a - 1", count: 5)
        #expect(lines == once + Array(repeating: "written c/a 1 2", count: 5))
        let report = ServerEvents(server.server).report()
        #expect(report.waiting == 0 && report.setAside.count == 2)
        #expect(report.triggers.map(\.lastError) == ["boom"])
    }

    @Test func `make a caller wait until all are delivered`() throws {
        let server = try server(trigger())
        let events = ServerEvents(server.server)
        let ends = Mutex<[ServerEvents.Wait]>([])
        func wait(_ seconds: Int64 = 60) {
            events.waitUntilIdle(within: .seconds(seconds)) { end in
                ends.withLock { $0.append(end) }
            }
            server.machine.run()
        }
        wait()
        #expect(ends.withLock { $0 } == [.idle])
        try server.commit(set("c/a", number(1)))
        wait()
        let delivery = try #require(receiver.take().first)
        // The function writes before it answers.
        try server.commit(set("c/b", number(1)))
        delivery.done(.delivered)
        server.machine.run()
        #expect(ends.withLock { $0.count } == 1)
        drain(server)
        #expect(ends.withLock { $0 } == [.idle, .idle])
        try server.commit(set("c/a", number(2)))
        wait(5)
        server.machine.advance(.seconds(6))
        #expect(ends.withLock { $0.last } == .late)
        events.pause()
        wait()
        #expect(ends.withLock { $0.last } == .paused)
        drain(server)
        wait()
        #expect(ends.withLock { $0.last } == .idle)
    }

    @Test func `wait while deliveries are paused`() throws {
        let server = try server(trigger())
        ServerEvents(server.server).pause()
        try server.commit(set("c/a", number(1)))
        #expect(drain(server).isEmpty)
        ServerEvents(server.server).resume()
        #expect(drain(server) == ["written c/a - 1"])
    }

    @Test func `report a function that triggers itself`() throws {
        let server = try server(trigger())
        try server.commit(set("c/a", number(0)))
        for value in 1...12 {
            let delivery = try #require(receiver.take().first)
            let request = CommitRequest(mutations: [set("c/a", number(Int64(value)))])
            _ = try server.replies(.commit(request), token: "owner")
            delivery.done(.delivered)
            server.machine.run()
        }
        #expect(ServerEvents(server.server).report().triggers.map(\.longestChain) == [12])
        #expect(server.machine.log.filter { $0.contains("trigger itself") }.count == 1)
    }

    @Test func `go by the newest registration of a key`() throws {
        let server = try server(trigger(.written, "c/{id}", key: "f"))
        try ServerEvents(server.server).register(try trigger(.created, "d/{id}", key: "f"))
        try server.commit(set("c/a", number(1)), set("d/a", number(2)))
        #expect(drain(server) == ["created d/a - 2"])
        #expect(try ServerEvents(server.server).remove(key: "f", project: "test"))
        #expect(try !ServerEvents(server.server).remove(key: "f", project: "test"))
        try server.commit(set("d/b", number(2)))
        #expect(drain(server).isEmpty)
    }

    @Test func `of functions without an address are not stored`() throws {
        let receiver = TestReceiver(reachesTools: false)
        let server = try TestServer()
        try ServerEvents(server.server).start(
            receiver, triggers: [try trigger(key: "file", address: "http://127.0.0.1:1")])
        try ServerEvents(server.server).register(try trigger(.written, key: "tool"))
        try server.commit(set("c/a", number(1)))
        #expect(receiver.take().map(\.event.trigger.key) == ["file"])
        let report = ServerEvents(server.server).report()
        #expect(report.triggers.map(\.isReachable) == [true, false] && report.waiting == 1)
    }

    @Test func `of triggers that left the file are removed`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("events-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let triggers = [
            try trigger(key: "a", address: "http://a"), try trigger(key: "b", address: "http://b"),
        ]
        let machine = TestMachine()
        let old = try TestServer(directory: folder, machine: machine)
        try ServerEvents(old.server).start(receiver, triggers: triggers)
        try old.commit(set("c/a", number(1)))
        #expect(receiver.take().count == 2)
        old.server.close()
        let new = try TestServer(directory: folder, machine: machine)
        try ServerEvents(new.server).start(receiver, triggers: [triggers[1]])
        machine.run()
        #expect(receiver.take().map(\.event.trigger.key) == ["b"])
    }
}

struct `The outbox of events` {
    private func outline(_ id: Int64, size: Int = 1_000) -> EventTable.Outline {
        EventTable.Outline(
            id: id, trigger: 1, state: .waiting, size: size, time: .epoch, attempts: 0, depth: 0,
            event: "e\(id)", path: path("c/a"))
    }

    private func draft(bytes: Int = 0) -> EventDraft {
        let text = String(repeating: "x", count: bytes)
        let document = Document(
            path: path("c/a"), fields: ["t": .string(text)], createTime: .epoch,
            updateTime: .epoch)
        return EventDraft(
            trigger: 1, event: "e", path: path("c/a"), time: .epoch, before: nil, after: document,
            author: EventAuthor(.unknown), depth: 0)
    }

    @Test func `refuses more events than its bound, and more bytes`() throws {
        var bounds = EventOutbox.Bounds()
        bounds.events = 3
        bounds.bytes = 10_000
        var outbox = EventOutbox(bounds)
        outbox.add(outline(1))
        var earlier = RecordedEvents([outline(2)])
        try outbox.checkRoom(for: [draft()], after: earlier)
        #expect(throws: RPCStatus.self) {
            try outbox.checkRoom(for: [draft(), draft()], after: earlier)
        }
        #expect(throws: RPCStatus.self) {
            try outbox.checkRoom(for: [draft(bytes: 9_000)], after: earlier)
        }
        earlier = RecordedEvents()
        _ = outbox.finish(1)
        try outbox.checkRoom(for: [draft(), draft()], after: earlier)
    }

    @Test func `keeps a bounded number of delivered events and of those set aside`() {
        var bounds = EventOutbox.Bounds()
        bounds.delivered = 2
        bounds.setAside = 1
        bounds.deliveredSize = 2_000
        var outbox = EventOutbox(bounds)
        for id in 1...6 { outbox.add(outline(Int64(id))) }
        outbox.add(outline(7, size: 3_000))
        for id in 1...3 { _ = outbox.finish(Int64(id)) }
        #expect(outbox.delivered.map(\.id) == [2, 3] && outbox.kept("e1") == nil)
        #expect(outbox.finish(7).changes.count == 1, "a large event is not kept")
        for id in 4...5 { _ = outbox.putAside(Int64(id), reason: "why") }
        #expect(outbox.setAside.map(\.id) == [5] && outbox.kept("e5")?.reason == "why")
        #expect(outbox.bytes == 4_000 && outbox.count == 4)
        outbox.removeAll(of: 1)
        #expect(outbox.bytes == 0 && outbox.count == 0)
    }
}
