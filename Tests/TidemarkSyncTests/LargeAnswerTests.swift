import Synchronization
import Testing
import TestSupport
import TidemarkModel
import TidemarkTesting

@testable import TidemarkSync

/// Reads that last longer than a call may be silent, in virtual time.
@Suite(.ownThread) struct `A large answer` {
    private func engine(_ line: SlowLine) throws -> SyncEngine {
        let scheduler = line.scheduler
        let engine = try SyncEngine(
            SyncEngine.Configuration(database: Harness.database, cacheFile: nil),
            SyncEnvironment(
                transport: line, scheduler: scheduler, now: { scheduler.now }, random: { 0.5 }))
        scheduler.runUntilIdle()
        return engine
    }

    /// 20 MB, at the size of the documents that are sent.
    private static let rows = 40_000

    @Test func `arrives over a slow line that is cut three times`() throws {
        let line = SlowLine(rows: Self.rows, cutAfter: [3_000, 11_000, 17_777])
        let engine = try engine(line)
        let result = Events<Result<ReadResult, SyncError>>()
        engine.read(rooms(), source: .server, deadline: nil) { result.record($0) }
        line.scheduler.advance(by: .seconds(90))
        #expect(result.all.isEmpty)
        // The rows that arrived are in the cache before the read ends.
        let early = Events<Result<ReadResult, SyncError>>()
        engine.read(rooms(), source: .cache, deadline: nil) { early.record($0) }
        line.scheduler.runUntilIdle()
        #expect(try early.all[0].get().documents.count > 10_000)
        line.scheduler.advance(by: .seconds(60))
        let answer = try #require(result.all.first).get()
        #expect(answer.documents.map(\.path) == (0..<Self.rows).map(SlowLine.path))
        #expect(answer.freshness == .fresh(readTime: SlowLine.readTime))
        #expect(line.sent == Self.rows)
        #expect(line.starts == [0, 3_000, 14_000, 31_777])
    }

    @Test func `is over when the server is silent, and what came is kept`() throws {
        let line = SlowLine(rows: 1_000, silentAfter: 500)
        let engine = try engine(line)
        let result = Events<Result<ReadResult, SyncError>>()
        engine.read(rooms(), source: .server, deadline: nil) { result.record($0) }
        line.scheduler.advance(by: .seconds(59))
        #expect(result.all.isEmpty && line.starts == [0])
        // The read had made progress before the silence. It starts once more, after the last row.
        line.scheduler.advance(by: .seconds(10))
        #expect(line.starts == [0, 500])
        line.scheduler.advance(by: .seconds(60))
        guard case .failure(.server(let status))? = result.all.first else {
            Issue.record("\(result.all)")
            return
        }
        #expect(status.code == .deadlineExceeded)
        let cached = Events<Result<ReadResult, SyncError>>()
        engine.read(rooms(), source: .cache, deadline: nil) { cached.record($0) }
        line.scheduler.runUntilIdle()
        #expect(try cached.all[0].get().documents.count == 500)
    }

    @Test func `is over at its caller's deadline, whatever comes`() throws {
        let line = SlowLine(rows: Self.rows)
        let engine = try engine(line)
        let result = Events<Result<ReadResult, SyncError>>()
        engine.read(rooms(), source: .server, deadline: .seconds(30)) { result.record($0) }
        line.scheduler.advance(by: .seconds(29))
        #expect(result.all.isEmpty)
        line.scheduler.advance(by: .seconds(2))
        guard case .failure(.server(let status))? = result.all.first else {
            Issue.record("\(result.all.count)")
            return
        }
        #expect(status.code == .deadlineExceeded)
    }

