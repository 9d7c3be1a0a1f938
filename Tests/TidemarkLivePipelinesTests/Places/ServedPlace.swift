import Dispatch
import Synchronization
import Tidemark
import TidemarkServer
import TidemarkTesting
import TidemarkWire

/// A server of the Enterprise edition behind a socket, and a client.
final class ServedPlace: Sendable {
    let client: Firestore
    private let server: FirestoreServer
    private let serving: Task<Void, Never>

    /// - Parameter around: Runs each of the server's jobs, with what a test plants.
    init(around: @escaping ServedQueue.Around = { $0() }) async throws {
        var configuration = FirestoreServer.Configuration()
        configuration.editions = DatabaseEditions(.enterprise)
        let bits = Mutex(SeededRandom(seed: 1))
        let server = try FirestoreServer(
            configuration,
            environment: ServerEnvironment(
                now: { Timestamp(seconds: 1_700_000_000, nanoseconds: 0) },
                randomBits: { bits.withLock { $0.next() } }, executor: ServedQueue(around)))
        self.server = server
        let thread = ServingThread("tidemark.place.socket")
        let socket = GRPCServer(server, host: "127.0.0.1", port: 0, executor: thread)
        let (ports, sink) = AsyncStream.makeStream(of: Int.self)
        serving = Task(executorPreference: thread) {
            try? await socket.run { sink.yield($0) }
            sink.finish()
        }
        var first: Int?
        for await port in ports {
            first = port
            break
        }
        guard let port = first else { throw RPCStatus(.unavailable, "The port did not open.") }
        client = try Firestore(
            projectID: PlaceRounds.database.project,
            settings: FirestoreSettings(
                host: "127.0.0.1:\(port)", isSSLEnabled: false, cache: .memory))
    }

    func end() async {
        await client.terminate()
        serving.cancel()
        await serving.value
        server.close()
    }

    /// Writes all documents anew.
    ///
    /// - Returns: The documents as they are stored.
    func fill(_ documents: [Document]) async throws -> [Document] {
        let new = Set(documents.map(\.path))
        let gone = try await stored().map(\.path).filter { !new.contains($0) }
        let mutations =
            documents.map { Mutation(path: $0.path, .set($0.fields)) }
            + gone.map { Mutation(path: $0, .delete) }
        _ = try await replies(.commit(CommitRequest(mutations: mutations)))
        return try await stored()
    }

    private func stored() async throws -> [Document] {
        let all = QueryValue(collectionID: nil, allDescendants: true)
        return try await replies(.runQuery(RunQueryRequest(query: all))).compactMap { reply in
            if case .runQuery(let row) = reply { row.document } else { nil }
        }
    }

    private func replies(_ request: Request) async throws -> [Reply] {
        try await server.replies(to: request, CallContext(database: PlaceRounds.database))
    }
}

/// A server's queue, each of whose jobs runs inside a function of the test.
final class ServedQueue: ServerExecutor {
    typealias Around = @Sendable (_ job: () -> Void) -> Void

    private let queue = DispatchQueue(label: "tidemark.place.server")
    private let isInside = DispatchSpecificKey<Bool>()
    private let around: Around
    private let start = ContinuousClock.now

    init(_ around: @escaping Around) {
        self.around = around
        queue.setSpecific(key: isInside, value: true)
    }

    var uptime: Duration { ContinuousClock.now - start }

    func after(_ delay: Duration, _ job: @escaping @Sendable () -> Void) {
        let milliseconds = Int(delay / .milliseconds(1))
        queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds + 1)) { [around] in
            around(job)
        }
    }

    func async(_ job: @escaping @Sendable () -> Void) {
        queue.async { [around] in around(job) }
    }

    func sync(_ job: @Sendable () -> Void) {
        if DispatchQueue.getSpecific(key: isInside) == true { return job() }
        queue.sync { around(job) }
    }
}
