package import TidemarkModel
import TidemarkTesting

/// The network between a world's clients and its server.
// @unchecked: a world lives in one thread.
package final class WorldNetwork: @unchecked Sendable {
    /// What the network is like, for everybody.
    package struct Weather: Hashable, Sendable {
        /// One way, in milliseconds.
        package var latency = 1...40
        /// Of a thousand messages, how many break their connection.
        package var losses = 0
        /// Of a hundred of those breaks, how many nobody is told of for long.
        package var halfOpen = 0
        /// Of a hundred streams and calls, how many are refused on the way.
        package var refusals = 0
        /// Of a hundred batches of writes, how many are refused before the server has seen them.
        package var refusedBatches = 0

        package static let calm = Weather()

        package init() {}
    }

    package var weather = Weather.calm
    /// Hears of every message that a client hears.
    var trace: ((String) -> Void)?
    let time: VirtualScheduler
    let server: WorldServer
    private var dice: SeededRandom
    private var links: [WorldLink] = []

    /// Longer than any client's keepalive: it asks after 30 s of silence and waits 20 s. Source:
    /// `TidemarkWire`, `Channel`.
    static let keepalive = 1_000...50_000

    init(_ time: VirtualScheduler, _ server: WorldServer, seed: UInt64) {
        self.time = time
        self.server = server
        dice = SeededRandom(seed: seed)
    }

    func link(of process: WorldProcess, isUp: @escaping () -> Bool) -> WorldLink {
        let link = WorldLink(self, process, isUp)
        links.removeAll { $0.isOver }
        links.append(link)
        return link
    }

    /// Every connection breaks with its server.
    package func serverGone() {
        for link in links { link.eachWire { $0.serverGone(client: delayOfNotice()) } }
    }

    // MARK: What the dice say

    func delay() -> Duration { dice.milliseconds(weather.latency) }
    func arrival() -> Duration {
        // Now and then a packet is sent again.
        time.elapsed + (dice.chance(3) ? delay() + .milliseconds(200) : delay())
    }
    func losesMessage() -> Bool { weather.losses > 0 && dice.roll(1_000) < weather.losses }

    /// When each end of a connection that broke learns of it.
    func breakKind() -> (client: Duration, server: Duration) { (delayOfNotice(), delayOfNotice()) }

    func delayOfNotice() -> Duration {
        dice.chance(weather.halfOpen) ? dice.milliseconds(Self.keepalive) : delay()
    }

    /// With the codes that gRPC and what lies between may make up: a server's own word on a write stream,
    /// such as `aborted`, says that the stream cannot be taken up, and is believed.
    func refusal() -> RPCStatus? {
        guard weather.refusals > 0, dice.chance(weather.refusals) else { return nil }
        let code = dice.pick([
            RPCStatus.Code.unavailable, .resourceExhausted, .internal, .unauthenticated,
            .deadlineExceeded, .unavailable, .cancelled, .unknown,
        ])
        return RPCStatus(code, "Refused on the way.")
    }

    /// Why a batch of writes does not reach the server. It surely did not, so any reason will do.
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
        // Nothing crosses a thread: the scheduler is the world's own.
        nonisolated(unsafe) let job = job
        _ = time.schedule(after: due - time.elapsed) { job() }
    }
}

/// One process's way to the server: the transport that its engine is given.
// @unchecked: a world lives in one thread.
package final class WorldLink: Transport, @unchecked Sendable {
    private let network: WorldNetwork
    private let process: WorldProcess
    private let isUp: () -> Bool
    private var wires: [any WorldBreakable] = []
    /// Hears of every commit that the process sends.
    var sent: ([Mutation]) -> Void = { _ in }

    init(_ network: WorldNetwork, _ process: WorldProcess, _ isUp: @escaping () -> Bool) {
        self.network = network
        self.process = process
        self.isUp = isUp
    }

    var isOver: Bool { !process.isAlive && wires.allSatisfy(\.isOver) }

    func eachWire(_ body: (any WorldBreakable) -> Void) {
        wires.removeAll(where: \.isOver)
        for wire in wires { body(wire) }
    }

    /// - Parameter isNoticed: Whether the client is told at once, as when its radio is turned off.
    package func breakAll(isNoticed: Bool) {
        eachWire { wire in
            let kind = network.breakKind()
            wire.breakDown(client: isNoticed ? .zero : kind.client, server: kind.server)
        }
    }

    /// Nothing passes, and nobody is told for a while.
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