    @Test func `forgets what is no row any more at its end only`() throws {
        let world = try Harness()
        let old = world.read(rooms())
        let row = { (number: Int, time: Int64) in
            Reply.runQuery(
                RunQueryReply(document: doc("rooms/\(1_000 + number)", 10), readTime: at(time)))
        }
        for number in 0..<700 { world.transport.calls[0].reply(row(number, 20), ends: false) }
        world.transport.calls[0].end()
        world.run()
        #expect(try old.all[0].get().documents.count == 700)

        // Every second document is missing now, and the read fails after some parts.
        _ = world.read(rooms(), source: .server)
        for number in stride(from: 0, to: 600, by: 2) {
            world.transport.calls[1].reply(row(number, 30), ends: false)
        }
        world.run()
        world.transport.calls[1].end(RPCStatus(.permissionDenied, "no"))
        world.run()
        #expect(try world.read(rooms(), source: .cache).all[0].get().documents.count == 700)

        let read = world.read(rooms(), source: .server)
        for number in stride(from: 0, to: 700, by: 2) {
            world.transport.calls[2].reply(row(number, 40), ends: false)
        }
        world.transport.calls[2].end()
        world.run()
        #expect(try read.all[0].get().documents.count == 350)
        let cached = try world.read(rooms(), source: .cache).all[0].get()
        #expect(
            cached.ids == stride(from: 0, to: 700, by: 2).map { String(1_000 + $0) })
    }

    @Test func `is not fresh where the server forgot its time, and has all rows that came`() throws
    {
        let world = try Harness()
        let read = world.read(rooms(), source: .server)
        let row = { (number: Int, time: Int64) in
            Reply.runQuery(
                RunQueryReply(document: doc("rooms/\(1_000 + number)", 10), readTime: at(time)))
        }
        for number in 0..<300 { world.transport.calls[0].reply(row(number, 20), ends: false) }
        world.transport.calls[0].end(RPCStatus(.unavailable, "cut"))
        world.scheduler.advance(by: .seconds(1))
        world.transport.calls[1].end(
            RPCStatus(.invalidArgument, "The requested snapshot version is too old."))
        world.run()
        for number in 300..<310 { world.transport.calls[2].reply(row(number, 30), ends: false) }
        world.transport.calls[2].end()
        world.run()
        let times = world.transport.calls.map { call -> ReadConsistency? in
            guard case .runQuery(let request) = call.request else { return nil }
            return request.consistency
        }
        #expect(times == [.latest, .at(at(20)), .latest])
        let result = try #require(read.all.first).get()
        #expect(result.documents.count == 310)
        guard case .stale(_, .failed(let status)) = result.freshness else {
            Issue.record("\(result.freshness)")
            return
        }
        #expect(status.code == .aborted)
    }

    @Test func `stores a fetch's records with its last rows`() throws {
        let world = try Harness()
        let row = { (number: Int) in
            Reply.runQuery(
                RunQueryReply(document: doc("rooms/\(1_000 + number)", 10), readTime: at(20)))
        }
        let done = Events<Result<ReadResult, SyncError>>()
        let record = {
            let found = Events<Result<[UInt8]?, SyncError>>()
            world.engine.record(forKey: "k") { found.record($0) }
            world.run()
            return try found.all[0].get()
        }
        let fetch = {
            world.engine.fetch(rooms(), deadline: nil) { documents, _ in
                ["k": [UInt8(documents.count / 2)]]
            } completion: {
                done.record($0)
            }
            world.run()
        }
        fetch()
        for number in 0..<300 { world.transport.calls[0].reply(row(number), ends: false) }
        world.run()
        #expect(try world.read(rooms(), source: .cache).all[0].get().documents.count == 200)
        #expect(try record() == nil)
        world.transport.calls[0].end(RPCStatus(.permissionDenied, "no"))
        world.run()
        #expect(try record() == nil)
        fetch()
        for number in 0..<300 { world.transport.calls[1].reply(row(number), ends: false) }
        world.transport.calls[1].end()
        world.run()
        #expect(try record() == [150])
        #expect(try done.all[1].get().documents.count == 300)
    }

    @Test func `makes a pause while the engine has much to take in`() {
        let call = PausedCall()
        let flowControl = ReplyFlowControl()
        let event = StreamEvent<Reply>.message(
            .runQuery(
                RunQueryReply(
                    document: doc(
                        "rooms/a", 10, ["t": .string(String(repeating: "x", count: 9_000))]))))
        for _ in 0..<200 { flowControl.received(event) }
        // Events that arrive before the call is attached count too.
        flowControl.attach(call)
        #expect(call.log == ["pause"])
        for _ in 0..<100 { flowControl.processed(event) }
        #expect(call.log == ["pause"])
        for _ in 0..<100 { flowControl.processed(event) }
        #expect(call.log == ["pause", "resume"])
        for _ in 0..<50 { flowControl.received(event) }
        for _ in 0..<50 { flowControl.processed(event) }
        #expect(call.log == ["pause", "resume"])
    }
}

