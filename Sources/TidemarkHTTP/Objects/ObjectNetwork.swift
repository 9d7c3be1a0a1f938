import NIOCore
import Synchronization
import TidemarkServer

/// Applies a network's rules for whole calls (``NetworkProfile/rules``) to requests of the storage
/// port. Rules that name an RPC apply to no request.
///
/// | effect | of a request |
/// |---|---|
/// | latency | it has its effect immediately, and its answer begins later |
/// | error | it has no effect, and its connection is reset |
/// | lost response | it has its effect, and its connection is reset instead of the answer |
///
/// A status instead of the reset would tell a client if the request had its effect.
final class ObjectNetwork: Sendable {
    private let plan = Mutex(FaultPlan())
    private let roll: @Sendable () -> Double

    /// - Parameter roll: Returns a random number in `0 ..< 1`.
    init(roll: @escaping @Sendable () -> Double = { .random(in: 0..<1) }) { self.roll = roll }

    /// Changes the network, for requests that begin after the call.
    func order(_ network: NetworkProfile) {
        let rules = network.rules
        plan.withLock { plan in
            if plan.entries.map(\.rule) != rules { plan = FaultPlan(rules) }
        }
    }

    /// Returns the effects on a request; nil if there are none.
    func effects() -> FaultEffects? {
        plan.withLock { $0.effects(on: nil, label: nil, roll: roll) }
    }

    /// Answers a request over the network.
    ///
    /// - Parameter answer: Answers the request as if the network were healthy.
    func play(
        _ request: ObjectsRequest, _ answer: @Sendable (ObjectsRequest) async -> ObjectsAnswer
    ) async -> ObjectsAnswer {
        guard let effects = effects() else { return await answer(request) }
        if effects.error != nil { return await request.reset() }
        let answered = await answer(request)
        if effects.losesResponse { return await request.reset() }
        if let latency = effects.latency {
            // The client may leave during the pause; nobody receives the answer then.
            try? await request.pause(TimeAmount(latency))
        }
        return answered
    }
}
