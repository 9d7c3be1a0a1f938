import TidemarkModel
import TidemarkTesting

/// One stream or call over a world's network.
///
/// What is sent arrives later, in its order in each direction, or not at all; two wires know nothing of
/// each other, so that what goes over one overtakes what goes over the other. Both ends learn of a break
/// by themselves, each in its own time: until then the wire is half open.
final class WorldWire<Sent: Sendable, Received: Sendable>: RequestStream, WorldBreakable,
    @unchecked Sendable  // A world lives in one thread.
{
    typealias Connect = (@escaping @Sendable (StreamEvent<Received>) -> Void) -> FarEnd

    /// What the wire ends in at the server.
    struct FarEnd {
        var send: (Sent) -> Void
        var finish: () -> Void
        var cancel: () -> Void
    }

    private enum Outgoing { case open, message(Sent), finish, cancel }

    private let network: WorldNetwork
    private let process: WorldProcess
    private let connect: Connect
    private let receive: @Sendable (StreamEvent<Received>) -> Void
    /// Hears of what the client sends, whatever becomes of it.
    var onSend: ((Sent) -> Void)?
    private var far: FarEnd?
    private var hasEnded = false
    /// Nothing more arrives at the server, or at the client.
    private var isLostOut = false
    private var isLostIn = false
    private var lastOut = Duration.zero
    private var lastIn = Duration.zero
    /// Batches that were delivered, and answers that came: what is refused must be the next one.
    private var delivered = 0
    private var answered = 0

    init(
        _ network: WorldNetwork, _ process: WorldProcess,
        receive: @escaping @Sendable (StreamEvent<Received>) -> Void, connect: @escaping Connect
    ) {
        self.network = network
        self.process = process
        self.connect = connect
        self.receive = receive
    }

    var isOver: Bool { hasEnded && far == nil }

    // MARK: The client's end

    func open() { carry(.open) }
    func send(_ message: Sent) {
        if process.isAlive, !hasEnded { onSend?(message) }
        carry(.message(message))
    }
    func finish() { carry(.finish) }

    func cancel() {
        guard !hasEnded, process.isAlive else { return }
        carry(.cancel)
        endHere(RPCStatus(.cancelled, "The caller cancelled."), after: .zero)
        isLostIn = true
    }

    private func carry(_ event: Outgoing) {
        guard process.isAlive, !hasEnded, !isLostOut else { return }
        if network.losesMessage() { return lose() }
        lastOut = max(lastOut, network.arrival())
        network.at(lastOut) { [self] in arrive(event) }
    }

    private func arrive(_ event: Outgoing) {
        guard !isLostOut else { return }
        switch event {
        case .open:
            if let refusal = network.refusal() { return endHere(refusal, after: network.delay()) }
            guard network.server.isUp else { return endHere(.lost, after: network.delay()) }
            far = connect { [weak self] in self?.answer($0) }
        case .message(let message):
            if delivered == answered, let refusal = network.refusalOfMessage(message) {
                isLostOut = true
                far?.cancel()
                far = nil
                return endHere(refusal, after: network.delay())
            }
            delivered += 1
            far?.send(message)
        case .finish: far?.finish()
        case .cancel:
            far?.cancel()
            far = nil
        }
    }

    /// The client's sink hears no more after this.
    private func endHere(_ status: RPCStatus, after delay: Duration) {
        let due = max(lastIn, network.time.elapsed + delay)
        lastIn = due
        network.at(due) { [self] in hear(.ended(status)) }
    }

    private func hear(_ event: StreamEvent<Received>) {
        guard !hasEnded, process.isAlive else { return }
        if case .ended = event { hasEnded = true }
        network.trace?("\(event)")
        receive(event)
    }

    // MARK: The server's end

    private func answer(_ event: StreamEvent<Received>) {
        answered += 1
        if case .ended = event { far = nil }
        guard !isLostIn, process.isAlive, !hasEnded else { return }
        if network.losesMessage() { return lose() }
        lastIn = max(lastIn, network.arrival())
        network.at(lastIn) { [self] in
            if !isLostIn { hear(event) }
        }
    }

    // MARK: Breaks

    /// A message was lost for good: the connection breaks at it.
    private func lose() {
        let kind = network.breakKind()
        breakDown(client: kind.client, server: kind.server)
    }

    func breakDown(client: Duration, server: Duration) {
        isLostOut = true
        isLostIn = true
        if !hasEnded { endHere(.lost, after: client) }
        network.at(network.time.elapsed + server) { [self] in
            far?.cancel()
            far = nil
        }
    }

    /// The client's process is gone. What is under way still arrives, and then the server learns of it.
    func clientGone(server delay: Duration) {
        hasEnded = true
        isLostIn = true
        network.at(max(lastOut, network.time.elapsed + delay)) { [self] in
            isLostOut = true
            far?.cancel()
            far = nil
        }
    }

    /// The server's process is gone, with what had not arrived.
    func serverGone(client delay: Duration) {
        far = nil
        isLostOut = true
        isLostIn = true
        if !hasEnded { endHere(.lost, after: delay) }
    }
}

/// What can happen to a wire, whatever it carries.
protocol WorldBreakable: AnyObject {
    /// Neither end can be told anything any more.
    var isOver: Bool { get }
    /// Nothing passes from now on; the ends learn of it after these delays.
    func breakDown(client: Duration, server: Duration)
    func clientGone(server delay: Duration)
    func serverGone(client delay: Duration)
}

extension RPCStatus {
    static let lost = RPCStatus(.unavailable, "The connection was lost.")
}
