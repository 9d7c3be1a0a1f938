import Foundation
import Synchronization
import Testing
import TestSupport
import TidemarkModel
import TidemarkServer
import TidemarkSimulation
import TidemarkStore
import TidemarkTesting

@testable import TidemarkSync

/// An engine and a server, both with files, and all the faults between them. Every batch creates
/// its own document and adds one to a counter.
private final class World {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidemark-\(UUID().uuidString)").path
    private let cache = TemporaryFile()
    private let clientTime = VirtualScheduler()
    private let serverTime = VirtualScheduler()
    private let chance = Mutex<SplitMix64>(SplitMix64(state: 7))
    let network: ServerNetwork
    private var engine: SyncEngine?
    /// The number of batches that were ever stored in the queue.
    private(set) var journalled = 0

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        network = ServerNetwork(try Self.server(folder, serverTime, chance: 1))
        try startClient()
    }

    deinit {
        network.server.close()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static func server(
        _ folder: String, _ time: VirtualScheduler, chance: UInt64
    ) throws -> FirestoreServer {
        let bits = Mutex(SplitMix64(state: chance))
        return try FirestoreServer(
            FirestoreServer.Configuration(dataDirectory: folder),
            environment: ServerEnvironment(
                now: { time.now }, randomBits: { bits.withLock { $0.next() } },
                executor: ServerThread(time: time)))
    }

    private func startClient() throws {
        engine = try SyncEngine(
            .init(database: Harness.database, cacheFile: cache.path, label: nil),
            SyncEnvironment(
                transport: network, scheduler: clientTime, now: { [clientTime] in clientTime.now },
                random: { 0.5 }))
        clientTime.runUntilIdle()
    }

    // MARK: What happens

    func write() {
        let mutations = [set("log/\(journalled)", [:]), Self.increment]
        let events = Events<SyncEngine.WriteEvent>()
        engine?.write(mutations) { events.record($0) }
        clientTime.runUntilIdle()
        #expect(events.all.first == .journalled(batch: events.batch ?? 0))
        journalled += 1
    }

    /// Writes a batch that the server refuses.
    func writeBadly() {
        let bad = Mutation(path: path("none/none"), .set([:]), precondition: .exists(true))
        engine?.write([Self.increment, bad]) { _ in }
        clientTime.runUntilIdle()
    }

    private static let increment = Mutation(
        path: path("state/counter"), .patch([:], mask: []),
        transforms: [FieldTransform(field("n"), .increment(.integer(1)))])

    var wire: WriteWire? { network.wires.last }

    func runServer() { serverTime.runUntilIdle() }

    func runClient(for duration: Duration = .zero) { clientTime.advance(by: duration) }

    func cut(atServer: Bool) {
        wire?.cut()
        if atServer { wire?.cutAtServer() }
        runClient()
    }

    func killClient() throws {
        wire?.silence()
        engine = nil
        try startClient()
    }

    func killServer() throws {
        for wire in network.wires { wire.loseServer() }
        network.server.close()
        network.server = try Self.server(
            folder, serverTime, chance: chance.withLock { $0.next() })
        wire?.cut()
        runClient()
    }

    /// Delivers all messages and runs both sides, one round trip.
    func exchange() {
        wire?.deliver()
        runServer()
        wire?.answer()
        runClient()
    }

    /// Exchanges messages until the queue is empty.
    func settle() {
        let done = Events<SyncError?>()
        engine?.waitForPendingWrites { done.record($0) }
        runClient()
        for _ in 0..<1_000 where done.all.isEmpty {
            exchange()
            runClient(for: .seconds(1))
        }
        #expect(done.all == [nil], "the queue does not empty")
    }

    // MARK: What came of it

    func counter() throws -> Value? {
        let request = GetDocumentRequest(path: path("state/counter"))
        for case .document(let document) in try replies(.getDocument(request)) {
            return document.fields["n"]
        }
        return nil
    }

    func documents() throws -> [Document] {
        let request = RunQueryRequest(query: Query(collectionID: "log"))
        return try replies(.runQuery(request)).compactMap {
            if case .runQuery(let reply) = $0 { reply.document } else { nil }
        }
    }

    private func replies(_ request: Request) throws -> [Reply] {
        let events = Events<StreamEvent<Reply>>()
        _ = network.server.call(request, CallContext(database: Harness.database)) {
            events.record($0)
        }
        runServer()
        return events.all.compactMap { if case .message(let reply) = $0 { reply } else { nil } }
    }

    func expectEachOnce(_ comment: Comment? = nil) throws {
        #expect(try counter() == .integer(Int64(journalled)), comment)
        let documents = try documents()
        #expect(documents.count == journalled, comment)
        #expect(documents.allSatisfy { $0.createTime == $0.updateTime }, comment)
    }
}

extension Events<SyncEngine.WriteEvent> {
    fileprivate var batch: Int64? {
        if case .journalled(let batch)? = all.first { batch } else { nil }
    }
}

private struct SplitMix64: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

@Suite(.ownThread) struct WriteOnceTests {
    /// Returns a world with a committed batch whose response is on its way.
    private func committed() throws -> World {
        let world = try World()
        world.exchange()
        world.write()
        world.exchange()
        world.wire?.deliver()
        world.runServer()
        #expect(try world.counter() == .integer(1))
        return world
    }

    @Test(arguments: [true, false])
    func `the answer is lost with the connection`(atServer: Bool) throws {
        let world = try committed()
        world.cut(atServer: atServer)
        world.settle()
        try world.expectEachOnce()
    }

    @Test func `the answer is lost with the client`() throws {
        let world = try committed()
        try world.killClient()
        world.settle()
        try world.expectEachOnce()
    }

    @Test func `the answer is lost with the server, and then the client`() throws {
        let world = try committed()
        try world.killServer()
        try world.killClient()
        world.settle()
        try world.expectEachOnce()
    }

    @Test func `what a dead connection still brings is not applied`() throws {
        let world = try World()
        world.write()
        world.exchange()
        // The batch is on its way when the client dies. It arrives after the next client has sent
        // it again.
        let old = try #require(world.wire)
        try world.killClient()
        world.exchange()
        old.deliver()
        world.settle()
        try world.expectEachOnce()
    }

    @Test(arguments: UInt64(0)..<100)
    func `whatever is cut and killed, every batch is applied once`(seed: UInt64) throws {
        var dice = SplitMix64(state: seed)
        let world = try World()
        for _ in 0..<40 {
            let count = Int.random(in: 0...3, using: &dice)
            switch Int.random(in: 0..<20, using: &dice) {
            case 0...4: world.write()
            case 5: world.writeBadly()
            case 6...8: world.wire?.deliver(count)
            case 9...10: world.runServer()
            case 11...12:
                world.wire?.answer(count)
                world.runClient()
            case 13: world.exchange()
            case 14: world.cut(atServer: count > 1)
            case 15: try world.killClient()
            case 16 where count == 0: try world.killServer()
            case 17: world.network.wires.randomElement(using: &dice)?.deliver(count)
            default: world.runClient(for: .seconds(count))
            }
        }
        world.settle()
        try world.expectEachOnce("seed \(seed)")
    }
}
