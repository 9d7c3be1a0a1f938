import TidemarkModel
import TidemarkServer
import TidemarkWire

/// A ``LocalFirestore`` on a port of this machine, until ``close()``.
///
/// The socket runs on a separate thread, even while tests use all threads of Swift's tasks.
public final class LocalSocket: Sendable {
    public let port: Int
    /// The address in the form of `FIRESTORE_EMULATOR_HOST` and `FirestoreSettings.host`.
    public var host: String { "127.0.0.1:\(port)" }
    private let serving: Task<RPCStatus?, Never>

    init(
        _ server: FirestoreServer, port: Int, callers: (any CallerGate)?
    ) async throws(RPCStatus) {
        let (events, sink) = AsyncStream.makeStream(of: Result<Int, RPCStatus>.self)
        let thread = ServingThread("tidemark.local.socket")
        let grpc = GRPCServer(
            server, host: "127.0.0.1", port: port, access: callers, executor: thread)
        serving = Task(executorPreference: thread) {
            do {
                try await grpc.run { sink.yield(.success($0)) }
                return nil
            } catch {
                let status = error as? RPCStatus ?? RPCStatus(.unavailable, "\(error)")
                sink.yield(.failure(status))
                return status
            }
        }
        var first: Result<Int, RPCStatus>?
        for await event in events {
            first = event
            break
        }
        guard let first else { throw RPCStatus(.cancelled, "Cancelled before it was open.") }
        self.port = try first.get()
    }

    /// Ends the streams with `unavailable` and closes the port. Running calls have 2 s to end.
    public func close() async {
        serving.cancel()
        _ = await serving.value
    }
}
