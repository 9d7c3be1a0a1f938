import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Synchronization
public import TidemarkModel

/// A connection to a Firestore server over gRPC.
///
/// Every call and stream has its own task, which decodes the messages and calls the callback; never
/// the thread that started the call. The task starts with the last statement of the function that
/// returns the handle.
///
/// If the server cannot be reached or the connection is lost, all calls and streams end with
/// `UNAVAILABLE`. This type never retries. A message has at most 17 MiB in either direction.
public final class GRPCTransport: Sendable {
    public struct Endpoint: Hashable, Sendable {
        public var host: String
        public var port: Int
        public var usesTLS: Bool
        /// PEM certificates of the authorities that may sign the server's certificate; empty for
        /// the system's authorities.
        public var authorities: [[UInt8]]

        public init(host: String, port: Int, usesTLS: Bool, authorities: [[UInt8]] = []) {
            self.host = host
            self.port = port
            self.usesTLS = usesTLS
            self.authorities = authorities
        }
    }

    /// The maximum size of a message in bytes, in both directions.
    static let maxMessageBytes = 17 << 20
    /// The maximum number of unsent messages on one stream. A further message ends the stream with
    /// `RESOURCE_EXHAUSTED`.
    static let maxQueuedMessages = 1_000

    private struct State {
        var channel: Channel?
        var isClosed = false
        var lastID = 0
        var running: [Int: any CancellableCall] = [:]
    }

    private let endpoint: Endpoint
    private let state = Mutex(State())
    private let sentBytes = Atomic(0)
    private let receivedBytes = Atomic(0)

    /// Connects at the first call, and again after the connection is lost.
    public init(_ endpoint: Endpoint) { self.endpoint = endpoint }

    /// The bytes sent and received since the start, counted as framed messages.
    public var traffic: (sent: Int, received: Int) {
        (sentBytes.load(ordering: .relaxed), receivedBytes.load(ordering: .relaxed))
    }

    /// Ends every call and closes the connection.
    public func close() async {
        let (calls, channel) = state.withLock { state in
            state.isClosed = true
            return (Array(state.running.values), state.channel.take())
        }
        for call in calls { call.cancel() }
        await channel?.close()
    }

    // MARK: - For the calls

    func didSend(message bytes: Int) { sentBytes.add(bytes + 5, ordering: .relaxed) }
    func didReceive(message bytes: Int) { receivedBytes.add(bytes + 5, ordering: .relaxed) }

    /// Returns the present channel, or a new one.
    func channel() throws(RPCStatus) -> Channel { try withChannel { _ in } }

    /// Returns the channel for a new stream, which must call ``Channel/leave()`` when it has ended.
    func enterChannel() throws(RPCStatus) -> Channel { try withChannel { $0.enter() } }

    /// - Parameter use: Is called before another thread can retire the channel.
    private func withChannel(_ use: (Channel) -> Void) throws(RPCStatus) -> Channel {
        // A `Result` carries the typed error out of the lock.
        try state.withLock { state -> Result<Channel, RPCStatus> in
            if state.isClosed {
                return .failure(RPCStatus(.cancelled, "The connection was closed."))
            }
            do throws(RPCStatus) {
                let channel =
                    if let present = state.channel { present } else { try Channel(endpoint) }
                state.channel = channel
                use(channel)
                return .success(channel)
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// Stops using the channel: the next call makes a new connection. Running streams continue on
    /// the old one.
    func discard(_ channel: Channel) {
        let isCurrent = state.withLock { state in
            guard state.channel === channel else { return false }
            state.channel = nil
            return true
        }
        if isCurrent { channel.retire() }
    }

    /// Discards the connection, because one over a network that no longer exists can seem alive for
    /// most of a minute.
    public func networkChanged() {
        if let channel = state.withLock({ $0.channel }) { discard(channel) }
    }

    func register(_ call: any CancellableCall) -> Int {
        state.withLock { state in
            state.lastID += 1
            state.running[state.lastID] = call
            return state.lastID
        }
    }

    func unregister(_ id: Int) { state.withLock { _ = $0.running.removeValue(forKey: id) } }
}

extension GRPCTransport: Transport {
    /// Connects while the call waits for its token. Where that fails, the call says so.
    public func prepare() { _ = try? channel() }

    public func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        let call = ClientCall(context, receive)
        call.start(request, on: self)
        return call
    }

    public func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> {
        let coder = ListenCoder(Names(context.database))
        let stream = ClientStream<ListenRequest, ListenResponse>(
            method: .listen, context: context, encode: { coder.encode($0) },
            decode: { bytes throws(RPCStatus) in try coder.response(bytes) }, receive: receive)
        stream.start(on: self)
        return stream
    }

    public func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> {
        let coder = WriteCoder(Names(context.database))
        let stream = ClientStream<WriteRequest, WriteResponse>(
            method: .write, context: context, encode: { coder.encode($0) },
            decode: { bytes throws(RPCStatus) in try coder.response(bytes) }, receive: receive)
        stream.start(on: self)
        return stream
    }
}
