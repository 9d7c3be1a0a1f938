import Synchronization
import TidemarkFiles
import TidemarkHTTP
import TidemarkObjects
import TidemarkServer
import TidemarkTesting

/// Storage for one use of an app, in this process. A gate before it plays the network and counts
/// the bytes.
final class PhotoStorage: Sendable {
    static let bucket = "demo.firebasestorage.app"

    /// A number that the gate counts up.
    private final class Count: Sendable {
        private let number = Mutex(0)
        /// Each number, for a single reader.
        let changes = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        var value: Int { number.withLock { $0 } }

        func add(_ more: Int) {
            let now = number.withLock { number in
                number += more
                return number
            }
            changes.continuation.yield(now)
        }
    }

    /// The gate's port.
    let port: Int
    private let server: ObjectsServer
    private let serving: Task<Void, any Error>
    private let gate: NetworkGate
    private let count: Count

    init(_ network: NetworkProfile) async throws {
        let server = try ObjectsServer(dataDirectory: nil, project: DemoPlace.project, gate: nil)
        let (ports, input) = AsyncStream.makeStream(of: Int.self)
        let thread = ServingThread("tidemark.demo.storage")
        let serving = Task(executorPreference: thread) {
            defer { input.finish() }
            try await server.run(host: "127.0.0.1", port: 0) { input.yield($0) }
        }
        guard let upstream = await ports.first(where: { _ in true }) else {
            throw ServerProcessError.didNotStart
        }
        let count = Count()
        let gate = NetworkGate(host: "127.0.0.1", port: 0) { count.add($0) }
        port = try await gate.open(to: upstream, network)
        (self.server, self.serving, self.gate, self.count) = (server, serving, gate, count)
    }

    /// The number of bytes that have passed, in both directions.
    var bytes: Int { count.value }

    /// Returns when this number of bytes more has passed, or when the task is cancelled.
    func untilMore(_ bytes: Int) async {
        let end = count.value + bytes
        for await now in count.changes.stream where now >= end { return }
    }

    /// Changes the network, also for open connections.
    func play(_ network: NetworkProfile) async throws { try await gate.play(network) }

    /// Returns the bytes of all objects, by name.
    func objects() async throws -> [String: [UInt8]] {
        guard try await server.bucketNames().contains(Self.bucket) else { return [:] }
        var found: [String: [UInt8]] = [:]
        for object in try await server.page(ObjectListing(bucket: Self.bucket)).objects {
            found[object.path.name] = Array(
                try await server.bytes(of: object.path, upTo: 16 << 20).bytes)
        }
        return found
    }

    func close() async {
        await gate.close()
        serving.cancel()
        _ = await serving.result
        server.close()
    }
}

extension FileSettings {
    /// The settings of the demo's app, which sends one photo after the other on a phone's network.
    init(storagePort port: Int) {
        self.init(bucket: PhotoStorage.bucket)
        address = "http://127.0.0.1:\(port)"
        smallFilesAtOnce = 1
    }
}
