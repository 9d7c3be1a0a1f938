public import TidemarkModel

/// Serves a ``Transport`` over gRPC on a socket.
public final class GRPCServer: Sendable {
    /// - Parameter port: 0 for a free one.
    public init(_ transport: any Transport, host: String, port: Int) {
        fatalError("not written yet")
    }

    /// Serves until the task is cancelled. `ready` is told the port once calls are accepted.
    public func run(ready: @escaping @Sendable (_ port: Int) -> Void) async throws {
        fatalError("not written yet")
    }
}
