import Synchronization
package import TidemarkModel

/// Adds a ``TokenProvider``'s token to every call.
///
/// If the first answer of a server is `UNAUTHENTICATED`, the transport requests a new token, once,
/// and repeats the call with that token. If messages have already arrived (a token expires under an
/// open stream), the end is passed on, and the next call requests a new token first.
///
/// An App Check token is sent with the user's token, and is requested again in the same case. If
/// the app cannot be attested, the call has no App Check token, and the server decides whether it
/// accepts the call.
///
/// The wait for the tokens counts towards the call's deadline. The call can be cancelled during the
/// wait.
package struct AuthorizedTransport: Transport {
    /// The maximum number of messages of one stream that wait for its token. One more message ends
    /// the stream.
    package static let maxWaiting = 10_000

    private let base: any Transport
    private let tokens: TokenSource

    /// - Parameters:
    ///   - provider: The provider of the user's token. Nil keeps the token of the call.
    ///   - appCheck: The provider of the App Check token; nil for none.
    package init(
        _ base: any Transport, _ provider: (any TokenProvider)?,
        appCheck: (any TokenProvider)? = nil
    ) {
        self.base = base
        tokens = TokenSource(provider, appCheck)
    }

    package func networkChanged() { base.networkChanged() }
    package func prepare() { base.prepare() }

    package func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        let run = AuthorizedRun<Request, Reply>(context, tokens: tokens, receive: receive) {
            [base] context, sink in
            AuthorizedRun.Inner(base.call(request, context, receive: sink))
        }
        run.start(on: base)
        return run
    }

    package func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> {
        let run = AuthorizedRun(context, tokens: tokens, receive: receive) { [base] context, sink in
            AuthorizedRun<ListenRequest, ListenResponse>.Inner(
                stream: base.listen(context, receive: sink))
        }
        run.start(on: base)
        return run
    }

    package func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> {
        let run = AuthorizedRun(context, tokens: tokens, receive: receive) { [base] context, sink in
            AuthorizedRun<WriteRequest, WriteResponse>.Inner(
                stream: base.write(context, receive: sink))
        }
        run.start(on: base)
        return run
    }
}

/// The tokens of a call; nil for an absent token.
struct CallTokens: Hashable, Sendable {
    var user: String?
    var appCheck: String?
}

/// The providers, and the last refused tokens.
final class TokenSource: Sendable {
    private let provider: (any TokenProvider)?
    private let appCheck: (any TokenProvider)?
    private let refused = Mutex(CallTokens())

    init(_ provider: (any TokenProvider)?, _ appCheck: (any TokenProvider)?) {
        self.provider = provider
        self.appCheck = appCheck
    }

    func tokens(_ receive: @escaping @Sendable (Result<CallTokens, RPCStatus>) -> Void) {
        guard let provider else { return attest(nil, receive) }
        provider.token(replacing: refused.withLock { $0.user }) { [self] result in
            switch result {
            case .success(let user): attest(user, receive)
            case .failure(let status): receive(.failure(status))
            }
        }
    }

    private func attest(
        _ user: String?, _ receive: @escaping @Sendable (Result<CallTokens, RPCStatus>) -> Void
    ) {
        guard let appCheck else { return receive(.success(CallTokens(user: user))) }
        appCheck.token(replacing: refused.withLock { $0.appCheck }) { result in
            let attested = (try? result.get()) ?? nil
            receive(.success(CallTokens(user: user, appCheck: attested)))
        }
    }

    func refuse(_ tokens: CallTokens) { refused.withLock { $0 = tokens } }

    /// Notes that a call succeeded with these tokens, so no token needs a replacement.
    func accept(_ tokens: CallTokens) {
        refused.withLock { refused in
            if refused != tokens { refused = CallTokens() }
        }
    }
}

/// Runs one call or stream: waits for its token and then for its end, and restarts at most once.
private final class AuthorizedRun<Sent: Sendable, Received: Sendable>: RequestStream {
    typealias Sink = @Sendable (StreamEvent<Received>) -> Void

    /// The call or stream that was opened with a token.
    struct Inner {
        let handle: any CancellableCall
        let send: @Sendable (Sent) -> Void
        let finish: @Sendable () -> Void

        init(_ call: any CancellableCall) {
            handle = call
            send = { _ in }
            finish = {}
        }

        init(stream: any RequestStream<Sent>) {
            handle = stream
            send = { stream.send($0) }
            finish = { stream.finish() }
        }
    }

    private struct State {
        /// The number of opened calls. A late event of an earlier call is ignored.
        var attempt = 0
        var inner: Inner?
        var tokens = CallTokens()
        /// The messages from the first one, until a first answer arrives.
        var sent: [Sent] = []
        /// The number of these messages that the present stream has received.
        var passedOn = 0
        var isPassingOn = false
        var isFinished = false
        var saidFinish = false
        var isPaused = false
        var hasReceived = false
        var isCancelled = false
        var isEnded = false
        /// True after the caller's function has returned. Only then may the sink be called.
        var hasStarted = false
    }

