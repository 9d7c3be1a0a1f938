import Testing
import TidemarkTesting
import Tidemark
@testable import TidemarkApp
import TidemarkServer

/// Failures that the World's histories found, each reduced to a minimum.
struct `What histories of feeds found` {
    private static let all = QueryValue(collection: CollectionPath(unchecked: "messages"))

    private let world: FeedSpecWorld
    private let phone: FeedSpecDevice

    init() throws {
        let definition = try ParsedDefinition(
            Self.all, itemTime: "createdAt", way: .audit(version: "version"), pageSize: 2)
        world = try FeedSpecWorld(definition, devices: ["phone"])
        phone = world.devices["phone"]!
    }

    private func message(_ id: String, age: Int64) -> Mutation {
        let time = world.time.now.advanced(by: .seconds(-age))
        return Mutation(
            path: path(id),
            .set(["createdAt": .timestamp(time), "version": .integer(1_000 + age)]))
    }

    private func path(_ id: String) -> DocumentPath { DocumentPath(unchecked: "messages/" + id) }

    private func write(_ mutations: [Mutation]) {
        phone.engine?.write(mutations) { _ in }
        world.time.advance(by: .seconds(1))
    }

    private func sync() throws { _ = try phone.call { .sync($0) } }

    @Test func `what the device deleted itself goes with the next sync`() throws {
        defer { world.end() }
        try world.commit([message("a", age: 9), message("b", age: 8)])
        try sync()
        #expect(phone.shown == ["b", "a"])
        write([Mutation(path: path("b"), .delete)])
        try sync()
        #expect(phone.shown == ["a"])
    }

    @Test func `what a listener brought to the cache is shown after a sync that finds it there`()
        throws
    {
        defer { world.end() }
        try world.commit([message("a", age: 9), message("c", age: 5)])
        try sync()
        let listener = phone.engine?.listen(Self.all) { _ in }
        world.time.advance(by: .seconds(1))
        // Adds a message behind the newest one, and deletes another. The counts agree, because the
        // cache has both changes.
        try world.commit([message("b", age: 7), Mutation(path: path("a"), .delete)])
        world.time.advance(by: .seconds(1))
        try sync()
        #expect(phone.shown == ["c", "b"])
        listener?.cancel()
    }

    @Test func `more than is remembered, brought by others, is shown too`() throws {
        defer { world.end() }
        try sync()
        let listener = phone.engine?.listen(Self.all) { _ in }
        let many = (0..<600).map { message("m\($0)", age: Int64($0)) }
        try world.commit(Array(many.prefix(300)))
        try world.commit(Array(many.suffix(300)))
        world.time.advance(by: .seconds(1))
        _ = try phone.call { .loadMore(1_000, $0) }
        try sync()
        #expect(phone.shown.count == 600)
        listener?.cancel()
    }

    @Test func `a document of the device's own goes when a complete read lacks it`() throws {
        defer { world.end() }
        write([message("mine", age: 9)])
        try world.commit([Mutation(path: path("mine"), .delete), message("b", age: 8)])
        try sync()
        #expect(phone.shown == ["b"])
        #expect(phone.machine.shown.unreadCount == 1)
    }

    @Test func `what a feed shows is not collected under it`() throws {
        defer { world.end() }
        write([message("mine", age: 9)])
        _ = try phone.call { .open($0) }
        #expect(phone.shown == ["mine"])
        phone.engine?.collectGarbage(limit: 0, percent: 100) { _ in }
        world.time.runUntilIdle()
        try world.commit([Mutation(path: path("mine"), .delete)])
        try sync()
        #expect(phone.shown.isEmpty)
    }

    @Test func `a sync that failed beside a listener is tried again`() throws {
        defer { world.end() }
        try world.commit([message("a", age: 9)])
        phone.live(true)
        world.time.advance(by: .seconds(5))
        phone.link.failNext(.init(rows: 0, status: RPCStatus(.permissionDenied, "not now")))
        #expect(
            try phone.call { .sync($0) } == .failed(FirestoreError(.permissionDenied, "not now")))
        world.time.advance(by: .seconds(5))
        guard case .fresh = phone.machine.shown.phase else {
            Issue.record("the phase is \(phone.machine.shown.phase)")
            return
        }
    }
}
