import Synchronization
import Testing
import TidemarkModel
import TidemarkServer
import TidemarkTesting

@testable import TidemarkSync

/// A client, a server, and faults of every kind between them. After the faults end, the client must
/// show what the server holds, and each write must have been applied exactly once.
private final class FaultyWorld {
    let time = VirtualScheduler()
    let server: FirestoreServer
    let transport: FaultyTransport
    let engine: SyncEngine
    private(set) var journalled: Int64 = 0
    private var listener: (any CancellableCall)?
    private let shown = Events<ViewSnapshot>()

    init(seed: UInt64) throws {
        let bits = Mutex(SeededRandom(seed: seed))
        let time = time
        server = try FirestoreServer(
            .init(),
            environment: ServerEnvironment(
                now: { time.now }, randomBits: { bits.withLock { $0.next() } },
                executor: ServerThread(time: time)))
        transport = FaultyTransport(server, time.faultEnvironment(seed: seed))
        let dice = time.faultEnvironment(seed: seed &+ 1).random
        engine = try SyncEngine(
            .init(database: Harness.database, cacheFile: nil),
            SyncEnvironment(
                transport: transport, scheduler: time, now: { time.now }, random: dice))
    }

    /// The newest snapshot.
    var snapshot: ViewSnapshot? { shown.all.last }

    func listen() {
        listener = engine.listen(rooms()) { [shown] event in
            if case .success(let snapshot) = event { shown.record(snapshot) }
        }
        time.runUntilIdle()
    }

    /// Adds one to a counter, which the server must apply exactly once.
    func count() {
        engine.write([
            Mutation(
                path: path("state/counter"), .patch([:], mask: []),
                transforms: [FieldTransform(field("n"), .increment(.integer(1)))])
        ]) { _ in }
        time.runUntilIdle()
        journalled += 1
    }

    /// Writes as another client, without faults.
    func commit(_ mutation: Mutation) {
        let request = CommitRequest(mutations: [mutation])
        _ = server.call(.commit(request), CallContext(database: Harness.database)) { _ in }
        time.runUntilIdle()
    }

    func documents(_ query: Query) -> [Document] {
        let rows = Mutex<[Document]>([])
        let request = Request.runQuery(RunQueryRequest(query: query))
        _ = server.call(request, CallContext(database: Harness.database)) { event in
            guard case .message(.runQuery(let reply)) = event, let document = reply.document else {
                return
            }
            rows.withLock { $0.append(document) }
        }
        time.runUntilIdle()
        return rows.withLock { $0 }
    }
}

struct FaultConvergenceTests {
    /// Silence is not in the list: on a stream it ends only with the connection, and this test has
    /// no connections.
    private static let faults = [
        "rpc=Listen,share=0.4,reset", "rpc=Listen,share=0.4,reset=2,duplicate",
        "rpc=Listen,share=0.5,false-filter=2", "rpc=Listen,share=0.5,drop-tokens",
        "rpc=Listen,share=0.5,delay-current=3s", "rpc=Listen,share=0.4,cut=before:4",
        "rpc=Listen,share=0.3,cut=after:7", "rpc=Listen,share=0.3,duplicate,jitter=1s,latency=1s",
        "rpc=Write,share=0.4,lose-response", "rpc=Write,share=0.3,cut=before:3",
        "share=0.2,error=UNAVAILABLE", "share=0.3,latency=400ms,jitter=400ms",
        "rpc=BatchGetDocuments,share=0.5,error=DEADLINE_EXCEEDED",
    ]

    @Test(arguments: UInt64(0)..<40)
    func `a client converges once the faults are over, and writes once`(seed: UInt64) throws {
        var dice = SeededRandom(seed: seed)
        let world = try FaultyWorld(seed: seed)
        // Every run has the first fault, and a random choice of the others.
        let faults =
            ["rpc=Listen,nth=1,reset=2,cut=after:30"]
            + Self.faults.shuffled(using: &dice).prefix(4)
        try world.transport.order(try faults.map { try FaultRule($0) })
        world.listen()
        for _ in 0..<60 {
            let name = "rooms/\(Int.random(in: 0..<8, using: &dice))"
            switch Int.random(in: 0..<10, using: &dice) {
            case 0..<4: world.commit(set(name, ["n": .integer(.random(in: 0..<100, using: &dice))]))
            case 4..<6: world.commit(Mutation(path: path(name), .delete))
            case 6..<8: world.count()
            default: break
            }
            world.time.advance(by: .milliseconds(.random(in: 0..<4_000, using: &dice)))
        }
        #expect(world.transport.entries.contains { $0.applied > 0 })
        try world.transport.order([FaultRule]())
        world.time.advance(by: .seconds(600))
        let held = world.documents(rooms())
        let snapshot = try #require(world.snapshot)
        #expect(snapshot.ids == held.map(\.path.id), "seed \(seed)")
        for document in held {
            #expect(snapshot.fields(document.path.text) == document.fields, "seed \(seed)")
        }
        #expect(!snapshot.isFromCache)
        let counter = world.documents(Query(collectionID: "state")).first?.fields["n"]
        #expect(counter == (world.journalled > 0 ? .integer(world.journalled) : nil))
    }
}
