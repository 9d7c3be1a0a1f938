import Synchronization
import TidemarkModel
import TidemarkServer

@testable import TidemarkWire

/// A server on the test's thread that receives bytes as from a socket.
final class FuzzedServer {
    private let thread = OneThread()
    private let names = Names(database)
    private let empty: ServerSnapshot
    let server: FirestoreServer
    /// Responses that are wrong for any bytes.
    private(set) var failures: [String] = []

    init(seed: UInt64) throws {
        let chance = Mutex(SeededRandom(seed: seed))
        let thread = self.thread
        server = try FirestoreServer(
            .init(),
            environment: ServerEnvironment(
                now: { thread.now }, randomBits: { chance.withLock { $0.next() } },
                executor: thread))
        empty = try server.snapshot()
    }

    /// Deletes the documents of earlier messages, because otherwise they accumulate.
    func empties() throws {
        try server.restore(empty)
        thread.run()
    }

    func call(_ method: RPCMethod, _ bytes: [UInt8]) {
        let decoded: DecodedRequest
        do throws(RPCStatus) { decoded = try DecodedRequest(method, bytes) } catch {
            return note(error, method.rawValue)
        }
        let outcome = Outcome()
        let context = CallContext(database: decoded.database)
        let call = server.call(decoded.request, context) { event in
            switch event {
            case .message(let reply): _ = ReplyCoder(Names(context.database)).encode(reply)
            case .ended(let status): outcome.status.withLock { $0 = status }
            }
        }
        thread.run()
        // A call that waits for a lock does not end without a cancellation.
        if outcome.status.withLock({ $0 }) == nil {
            call.cancel()
            thread.run()
        }
        guard let status = outcome.status.withLock({ $0 }) else {
            failures.append("\(method.rawValue) has no end")
            return
        }
        note(status, method.rawValue)
    }

    func listen(_ bytes: [UInt8]) {
        exchange(bytes, IncomingMessage<ListenRequest>.listen, "Listen") { context, receive in
            server.listen(context) { event in
                if case .message(let response) = event {
                    _ = ListenCoder(Names(context.database)).encode(response)
                    if case .targetChange(let change) = response, let cause = change.cause {
                        receive(cause)
                    }
                }
                if case .ended(let status) = event { receive(status) }
            }
        }
    }

    func write(_ bytes: [UInt8]) {
        exchange(bytes, IncomingMessage<WriteRequest>.write, "Write") { context, receive in
            let stream = server.write(context) { event in
                if case .ended(let status) = event { receive(status) }
            }
            // The first request is the handshake. The server takes the following messages for
            // writes.
            stream.send(WriteRequest())
            return stream
        }
    }

    private func exchange<Message: Sendable>(
        _ bytes: [UInt8], _ parse: ([UInt8]) throws(RPCStatus) -> IncomingMessage<Message>,
        _ method: String,
        _ open: (CallContext, @escaping @Sendable (RPCStatus) -> Void)
            -> any RequestStream<Message>
    ) {
        do throws(RPCStatus) {
            let incoming = try parse(bytes)
            let names = Names(try Names.database(incoming.database))
            let message = try incoming.decode(names)
            let outcome = Outcome()
            let stream = open(CallContext(database: names.database)) { status in
                outcome.status.withLock { $0 = status }
            }
            stream.send(message)
            thread.run()
            if let status = outcome.status.withLock({ $0 }) { note(status, method) }
            stream.cancel()
            thread.run()
        } catch { note(error, method) }
    }

    private func note(_ status: RPCStatus, _ method: String) {
        let bad: Set<RPCStatus.Code> = [.internal, .unknown, .dataLoss]
        if bad.contains(status.code) { failures.append("\(method): \(status)") }
        if status.code != .ok, status.message.isEmpty { failures.append("\(method): no sentence") }
    }
}

private final class Outcome: Sendable {
    let status = Mutex<RPCStatus?>(nil)
}

/// Runs the server's jobs on request, at a constant time.
private final class OneThread: ServerExecutor {
    private let jobs = Mutex<[@Sendable () -> Void]>([])
    let now = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)
    var uptime: Duration { .zero }

    func run() {
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { job() }
    }

    func after(_ delay: Duration, _ job: @escaping @Sendable () -> Void) {}
    func async(_ job: @escaping @Sendable () -> Void) { jobs.withLock { $0.append(job) } }
    func sync(_ job: @Sendable () -> Void) {
        run()
        job()
    }
}