private final class PausedCall: CancellableCall {
    private let calls = Mutex<[String]>([])
    var log: [String] { calls.withLock { $0 } }
    func cancel() {}
    func pause() { calls.withLock { $0.append("pause") } }
    func resume() { calls.withLock { $0.append("resume") } }
}

/// A server of one collection behind a line of 1.6 Mbit/s. It sends documents of 500 bytes in the
/// order of their names, starting at the cursor. It breaks or becomes silent where the test says
/// so.
private final class SlowLine: CallsOnlyTransport {
    static let readTime = at(77)
    private static let size = 500
    private static let bytesPerSecond = 200_000
    private static let atOnce = 20

    private struct State {
        var cutAfter: [Int]
        var sent = 0
        var starts: [Int] = []
    }

    let scheduler = VirtualScheduler()
    private let rows: Int
    private let silentAfter: Int
    private let state: Mutex<State>

    /// - Parameter cutAfter: The number of rows that each connection carries before it breaks.
    ///   Later connections do not break.
    init(rows: Int, cutAfter: [Int] = [], silentAfter: Int = .max) {
        self.rows = rows
        self.silentAfter = silentAfter
        state = Mutex(State(cutAfter: cutAfter))
    }

    /// The number of rows sent, including repeated ones.
    var sent: Int { state.withLock { $0.sent } }
    /// The number of the first row of each call.
    var starts: [Int] { state.withLock { $0.starts } }

    static func path(_ number: Int) -> DocumentPath {
        DocumentPath(unchecked: "rooms/\(100_000 + number)")
    }

    private final class Call: CancellableCall {
        let isOver = Mutex(false)
        func cancel() { isOver.withLock { $0 = true } }
    }

    func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        let call = Call()
        guard case .runQuery(let request) = request else { fatalError("a query") }
        var first = 0
        if case .reference(let name)? = request.query.start?.values.last {
            first = Int(name.path.id)! - 100_000 + 1
            precondition(request.consistency == .at(Self.readTime))
        }
        let end = state.withLock { state in
            state.starts.append(first)
            return state.cutAfter.isEmpty ? nil : first + state.cutAfter.removeFirst()
        }
        send(first, upTo: end, call, receive)
        return call
    }

    private func send(
        _ first: Int, upTo end: Int?, _ call: Call,
        _ receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) {
        let last = min(rows, end ?? rows, silentAfter, first + Self.atOnce)
        let time = Duration.seconds(
            Double(max(1, last - first) * Self.size) / Double(Self.bytesPerSecond))
        _ = scheduler.schedule(after: time) { [self] in
            if call.isOver.withLock({ $0 }) { return }
            for number in first..<max(first, last) {
                state.withLock { $0.sent += 1 }
                let document = Document(
                    path: Self.path(number),
                    fields: ["text": .string(String(repeating: "x", count: Self.size - 40))],
                    createTime: at(1), updateTime: at(2))
                receive(
                    .message(
                        .runQuery(RunQueryReply(document: document, readTime: Self.readTime))))
            }
            if last == rows { return receive(.ended(.ok)) }
            if last == end { return receive(.ended(RPCStatus(.unavailable, "cut"))) }
            if last < silentAfter { send(last, upTo: end, call, receive) }
        }
    }
}
