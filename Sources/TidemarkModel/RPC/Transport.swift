/// Carries calls and streams to a Firestore server. Implemented by gRPC over a network and by the
/// server itself.
///
/// The functions take callbacks and are not `async`, so that a client, a server and a simulated
/// network can run in one thread. A callback may be called on any thread. Callbacks of one stream
/// never overlap and keep their order. A callback is never called before the function that received
/// it has returned.
public protocol Transport: Sendable {
    /// Starts a call. `receive` gets the replies (several if the RPC streams), then `.ended`
    /// exactly once, also after a cancellation.
    func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall

    func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest>

    func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest>

    /// Reports a possible change of the device's network. Calls and streams started from now on use
    /// new connections. Open ones continue until they end.
    func networkChanged()

    /// A call is about to be made, as soon as its token is there: a transport with a connection
    /// opens it now, unless it is open.
    func prepare()
}

extension Transport {
    /// Does nothing, for a transport without connections.
    public func networkChanged() {}
    /// Nothing, where there is no connection to open.
    public func prepare() {}
}

/// The properties of a call besides its request.
public struct CallContext: Hashable, Sendable {
    public var database: DatabaseID
    /// The caller's label in the read meter; `x-tidemark-label` on the wire. Nil counts as
    /// unlabelled.
    public var label: String?
    /// The maximum duration of the call from now; nil for no limit.
    public var timeout: Duration?
    /// The bearer token; nil for none.
    public var token: String?
    /// The installation that makes the call, for the read meter; `x-tidemark-client` on the wire.
    public var client: String?
    /// If true, the end of the call reports the billed operations in ``RPCStatus/trailers``;
    /// `x-tidemark-usage: 1` on the wire.
    public var reportsUsage: Bool
    /// True for the server's own calls, such as those of its console. They are counted separately
    /// and not billed. Never sent over a wire.
    package var isUnbilled = false
    /// If true, a short read may be answered before the call returns, on the caller's thread. The
    /// caller must hold no lock that the callback takes, and must not block while it waits for a
    /// short read. Never sent over a wire.
    package var mayAnswerAtOnce = false
    /// The App Check token, which proves that the app itself makes the call; `x-firebase-appcheck`
    /// on the wire. Nil for none.
    public var appCheckToken: String?
    /// The name and version of the client library, as the caller reports it; `x-goog-api-client` or
    /// `user-agent` on the wire. Nil if it is unknown. Clients do not send this value.
    package var agent: String?

    public init(
        database: DatabaseID, label: String? = nil, timeout: Duration? = nil, token: String? = nil,
        client: String? = nil, reportsUsage: Bool = false, appCheckToken: String? = nil
    ) {
        self.database = database
        self.label = label
        self.timeout = timeout
        self.token = token
        self.client = client
        self.reportsUsage = reportsUsage
        self.appCheckToken = appCheckToken
    }
}

public enum StreamEvent<Message: Sendable>: Sendable {
    case message(Message)
    /// The last event of every stream and call. ``RPCStatus/ok`` if it ended normally.
    case ended(RPCStatus)
}

/// A call in progress. Releasing the object does not cancel the call.
public protocol CancellableCall: AnyObject, Sendable {
    /// Ends the call soon; its callback then gets `.ended`. Repeated calls have no effect.
    func cancel()
    /// Asks the server to stop producing a long answer until ``resume()``, because the receiver is
    /// full. Replies under way still arrive. May be called from inside the callback.
    func pause()
    /// Asks the server to continue. Has no effect without an earlier ``pause()``.
    func resume()
}

/// The defaults suit a receiver that always has room.
extension CancellableCall {
    public func pause() {}
    public func resume() {}
}

/// The sending half of a stream.
public protocol RequestStream<Message>: CancellableCall {
    associatedtype Message: Sendable
    /// Queues a message. After the end of the stream the message is dropped; the callback gets
    /// `.ended`.
    func send(_ message: Message)
    /// Ends the sending half; the server then ends the stream.
    func finish()
}
