public import TidemarkModel
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import SwiftProtobuf

/// A Firestore at the other end of a network, over gRPC.
public final class GRPCTransport: Sendable {
    public struct Endpoint: Hashable, Sendable {
        public var host: String
        public var port: Int
        public var usesTLS: Bool

        public init(host: String, port: Int, usesTLS: Bool) {
            self.host = host
            self.port = port
            self.usesTLS = usesTLS
        }
    }

    /// Connects on the first call, and again when the connection is lost.
    public init(_ endpoint: Endpoint) { fatalError("not written yet") }

    /// Bytes sent and received since the start, as framed messages.
    public var traffic: (sent: Int, received: Int) { fatalError("not written yet") }

    /// Ends every call and closes the connection.
    public func close() async { fatalError("not written yet") }
}

extension GRPCTransport: Transport {
    public func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall { fatalError("not written yet") }

    public func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> { fatalError("not written yet") }

    public func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> { fatalError("not written yet") }
}
