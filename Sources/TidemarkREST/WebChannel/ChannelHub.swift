import Foundation
import Synchronization
import TidemarkModel
import TidemarkWire

/// WebChannel, version 8, for Listen and Write: how browsers have streams over HTTP.
///
/// A browser keeps six connections to a host where each carries one request, and each open stream holds
/// one. So a stream of writes that asks for nothing is ended after ``ChannelMachine/quietLimit``; clients
/// open another for their next write. Where requests share a connection it stays open.
package final class ChannelHub: Sendable {
    /// Sessions at once; more are refused.
    package static let maxSessions = 10_000
    /// How often it is looked for what is due.
    private static let tickInterval = Duration.seconds(1)
    /// What the browser is told of how long a back channel may be silent, in ms.
    private static let keepalive = 30_000

    private let service: HTTPService
    private let sessions = Mutex<[String: ChannelSession]>([:])
    private let clock: @Sendable () -> Duration
    private let makeID: @Sendable () -> String

    /// - Parameters:
    ///   - clock: Time since a beginning that never changes.
    ///   - makeID: An id that nobody can guess: whoever knows it has the session.
    package init(
        _ service: HTTPService,
        clock: @escaping @Sendable () -> Duration = ChannelHub.uptime,
        makeID: @escaping @Sendable () -> String = ChannelHub.randomID
    ) {
        self.service = service
        self.clock = clock
        self.makeID = makeID
    }

    private static let start = ContinuousClock.now
    package static let uptime: @Sendable () -> Duration = { start.duration(to: .now) }

    /// 128 bits of the system's randomness.
    package static let randomID: @Sendable () -> String = {
        var random = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let text = String(random.next(), radix: 16)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }.joined()
    }

    package var count: Int { sessions.withLock { $0.count } }

    /// Looks for what is due until the task is cancelled, and then closes all sessions.
    package func run() async {
        while (try? await Task.sleep(for: Self.tickInterval)) != nil { tick() }
        let open = sessions.withLock { sessions in
            defer { sessions = [:] }
            return Array(sessions.values)
        }
        for session in open { session.close() }
    }

    /// Sends what keeps answers alive, drops sessions that nobody asks for, ends calls that are overdue.
    package func tick() {
        service.desk.sweep()
        let open = sessions.withLock { $0 }
        for (sid, session) in open where session.tick() { drop(sid) }
    }

    private func drop(_ sid: String) { sessions.withLock { $0.removeValue(forKey: sid) }?.close() }

    /// - Returns: Nil for a request that is no WebChannel's.
    package func answer(_ request: RESTRequest) async -> HTTPAnswer? {
        guard ChannelRequest.isChannel(request.path) else { return nil }
        do throws(RPCStatus) {
            return try await answer(ChannelRequest(request))
        } catch { return .error(error) }
    }

    private func answer(_ request: ChannelRequest) async throws(RPCStatus) -> HTTPAnswer {
        switch request.kind {
        case .handshake: return try await handshake(request)
        case .forward(let sid):
            guard let session = session(sid, request) else { return Self.unknownSID }
            guard
                let text = session.forward(
                    request.maps, first: request.firstMap, acknowledged: request.acknowledged)
            else {
                // What came too late for it was not taken: the browser sends it in another session.
                if session.isEnded { return Self.unknownSID }
                throw RPCStatus(
                    .resourceExhausted, "Too much came before what should have come first.")
            }
            return Self.text(text)
        case .back(let sid):
            guard let session = session(sid, request) else { return Self.unknownSID }
            let back = session.openBack(
                acknowledged: request.acknowledged ?? 0, isPolling: request.isPolling,
                wait: request.wait)
            return HTTPAnswer(contentType: Self.plainText, body: .parts(back))
        case .terminate(let sid):
            if session(sid, request) != nil { drop(sid) }
            return Self.text("")
        }
    }

    private func handshake(_ request: ChannelRequest) async throws(RPCStatus) -> HTTPAnswer {
        // What opened many sessions and left them has to wait until they are dropped.
        guard count < Self.maxSessions else {
            throw RPCStatus(
                .resourceExhausted, "The server has \(Self.maxSessions) channels open already.")
        }
        let stream = await stream(request)
        let session = ChannelSession(
            request.rpc, origin: request.origin, stream,
            endsWhenQuiet: request.rpc == .write && !request.isMultiplexed, clock: clock)
        let sid = makeID()
        sessions.withLock { $0[sid] = session }
        Task(executorPreference: service.executor) { await session.pump() }
        _ = session.forward(request.maps, first: request.firstMap, acknowledged: nil)
        return Self.text(
            ChannelMachine.frame("[[0,[\"c\",\"\(sid)\",\"\",8,12,\(Self.keepalive)]]]"))
    }

    /// A caller who is refused gets a session that says so: a browser takes any other answer to a
    /// handshake for a network that does not work.
    private func stream(_ request: ChannelRequest) async -> any ChannelStream {
        let caller: Caller
        let lease = StreamLease()
        do throws(RPCStatus) {
            caller = try await service.desk.streamCaller(
                HTTPService.token(request.headers), request.rpc, lease)
        } catch { return RefusedStream(error) }
        switch request.rpc {
        case .listen:
            return RPCStreamChannel(
                .listen, .listenRequest, .listenResponse, service, caller, lease, request.headers)
        default:
            return RPCStreamChannel(
                .write, .writeRequest, .writeResponse, service, caller, lease, request.headers)
        }
    }

    /// Nil also for a session of another kind, or of another page.
    private func session(_ sid: String, _ request: ChannelRequest) -> ChannelSession? {
        guard let session = sessions.withLock({ $0[sid] }), session.rpc == request.rpc,
            session.origin == request.origin
        else { return nil }
        return session
    }

    private static let plainText = "text/plain; charset=UTF-8"

    /// The words by which Google's clients know to begin anew.
    private static let unknownSID = HTTPAnswer(
        status: 400, contentType: plainText, body: .data(Data("Unknown SID".utf8)))

    private static func text(_ text: String) -> HTTPAnswer {
        HTTPAnswer(contentType: plainText, body: .data(Data(text.utf8)))
    }
}

/// The stream of a caller who may not have one.
private final class RefusedStream: ChannelStream {
    private let status: Mutex<RPCStatus?>

    init(_ status: RPCStatus) { self.status = Mutex(status) }

    func receive(_ json: String) {}

    func next() async -> [String]? {
        status.withLock { $0.take() }.map { status in
            let error = JSONOutput.list([ErrorJSON.output(of: status)])
            return [String(decoding: error.data(), as: UTF8.self)]
        }
    }

    func cancel() {}
}
