import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Synchronization
import TidemarkModel
import TidemarkResilience

typealias ClientRPCStream = RPCStream<Channel.Transport.Inbound, Channel.Transport.Outbound>

/// The task of a call or a stream, and the reason why it ended.
final class ClientRun: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        /// The number of the time limit.
        var limit: Int?
        /// The reason given by code that ends the run from outside. It overrides the task's own
        /// result.
        var reason: RPCStatus?
        var isOver = false
    }

    private let state = Mutex(State())

    /// Ends the run with `reason`, unless the run is over or already has a reason.
    func end(_ reason: RPCStatus) {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard !state.isOver, state.reason == nil else { return nil }
            state.reason = reason
            return state.task
        }
        task?.cancel()
    }

    /// - Parameters:
    ///   - body: Uses the open stream and returns the status that the server sent.
    ///   - ended: Called exactly once, as the last callback.
    func start(
        _ method: RPCMethod, _ context: CallContext, on transport: GRPCTransport,
        for owner: any CancellableCall,
        body: @escaping @Sendable (ClientRPCStream) async throws -> RPCStatus,
        ended: @escaping @Sendable (RPCStatus) -> Void
    ) {
        let id = transport.register(owner)
        state.withLock { state in
            if let timeout = context.timeout {
                state.limit = systemLimits.begin(timeout) { [weak self] in self?.end(.timedOut) }
            }
            state.task = Task {
                let status = await self.status { try await transport.run(method, body) }
                transport.unregister(id)
                ended(status)
            }
            // The run was ended before its task started.
            if state.reason != nil { state.task?.cancel() }
        }
    }

    private func status(_ body: () async throws -> RPCStatus) async -> RPCStatus {
        let status: RPCStatus
        do { status = try await body() } catch let error as RPCStatus { status = error } catch {
            status = RPCStatus(transport: error)
        }
        return state.withLock { state in
            state.isOver = true
            if let limit = state.limit { systemLimits.end(limit) }
            return state.reason ?? status
        }
    }
}

extension GRPCTransport {
    /// Opens a stream on the current or a new connection, and runs `body` on it.
    fileprivate func run(
        _ method: RPCMethod, _ body: @Sendable (ClientRPCStream) async throws -> RPCStatus
    ) async throws -> RPCStatus {
        let channel = try enterChannel()
        defer { channel.leave() }
        var options = CallOptions.defaults
        options.waitForReady = false
        options.maxRequestMessageBytes = Self.maxMessageBytes
        options.maxResponseMessageBytes = Self.maxMessageBytes
        let didOpen = Atomic(false)
        do {
            return try await channel.transport.withStream(
                descriptor: method.descriptor, options: options
            ) { stream, _ in
                didOpen.store(true, ordering: .relaxed)
                return try await body(stream)
            }
        } catch {
            let isOpen = didOpen.load(ordering: .relaxed)
            if !isOpen, !Task.isCancelled { discard(channel) }
            throw error
        }
    }

    /// Passes every message to `receive` and returns the status that ends the stream.
    ///
    /// - Parameter gate: Delays the next message while the receiver has no room.
    func receiveAll(
        _ stream: ClientRPCStream, gate: ReadingGate? = nil,
        _ receive: (_ message: [UInt8]) throws(RPCStatus) -> Void
    ) async throws -> RPCStatus {
        for try await part in stream.inbound {
            await gate?.pass()
            switch part {
            case .metadata: continue
            case .message(let bytes):
                didReceive(message: bytes.count)
                if Task.isCancelled { continue }
                let message = bytes.withUnsafeBytes { [UInt8]($0) }
                do throws(RPCStatus) { try receive(message) } catch {
                    throw RPCStatus(
                        .internal, "The server's answer could not be read. \(error.message)")
                }
            case .status(let status, let trailing): return RPCStatus(status, trailing)
            }
        }
        throw RPCStatus(.unavailable, "The connection to the server was lost.")
    }
}
