import GRPCCore
import GRPCNIOTransportHTTP2Posix
import TidemarkModel
import TidemarkResilience

typealias ServerTransportInbound = HTTP2ServerTransport.Posix.Inbound
typealias ServerRPCStream = RPCStream<ServerTransportInbound, HTTP2ServerTransport.Posix.Outbound>

/// Carries calls from a socket to a transport, and the answers back.
struct ServerCalls: Sendable {
    let transport: any Transport
    let shared: SharedLimits
    var desk: CallDesk { shared.desk }

    /// - Parameters:
    ///   - maxRequestBytes: The maximum size of a request.
    ///   - executor: Runs the tasks of all calls; nil for Swift's default executor.
    init(
        transport: any Transport, streams: OpenStreams, lateCalls: OpenStreams, desk: CallDesk,
        maxRequestBytes: Int, executor: (any TaskExecutor)?
    ) {
        self.transport = transport
        shared = SharedLimits(
            streams: streams, lateCalls: lateCalls, desk: desk,
            budget: SendBudget(limit: GRPCServer.maxUnsentBytes),
            unpacking: Unpacking(perRequest: maxRequestBytes),
            timeLimits: TimeLimits(ContinuousClock(), executor: executor), executor: executor)
    }

    func handle(_ stream: ServerRPCStream, _ context: ServerContext) async {
        guard context.descriptor.service.fullyQualifiedService == RPCMethod.service,
            let method = RPCMethod(rawValue: context.descriptor.method)
        else {
            let name = context.descriptor.fullyQualifiedMethod
            await stream.end(RPCStatus(.unimplemented, "The method \(name) is unknown."))
            return
        }
        if let refusal = desk.enter(context.remotePeer) {
            await stream.end(refusal)
            return
        }
        defer { desk.leave(context.remotePeer) }
        switch method {
        case .listen:
            await ServerStream(transport, .listen).run(stream, shared: shared) {
                (token, lease) async throws(RPCStatus) in
                try await desk.streamCaller(token, method: method, lease: lease)
            }
        case .write:
            await ServerStream(transport, .write).run(stream, shared: shared) {
                (token, lease) async throws(RPCStatus) in
                try await desk.streamCaller(token, method: method, lease: lease)
            }
        default: await ServerCall(transport: transport, method: method, shared: shared).run(stream)
        }
    }
}

/// The limits that all calls of a server share.
struct SharedLimits: Sendable {
    let streams: OpenStreams
    /// The calls with one request. A server that stops ends them later than the streams.
    let lateCalls: OpenStreams
    let desk: CallDesk
    let budget: SendBudget
    let unpacking: Unpacking
    /// The limits that clients set for their calls.
    let timeLimits: TimeLimits<ContinuousClock>
    /// Runs the tasks that calls begin; nil for Swift's default one.
    let executor: (any TaskExecutor)?
}
