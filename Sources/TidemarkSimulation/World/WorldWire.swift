import TidemarkModel
import TidemarkTesting

/// A stream or call over a world's network.
///
/// Messages arrive later, in order for each direction, or not at all. Wires are independent, so a
/// message on one wire can overtake a message on another. Each end notices a break at its own time;
/// until then, the wire is half open.
final class WorldWire<Sent: Sendable, Received: Sendable>: RequestStream, WorldBreakable,
    @unchecked Sendable  // A world uses only one thread.
{
    typealias Connect = (@escaping @Sendable (StreamEvent<Received>) -> Void) -> FarEnd

    /// The server's end of the wire.
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
    /// Called for each message that the client sends, even if it is lost.
    var onSend: ((Sent) -> Void)?
    private var far: FarEnd?
    private var hasEnded = false
    /// True if no further message arrives at the server, or at the client.
    private var isLostOut = false
    private var isLostIn = false
    private var lastOut = Duration.zero
    private var lastIn = Duration.zero
    /// The numbers of batches delivered and of answers received. Only the next batch in order can
    /// be refused.
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

    /// Ends the wire for the client. Its callback receives nothing afterwards.
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

    /// Breaks the connection because a message was lost.
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

    /// Ends the wire after the client's process has ended. Messages under way still arrive; then
    /// the server is notified.
    func clientGone(server delay: Duration) {
        hasEnded = true
        isLostIn = true
        network.at(max(lastOut, network.time.elapsed + delay)) { [self] in
            isLostOut = true
            far?.cancel()
            far = nil
        }
    }

    /// Ends the wire after the server's process has ended. Messages under way are lost.
    func serverGone(client delay: Duration) {
        far = nil
        isLostOut = true
        isLostIn = true
        if !hasEnded { endHere(.lost, after: delay) }
    }
}

/// The events of a wire, whatever it carries.
protocol WorldBreakable: AnyObject {
    /// True if no end can receive anything.
    var isOver: Bool { get }
    /// Stops all messages. The ends are notified after these delays.
    func breakDown(client: Duration, server: Duration)
    func clientGone(server delay: Duration)
    func serverGone(client delay: Duration)
}

extension RPCStatus {
    static let lost = RPCStatus(.unavailable, "The connection was lost.")
}
