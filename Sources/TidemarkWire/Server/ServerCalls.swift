import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Synchronization
import TidemarkModel

typealias ServerTransportInbound = HTTP2ServerTransport.Posix.Inbound
typealias ServerRPCStream = RPCStream<ServerTransportInbound, HTTP2ServerTransport.Posix.Outbound>

/// Carries calls from the socket to a transport and its answers back.
struct ServerCalls: Sendable {
    let transport: any Transport
    let streams: OpenStreams
    let desk: CallDesk

    init(_ transport: any Transport, _ streams: OpenStreams, _ desk: CallDesk) {
        self.transport = transport
        self.streams = streams
        self.desk = desk
    }

    func handle(_ stream: ServerRPCStream, _ context: ServerContext) async {
        guard context.descriptor.service.fullyQualifiedService == Method.service,
            let method = Method(rawValue: context.descriptor.method)
        else {
            let name = context.descriptor.fullyQualifiedMethod
            await stream.end(RPCStatus(.unimplemented, "The method \(name) is not known here."))
            return
        }
        if let refusal = desk.enter(context.remotePeer) {
            await stream.end(refusal)
            return
        }
        defer { desk.leave(context.remotePeer) }
        switch method {
        case .listen:
            await ServerStream<ListenRequest, ListenResponse>(
                open: { transport.listen($0, receive: $1) },
                parse: { bytes throws(RPCStatus) in try .listen(bytes) },
                encode: { $0.encode($1) }, size: { $0.wireSize }
            ).run(stream, streams) { token throws(RPCStatus) in
                try desk.checkAccess(token, method)
            }
        case .write:
            await ServerStream<WriteRequest, WriteResponse>(
                open: { transport.write($0, receive: $1) },
                parse: { bytes throws(RPCStatus) in try .write(bytes) },
                encode: { $0.encode($1) }, size: { $0.wireSize }
            ).run(stream, streams) { token throws(RPCStatus) in
                try desk.checkAccess(token, method)
            }
        default: await ServerCall(transport, method, streams, desk).run(stream)
        }
    }
}
