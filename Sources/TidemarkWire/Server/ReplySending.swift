import GRPCCore
import GRPCNIOTransportHTTP2Posix
package import TidemarkModel

/// Sends the replies of one call or stream.
///
/// A client that does not read occupies its outbox and one write. If the server's budget needs the
/// memory, the write is cancelled too; only the status remains, for the time when the client reads
/// again.
struct ReplySending<Message: Sendable>: Sendable {
    typealias Part = RPCResponsePart<GRPCNIOTransportBytes>

    let outbox: Outbox<StreamEvent<Message>>
    private let size: @Sendable (Message) -> Int
    private let encode: @Sendable (Message) -> [UInt8]
    private let writing = ServerCallHandle()
    private let budget: SendBudget
    private let executor: (any TaskExecutor)?
    private let place: Int

    /// - Parameter call: Paused and resumed as the outbox fills and empties; cancelled if the
    ///   budget evicts it.
    init(
        _ shared: SharedLimits, _ call: ServerCallHandle,
        size: @escaping @Sendable (Message) -> Int,
        encode: @escaping @Sendable (Message) -> [UInt8]
    ) {
        let budget = shared.budget
        let outbox = Outbox<StreamEvent<Message>>(
            limit: GRPCServer.maxQueuedBytes, window: GRPCServer.window, budget: budget,
            onRoom: { call.set(isPaused: false) })
        self.outbox = outbox
        self.size = size
        self.encode = encode
        self.budget = budget
        executor = shared.executor
        place = budget.register(
            SendBudget.Holder(
                held: { outbox.held },
                evict: { [writing] in
                    outbox.evict(with: [.ended(.slowClient)])
                    writing.cancel()
                    call.cancel()
                }))
    }

    /// Returns this stream's share to the budget.
    func close() {
        budget.unregister(place)
        outbox.fail()
    }

    /// Sends headers and then the outbox's messages, until the outbox ends or the client
    /// disconnects.
    func run(_ stream: ServerRPCStream) async {
        let write = Task(executorPreference: executor) { await self.write(stream) }
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

    /// - Returns: True if the status has been sent.
    private func write(_ stream: ServerRPCStream) async -> Bool {
        var parts: [Part] = [.metadata([:])]
        var bytes = 0
        var written = WrittenBytes()
        var isEnded = false
        while var events = await outbox.next() {
            // Messages that were queued since are sent in the same write.
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
                await written.add(bytes)
                outbox.didSend(bytes)
                parts.removeAll(keepingCapacity: true)
                bytes = 0
            }
            if !parts.isEmpty {
                guard (try? await stream.outbound.write(contentsOf: parts)) != nil else {
                    return false
                }
                await written.add(bytes)
                parts.removeAll(keepingCapacity: true)
                bytes = 0
            }
        }
        return isEnded
    }
}

extension Outbox {
    /// Queues a message of a call. Pauses the call if the outbox is crowded, and cancels it if the
    /// outbox is full.
    package func offer<Response>(_ event: Message, bytes: Int, for call: ServerCallHandle)
    where Message == StreamEvent<Response> {
        switch offer(event, bytes: bytes) {
        case .queued, .closed: break
        case .crowded:
            call.set(isPaused: true)
            // The outbox may have emptied before the call was paused.
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
