/// Carries calls and streams to a Firestore. Conformers: gRPC over a network, and the server itself.
///
/// Sinks and calls, not `async` functions, so that a client, a server and the network between them
/// can run in one thread. A sink may be called on any thread; one stream's calls never overlap and
/// keep their order; a sink is never called before the function that was given it has returned.
public protocol Transport: Sendable {
    /// Starts a call. `receive` gets its replies (one, or several where the RPC streams), then
    /// `.ended` exactly once, also after a cancellation.
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

    /// The device's network is another one, or may be: what is opened from now on connects anew. Calls
    /// and streams that are open go on until they end.
    func networkChanged()
}

extension Transport {
    /// Nothing, where there is no connection to lose.
    public func networkChanged() {}
}

/// What comes with every call besides its request.
public struct CallContext: Hashable, Sendable {
    public var database: DatabaseID
    /// Whom the read meter counts this for; `x-tidemark-label` on the wire. Nil counts as unlabelled.
    public var label: String?
    /// How long the call may take, from now; nil for no end of its own.
    public var timeout: Duration?
    /// A bearer token; nil for none.
    public var token: String?
    /// Which installation calls, for the read meter; `x-tidemark-client` on the wire.
    public var client: String?
    /// Whether the end of the call should say what it was billed, in ``RPCStatus/trailers``;
    /// `x-tidemark-usage: 1` on the wire.
    public var reportsUsage: Bool
    /// Whether it is the server's own, such as its console's: it is counted apart and billed to nobody.
    /// It never comes over a wire.
    package var isUnbilled = false
    /// Whether the sink may be called before the call returns, on the caller's thread: the caller holds no
    /// lock that the sink takes, and never waits for a short read. It never comes over a wire.
    package var mayAnswerAtOnce = false
    /// What proves that the app itself calls; `x-firebase-appcheck` on the wire. Nil for none.
    public var appCheckToken: String?

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
    /// The last event of every stream and call. ``RPCStatus/ok`` when it ended as it should.
    case ended(RPCStatus)
}

/// A call in flight. Letting go of it does not cancel it.
public protocol CancellableCall: AnyObject, Sendable {
    /// Ends the call as soon as may be; its sink then gets `.ended`. Repeating it does nothing.
    func cancel()
    /// Says that the sink has no room: a server makes no more of a long answer until ``resume()``.
    /// What was under way still comes. May be called from inside the sink.
    func pause()
    /// Says that the sink has room again. Without a pause before it, it does nothing.
    func resume()
}

/// A sink that always has room says neither.
extension CancellableCall {
    public func pause() {}
    public func resume() {}
}

/// The sending half of a stream.
public protocol RequestStream<Message>: CancellableCall {
    associatedtype Message: Sendable
    /// Queues a message. After the end it is dropped: the sink has been told, or will be.
    func send(_ message: Message)
    /// Says that nothing more will be sent; the server then ends the stream.
    func finish()
}