    private let context: CallContext
    private let tokens: TokenSource
    private let receive: Sink
    private let open: @Sendable (CallContext, @escaping Sink) -> Inner
    private let state = Mutex(State())

    init(
        _ context: CallContext, tokens: TokenSource, receive: @escaping Sink,
        open: @escaping @Sendable (CallContext, @escaping Sink) -> Inner
    ) {
        self.context = context
        self.tokens = tokens
        self.receive = receive
        self.open = open
    }

    func start(on base: any Transport) {
        ask()
        // A token that has to be fetched takes a round trip or two, and so does a connection.
        if state.withLock({ $0.inner == nil && !$0.isEnded }) { base.prepare() }
        state.withLock { $0.hasStarted = true }
    }

    private func ask() {
        tokens.tokens { [self] result in
            switch result {
            case .success(let tokens): begin(with: tokens)
            case .failure(let status): end(status)
            }
        }
    }

    private func begin(with tokens: CallTokens) {
        let attempt = state.withLock { state -> Int? in
            if state.isEnded { return nil }
            state.attempt += 1
            state.tokens = tokens
            state.passedOn = 0
            state.saidFinish = false
            return state.attempt
        }
        guard let attempt else { return }
        var context = context
        if let token = tokens.user { context.token = token }
        if let token = tokens.appCheck { context.appCheckToken = token }
        let inner = open(context) { [self] event in hear(event, attempt) }
        let isWanted = state.withLock { state in
            guard !state.isEnded, state.attempt == attempt else { return false }
            state.inner = inner
            return true
        }
        if !isWanted { return inner.handle.cancel() }
        if state.withLock({ $0.isPaused }) { inner.handle.pause() }
        passOn()
    }

    private func hear(_ event: StreamEvent<Received>, _ attempt: Int) {
        switch event {
        case .message:
            let (isHeard, accepted) = state.withLock { state -> (Bool, CallTokens?) in
                guard !state.isEnded, state.attempt == attempt else { return (false, nil) }
                if state.hasReceived { return (true, nil) }
                state.hasReceived = true
                state.sent.removeFirst(state.passedOn)
                state.passedOn = 0
                return (true, state.tokens)
            }
            if let accepted { tokens.accept(accepted) }
            if isHeard { receive(event) }
        case .ended(let status):
            let ended = state.withLock { state -> (refused: CallTokens, mayRepeat: Bool)? in
                guard !state.isEnded, state.attempt == attempt else { return nil }
                state.inner = nil
                let mayRepeat = !state.hasReceived && attempt == 1 && !state.isCancelled
                return (state.tokens, mayRepeat)
            }
            guard let ended else { return }
            guard status.code == .unauthenticated, ended.refused != CallTokens() else {
                return end(status)
            }
            tokens.refuse(ended.refused)
            if ended.mayRepeat { ask() } else { end(status) }
        }
    }

    private func end(_ status: RPCStatus) {
        let (isNew, hasStarted) = state.withLock { state in
            defer {
                state.isEnded = true
                state.inner = nil
                state.sent = []
            }
            return (!state.isEnded, state.hasStarted)
        }
        guard isNew else { return }
        if hasStarted { return receive(.ended(status)) }
        // A sink must not be called before the function that received it returns.
        Task { [receive] in receive(.ended(status)) }
    }

    // MARK: The sending half

    func send(_ message: Sent) {
        let isFull = state.withLock { state in
            if state.isEnded { return false }
            if state.inner == nil, state.sent.count >= AuthorizedTransport.maxWaiting {
                return true
            }
            state.sent.append(message)
            return false
        }
        if isFull {
            return end(RPCStatus(.resourceExhausted, "Too much waits for a token to be sent with."))
        }
        passOn()
    }

    func finish() {
        state.withLock { $0.isFinished = true }
        passOn()
    }

    /// Sends the remaining messages to the stream, in order. Only one thread sends.
    private func passOn() {
        while true {
            let step = state.withLock { state -> (Inner, [Sent], finishes: Bool)? in
                guard let inner = state.inner, !state.isPassingOn else { return nil }
                let messages = Array(state.sent[state.passedOn...])
                let finishes = state.isFinished && !state.saidFinish
                if messages.isEmpty, !finishes { return nil }
                state.isPassingOn = true
                state.saidFinish = state.isFinished
                if state.hasReceived {
                    state.sent = []
                    state.passedOn = 0
                } else {
                    state.passedOn = state.sent.count
                }
                return (inner, messages, finishes)
            }
            guard let (inner, messages, finishes) = step else { return }
            for message in messages { inner.send(message) }
            if finishes { inner.finish() }
            state.withLock { $0.isPassingOn = false }
        }
    }

    func cancel() {
        let inner = state.withLock { state in
            state.isCancelled = true
            return state.inner
        }
        // An open stream reports its end itself.
        if let inner { return inner.handle.cancel() }
        end(RPCStatus(.cancelled, "The call was cancelled."))
    }

    func pause() {
        let inner = state.withLock { state in
            state.isPaused = true
            return state.inner
        }
        inner?.handle.pause()
    }

    func resume() {
        let inner = state.withLock { state in
            state.isPaused = false
            return state.inner
        }
        inner?.handle.resume()
    }
}
