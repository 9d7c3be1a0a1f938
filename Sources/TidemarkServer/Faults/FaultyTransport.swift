import Synchronization
public import TidemarkModel

/// A transport with ordered faults, for calls in the process and behind sockets.
///
/// Without orders, a call is passed directly to the underlying transport. An order applies to calls
/// and streams that begin after it.
public final class FaultyTransport: Transport {
    /// The maximum number of simultaneous silent calls; further silent calls are refused.
    static let maxSilent = 10_000

    private struct State {
        var plan = FaultPlan()
        var network = NetworkProfile.healthy
        var networkPlan = FaultPlan()
    }

    private let upstream: any Transport
    private let environment: FaultEnvironment
    private let state = Mutex(State())
    private let hasOrders = Atomic(false)
    let silentCalls = Atomic(0)

    public init(_ upstream: any Transport, _ environment: FaultEnvironment = .live()) {
        self.upstream = upstream
        self.environment = environment
    }

    /// The rules in force, with the number of their applications.
    public var entries: [FaultPlan.Entry] { state.withLock { $0.plan.entries } }

    /// The network whose faults on calls are played; a gate plays the faults on connections.
    public var network: NetworkProfile { state.withLock { $0.network } }

    /// Replaces all rules.
    ///
    /// - Throws: An error if there are more than ``FaultPlan/maxRules`` rules.
    public func order(_ rules: [FaultRule]) throws(FaultRuleError) {
        guard rules.count <= FaultPlan.maxRules else {
            throw FaultRuleError("At most \(FaultPlan.maxRules) faults can be active.")
        }
        update { $0.plan = FaultPlan(rules) }
    }

    public func order(_ network: NetworkProfile) {
        update { state in
            if state.network == network { return }
            state.network = network
            state.networkPlan = FaultPlan(network.rules)
        }
    }

    private func update(_ change: (inout State) -> Void) {
        let hasOrders = state.withLock { state in
            change(&state)
            return !state.plan.entries.isEmpty || !state.networkPlan.entries.isEmpty
        }
        self.hasOrders.store(hasOrders, ordering: .relaxed)
    }

    private func effects(on method: RPCMethod, _ context: CallContext) -> FaultEffects? {
        guard hasOrders.load(ordering: .relaxed) else { return nil }
        return state.withLock { state in
            let roll = environment.random
            let own = state.plan.effects(on: method, label: context.label, roll: roll)
            let network = state.networkPlan.effects(on: method, label: context.label, roll: roll)
            guard var effects = own ?? network else { return nil }
            if own != nil, let network { effects.fill(from: network) }
            return effects
        }
    }

    public func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        guard let effects = effects(on: request.method, context) else {
            return upstream.call(request, context, receive: receive)
        }
        let link = FaultyLink(
            CallFaults(effects), effects: effects, owner: self, environment: environment,
            receive: receive)
        link.open(deadline: context.timeout) { [upstream] in
            OneWay(upstream.call(request, context, receive: $0))
        }
        return link
    }

    public func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> {
        guard let effects = effects(on: .listen, context) else {
            return upstream.listen(context, receive: receive)
        }
        let link = FaultyLink(
            ListenFaults(effects), effects: effects, owner: self, environment: environment,
            receive: receive)
        link.open(deadline: context.timeout) { [upstream] in upstream.listen(context, receive: $0) }
        return link
    }

    public func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> {
        guard let effects = effects(on: .write, context) else {
            return upstream.write(context, receive: receive)
        }
        let link = FaultyLink(
            WriteFaults(effects), effects: effects, owner: self, environment: environment,
            receive: receive)
        link.open(deadline: context.timeout) { [upstream] in upstream.write(context, receive: $0) }
        return link
    }
}

/// A call as a stream that takes no messages.
private final class OneWay: RequestStream {
    private let call: any CancellableCall

    init(_ call: any CancellableCall) { self.call = call }

    func send(_ message: Never) {}
    func finish() {}
    func cancel() { call.cancel() }
    func pause() { call.pause() }
    func resume() { call.resume() }
}

/// The faults of a call with a single request.
private struct CallFaults: StreamFaults {
    private let losesResponse: Bool
    private var counter: CutCounter

    init(_ effects: FaultEffects) {
        losesResponse = effects.losesResponse
        counter = CutCounter(effects.cut)
    }

    mutating func sent(_: Never) -> [Never] {}

    mutating func received(_ reply: Reply) -> StreamStep<Never, Reply> {
        // The reply is lost at the end, when the call is known to be done.
        if losesResponse { return StreamStep() }
        switch counter.next() {
        case .none: return StreamStep(toClient: [reply])
        case .before: return StreamStep(isCut: true)
        case .after: return StreamStep(toClient: [reply], isCut: true)
        }
    }

    /// If the answer is lost, the client does not learn if the call was refused.
    func ended(_ status: RPCStatus) -> RPCStatus {
        losesResponse ? FaultEffects.connectionLost : status
    }

    static func size(of reply: Reply) -> Int { reply.estimatedSize }
}
