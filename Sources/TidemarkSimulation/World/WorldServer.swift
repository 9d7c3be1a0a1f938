import Foundation
import Synchronization
package import TidemarkModel
package import TidemarkServer
package import TidemarkStore
import TidemarkTesting

/// A world's server, which is stopped, killed and restarted on the same data.
// @unchecked: a world uses only one thread.
package final class WorldServer: @unchecked Sendable {
    private let time: VirtualScheduler
    private let folder: String
    private let history: Duration
    private let bits: Mutex<SeededRandom>
    private let faultSeed: UInt64
    private var process: WorldProcess?
    private var server: FirestoreServer?
    private var faulty: FaultyTransport?
    /// True if the server sends nothing, because it is killed before its answers leave.
    private var isMute = false
    private var starts = 0
    /// The number of logs that killed processes have left to their successors.
    package private(set) var logsLeft = 0

    init(_ time: VirtualScheduler, folder: String, history: Duration, seed: UInt64) throws {
        self.time = time
        self.folder = folder
        self.history = history
        bits = Mutex(SeededRandom(seed: seed))
        faultSeed = seed &+ 1
        try start()
    }

    package var isUp: Bool { server != nil }
    /// Identifies the current process; nil while there is none. A process's bill ends with it.
    package var run: Run? { isUp ? Run(number: starts) : nil }

    package struct Run: Hashable, Sendable { fileprivate let number: Int }

    /// The transport for clients, with the requested faults. Only while the server is up.
    var transport: any Transport { WorldServerDoor(self, faulty!) }

    package func order(_ rules: [FaultRule]) throws { try faulty?.order(rules) }

    package func start() throws(StoreError) {
        precondition(server == nil)
        let process = WorldProcess(on: time)
        let time = time
        let server = try FirestoreServer(
            .init(dataDirectory: folder, history: history),
            environment: ServerEnvironment(
                now: { time.now }, randomBits: { [self] in self.bits.withLock { $0.next() } },
                executor: process))
        self.process = process
        self.server = server
        faulty = FaultyTransport(server, time.faultEnvironment(seed: faultSeed))
        isMute = false
        starts += 1
    }

    /// Stops normally: finishes current work and notifies every stream.
    package func stop() {
        server?.close()
        time.runUntilIdle()
        gone()
    }

    /// Ends the server's process without warning.
    package func kill() {
        isMute = true
        // The folder belongs to the world, so an error here fails the test.
        let remains = try! WorldRemains(of: folder + "/tidemark-server.")
        gone()
        try! remains.putBack()
        logsLeft += remains.logs
    }

    /// Performs all pending work, and kills the process before its answers leave.
    package func killBeforeAnswering() {
        isMute = true
        time.runUntilIdle()
        kill()
    }

    private func gone() {
        isMute = true
        process?.kill()
        server?.abandon()
        process = nil
        server = nil
        faulty = nil
    }

    fileprivate func mayAnswer(_ door: FaultyTransport) -> Bool { !isMute && door === faulty }

    // MARK: Seen from outside

    /// Returns the bill of the current process; empty while there is none.
    package func meter(by dimensions: Set<MeterDimension>) -> [MeterDetail] {
        server?.meter(by: dimensions) ?? []
    }

    /// Returns the reads billed to a label since the start; 0 while the server is down.
    package func reads(of label: String) -> Int {
        server?.meter().first { $0.label == label }?.reads ?? 0
    }

    /// Returns the result of a query immediately, without a network. Only while the server is up,
    /// and between two steps.
    package func documents(
        _ query: Query, at time: Timestamp? = nil, in database: DatabaseID
    ) -> Result<[Document], RPCStatus> {
        let request = RunQueryRequest(query: query, consistency: time.map { .at($0) } ?? .latest)
        return replies(.runQuery(request), in: database).map { replies in
            replies.compactMap { reply in
                guard case .runQuery(let row) = reply else { return nil }
                return row.document
            }
        }
    }

    package func document(
        at path: DocumentPath, at time: Timestamp? = nil, in database: DatabaseID
    ) -> Result<Document?, RPCStatus> {
        let request = BatchGetDocumentsRequest(
            paths: [path], consistency: time.map { .at($0) } ?? .latest)
        return replies(.batchGetDocuments(request), in: database).map { replies in
            for case .batchGetDocuments(let reply) in replies {
                if case .found(let document)? = reply.row { return document }
            }
            return nil
        }
    }

    /// Commits the writes of another client, without a network.
    package func commit(
        _ mutations: [Mutation], in database: DatabaseID
    ) -> Result<Timestamp, RPCStatus> {
        replies(.commit(CommitRequest(mutations: mutations)), in: database).flatMap { replies in
            for case .commit(let reply) in replies { return .success(reply.commitTime) }
            return .failure(RPCStatus(.internal, "no reply"))
        }
    }

    private func replies(
        _ request: Request, in database: DatabaseID
    ) -> Result<[Reply], RPCStatus> {
        guard let server else { return .failure(.lost) }
        let state = Mutex<(replies: [Reply], end: RPCStatus?)>(([], nil))
        _ = server.call(request, CallContext(database: database)) { event in
            state.withLock { state in
                switch event {
                case .message(let reply): state.replies.append(reply)
                case .ended(let status): state.end = status
                }
            }
        }
        time.runUntilIdle()
        return state.withLock { state in
            guard let end = state.end else {
                return .failure(RPCStatus(.deadlineExceeded, "it waits for something"))
            }
            return end.code == .ok ? .success(state.replies) : .failure(end)
        }
    }
}

/// Stops messages of an ended server process from reaching clients that still listen.
// @unchecked: a world uses only one thread.
private final class WorldServerDoor: Transport, @unchecked Sendable {
    private let server: WorldServer
    private let inner: FaultyTransport

    init(_ server: WorldServer, _ inner: FaultyTransport) {
        self.server = server
        self.inner = inner
    }

    private func gate<T>(
        _ receive: @escaping @Sendable (StreamEvent<T>) -> Void
    ) -> @Sendable (StreamEvent<T>) -> Void {
        { [weak server, weak inner] event in
            guard let server, let inner, server.mayAnswer(inner) else { return }
            receive(event)
        }
    }

    func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall { inner.call(request, context, receive: gate(receive)) }

    func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> { inner.listen(context, receive: gate(receive)) }

    func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> { inner.write(context, receive: gate(receive)) }
}
