package import TidemarkModel
import TidemarkTesting

/// The network between a world's clients and its server.
// @unchecked: a world uses only one thread.
package final class WorldNetwork: @unchecked Sendable {
    /// The properties of the network for all clients.
    package struct Weather: Hashable, Sendable {
        /// The latency in one direction, in milliseconds.
        package var latency = 1...40
        /// The number of messages, per thousand, that break their connection.
        package var losses = 0
        /// The percentage of breaks that remain unnoticed for a long time.
        package var halfOpen = 0
        /// The percentage of streams and calls that are refused on the way.
        package var refusals = 0
        /// The percentage of write batches that are refused before the server has seen them.
        package var refusedBatches = 0

        package static let calm = Weather()

        package init() {}
    }

    package var weather = Weather.calm
    /// Called for every message that a client receives.
    var trace: ((String) -> Void)?
    let time: VirtualScheduler
    let server: WorldServer
    private var dice: SeededRandom
    private var links: [WorldLink] = []

    /// The time until a client's keepalive notices a break: it pings after 30 s of silence and
    /// waits 20 s. Source: `TidemarkWire`, `Channel`.
    static let keepalive = 1_000...50_000

    init(_ time: VirtualScheduler, _ server: WorldServer, seed: UInt64) {
        self.time = time
        self.server = server
        dice = SeededRandom(seed: seed)
    }

    func link(of process: WorldProcess, isUp: @escaping () -> Bool) -> WorldLink {
        let link = WorldLink(self, process: process, isUp: isUp)
        links.removeAll { $0.isOver }
        links.append(link)
        return link
    }

    /// Breaks every connection, because the server's process has ended.
    package func serverGone() {
        for link in links { link.eachWire { $0.serverGone(client: delayOfNotice()) } }
    }

    // MARK: What the dice say

    func delay() -> Duration { dice.milliseconds(weather.latency) }
    func arrival() -> Duration {
        // Sometimes a packet is sent again.
        time.elapsed + (dice.chance(3) ? delay() + .milliseconds(200) : delay())
    }
    func losesMessage() -> Bool { weather.losses > 0 && dice.roll(1_000) < weather.losses }

    /// Returns the delays after which the two ends notice a broken connection.
    func breakKind() -> (client: Duration, server: Duration) { (delayOfNotice(), delayOfNotice()) }

    func delayOfNotice() -> Duration {
        dice.chance(weather.halfOpen) ? dice.milliseconds(Self.keepalive) : delay()
    }

    /// Returns a random refusal of a stream or call, or nil. The codes are those that gRPC and
    /// intermediaries may produce. A code such as `aborted` on a write stream would be the server's
    /// own statement that the stream cannot be resumed, and clients would believe it.
    func refusal() -> RPCStatus? {
        guard weather.refusals > 0, dice.chance(weather.refusals) else { return nil }
        let code = dice.pick([
            RPCStatus.Code.unavailable, .resourceExhausted, .internal, .unauthenticated,
            .deadlineExceeded, .unavailable, .cancelled, .unknown,
        ])
        return RPCStatus(code, "Refused on the way.")
    }

    /// Returns a random refusal of a batch, or nil. The batch certainly did not reach the server,
    /// so any code is valid.
    func refusalOfMessage(_ message: some Sendable) -> RPCStatus? {
        guard weather.refusedBatches > 0, let request = message as? WriteRequest,
            !request.mutations.isEmpty, dice.chance(weather.refusedBatches)
        else { return nil }
        let code = dice.pick([
            RPCStatus.Code.unavailable, .internal, .aborted, .permissionDenied, .unknown,
            .resourceExhausted, .deadlineExceeded, .failedPrecondition,
        ])
        return RPCStatus(code, "Refused before the server saw it.")
    }

    func at(_ due: Duration, _ job: @escaping () -> Void) {
        // No thread is crossed, because the scheduler belongs to the world.
        nonisolated(unsafe) let job = job
        _ = time.schedule(after: due - time.elapsed) { job() }
    }
}

/// A process's connection to the server: the transport of its engine.
// @unchecked: a world uses only one thread.
package final class WorldLink: Transport, @unchecked Sendable {
    private let network: WorldNetwork
    private let process: WorldProcess
    private let isUp: () -> Bool
    private var wires: [any WorldBreakable] = []
    /// Called for every commit that the process sends.
    var sent: ([Mutation]) -> Void = { _ in }

    init(_ network: WorldNetwork, process: WorldProcess, isUp: @escaping () -> Bool) {
        self.network = network
        self.process = process
        self.isUp = isUp
    }

    var isOver: Bool { !process.isAlive && wires.allSatisfy(\.isOver) }

    func eachWire(_ body: (any WorldBreakable) -> Void) {
        wires.removeAll(where: \.isOver)
        for wire in wires { body(wire) }
    }

    /// - Parameter isNoticed: True if the client is notified immediately, as when its radio is
    ///   turned off.
    package func breakAll(isNoticed: Bool) {
        eachWire { wire in
            let kind = network.breakKind()
            wire.breakDown(client: isNoticed ? .zero : kind.client, server: kind.server)
        }
    }

    /// Breaks all connections so that neither end notices for a while.
    package func breakSilently() {
        eachWire { wire in
            wire.breakDown(
                client: network.silence(), server: network.silence())
        }
    }

    func processGone() { eachWire { $0.clientGone(server: network.delayOfNotice()) } }

    private func opened<S: Sendable, R: Sendable>(_ wire: WorldWire<S, R>) -> WorldWire<S, R> {
        wires.append(wire)
        if wires.count > 64 { wires.removeAll(where: \.isOver) }
        if isUp() { wire.open() } else { wire.serverGone(client: network.delay()) }
        return wire
    }

    package func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        let server = network.server
        if case .commit(let commit) = request, process.isAlive { sent(commit.mutations) }
        return opened(
            WorldWire<Never, Reply>(network, process, receive: receive) { sink in
                let call = server.transport.call(request, context, receive: sink)
                return .init(send: { _ in }, finish: {}, cancel: { call.cancel() })
            })
    }

    package func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> {
        let server = network.server
        return opened(
            WorldWire<ListenRequest, ListenResponse>(network, process, receive: receive) { sink in
                let stream = server.transport.listen(context, receive: sink)
                return .init(
                    send: { stream.send($0) }, finish: { stream.finish() },
                    cancel: { stream.cancel() })
            })
    }

    package func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> {
        let server = network.server
        let wire = WorldWire<WriteRequest, WriteResponse>(network, process, receive: receive) {
            sink in
            let stream = server.transport.write(context, receive: sink)
            return .init(
                send: { stream.send($0) }, finish: { stream.finish() },
                cancel: { stream.cancel() })
        }
        wire.onSend = { [weak self] in self?.sent($0.mutations) }
        return opened(wire)
    }
}

extension WorldNetwork {
    func silence() -> Duration { dice.milliseconds(Self.keepalive) }
}
