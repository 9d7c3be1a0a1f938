import GRPCCore
import GRPCNIOTransportHTTP2Posix
package import TidemarkModel

/// What one call or stream has to send, and the sending of it.
///
/// A reader that takes nothing holds its outbox and one write. When the server's budget needs them
/// back, the write is given up as well: only the status is left, for when it reads again.
struct ReplySending<Message: Sendable>: Sendable {
    typealias Part = RPCResponsePart<GRPCNIOTransportBytes>

    let outbox: Outbox<StreamEvent<Message>>
    private let size: @Sendable (Message) -> Int
    private let encode: @Sendable (Message) -> [UInt8]
    private let writing = ServerCallHandle()
    private let budget: SendBudget
    private let place: Int

    /// - Parameter call: Told when its sink has room and when not; cancelled when it is let go.
    init(
        _ budget: SendBudget, _ call: ServerCallHandle, size: @escaping @Sendable (Message) -> Int,
        encode: @escaping @Sendable (Message) -> [UInt8]
    ) {
        let outbox = Outbox<StreamEvent<Message>>(
            limit: GRPCServer.maxQueuedBytes, window: GRPCServer.window, budget: budget,
            onRoom: { call.set(isPaused: false) })
        self.outbox = outbox
        self.size = size
        self.encode = encode
        self.budget = budget
        place = budget.register(
            SendBudget.Holder(
                held: { outbox.held },
                evict: { [writing] in
                    outbox.evict(with: [.ended(.slowClient)])
                    writing.cancel()
                    call.cancel()
                }))
    }

    /// Gives the budget its part back.
    func close() {
        budget.unregister(place)
        outbox.fail()
    }

    /// Sends headers, then what the outbox gives, until it ends or the client is gone.
    func run(_ stream: ServerRPCStream) async {
        let write = Task { await self.write(stream) }
        writing.set(TaskCall(write))
        let isEnded = await withTaskCancellationHandler {
            await write.value
        } onCancel: {
            write.cancel()
        }
        if !isEnded {
            for case .ended(let status) in outbox.takeAll() {
                try? await stream.outbound.write(
                    .status(Status(status), Metadata(trailersOf: status)))
            }
        }
        await stream.outbound.finish()
    }

    /// - Returns: Whether the status is sent.
    private func write(_ stream: ServerRPCStream) async -> Bool {
        var parts: [Part] = [.metadata([:])]
        var bytes = 0
        var isEnded = false
        while var events = await outbox.next() {
            // What was queued behind the first one meanwhile leaves with it.
            events += outbox.takeAll()
            for event in events {
                switch event {
                case .message(let message):
                    parts.append(.message(GRPCNIOTransportBytes(encode(message))))
                    bytes += size(message)
                case .ended(let status):
                    parts.append(.status(Status(status), Metadata(trailersOf: status)))
                    isEnded = true
                }
                if bytes < GRPCServer.writeBytes { continue }
                guard (try? await stream.outbound.write(contentsOf: parts)) != nil else {
                    return false
                }
                outbox.didSend(bytes)
                parts.removeAll(keepingCapacity: true)
                bytes = 0
            }
            if !parts.isEmpty {
                guard (try? await stream.outbound.write(contentsOf: parts)) != nil else {
                    return false
                }
                parts.removeAll(keepingCapacity: true)
                bytes = 0
            }
        }
        return isEnded
    }
}

extension Outbox {
    /// Queues a message of a call, and tells the call when that was enough or too much.
    package func offer<Response>(_ event: Message, bytes: Int, for call: ServerCallHandle)
    where Message == StreamEvent<Response> {
        switch offer(event, bytes: bytes) {
        case .queued, .closed: break
        case .crowded:
            call.set(isPaused: true)
            // It may have got room before the call was told.
            if !isCrowded { call.set(isPaused: false) }
        case .full:
            fail(with: [.ended(.slowClient)])
            call.cancel()
        }
    }
}

/// A task as a call that can be cancelled.
private final class TaskCall: CancellableCall {
    private let task: Task<Bool, Never>

    init(_ task: Task<Bool, Never>) { self.task = task }

    func cancel() { task.cancel() }
}
