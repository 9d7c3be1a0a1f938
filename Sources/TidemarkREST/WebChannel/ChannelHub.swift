import Foundation
import Synchronization
import TidemarkModel
import TidemarkWire

/// Implements WebChannel, version 8, for Listen and Write: the streams of browsers over HTTP.
///
/// With HTTP/1.1, a browser opens at most six connections to a host, and each open stream uses one.
/// Therefore, a Write stream without requests is ended after ``ChannelMachine/quietLimit``. Clients
/// open another stream for their next write. If requests share a connection, the stream stays open.
package final class ChannelHub: Sendable {
    /// The maximum number of open sessions. Channels of refused callers do not count.
    package static let maxSessions = 10_000
    /// The maximum body of a handshake. The hub reads the body before it knows the caller, because
    /// browsers send the token in it.
    package static let maxHandshakeBytes = 1 << 20
    /// The interval of ``tick()``.
    private static let tickInterval = Duration.seconds(1)
    /// The interval of keep-alives, in ms, that the greeting announces to the browser.
    private static let keepalive = 30_000

    private let service: HTTPService
    private let sessions = Mutex<[String: ChannelSession]>([:])
    private let refused = Mutex(RefusedChannels())
    private let clock: @Sendable () -> Duration
    private let makeID: @Sendable () -> String

    /// - Parameters:
    ///   - clock: The time since a fixed start.
    ///   - makeID: Returns an id that cannot be guessed: every client that knows it can use the
    ///     session.
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

    /// Returns 128 random bits of the system, in hexadecimal digits.
    package static let randomID: @Sendable () -> String = {
        var random = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let text = String(random.next(), radix: 16)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }.joined()
    }

    package static func isChannel(_ head: RESTRequest) -> Bool {
        ChannelRequest.isChannel(head.path)
    }

    /// Returns true if the request has no session yet.
    package static func isHandshake(_ head: RESTRequest) -> Bool {
        guard isChannel(head), let request = try? ChannelRequest(head) else { return false }
        return request.kind == .handshake
    }

    package var count: Int { sessions.withLock { $0.count } }

    /// Calls ``tick()`` until the task is cancelled, and then closes all sessions.
    package func run() async {
        while (try? await Task.sleep(for: Self.tickInterval)) != nil { tick() }
        let open = sessions.withLock { sessions in
            defer { sessions = [:] }
            return Array(sessions.values)
        }
        for session in open { session.close() }
    }

    /// Sends keep-alives, drops abandoned sessions, and ends overdue calls.
    package func tick() {
        service.desk.sweep()
        let now = clock()
        refused.withLock { $0.drop(before: now) }
        let open = sessions.withLock { $0 }
        for (sid, session) in open where session.tick() { drop(sid) }
    }

    private func drop(_ sid: String) { sessions.withLock { $0.removeValue(forKey: sid) }?.close() }

    /// - Returns: The answer; nil if the request is not for WebChannel.
    package func answer(_ request: RESTRequest) async -> HTTPAnswer? {
        guard ChannelRequest.isChannel(request.path) else { return nil }
        do throws(RPCStatus) {
            return try await answer(ChannelRequest(request))
        } catch { return .error(error) }
    }

    /// Returns the answer to a request whose body need not be read: its session does not exist, or
    /// its caller was refused.
    ///
    /// - Parameter head: A request without its body.
    /// - Returns: The answer; nil if the request must be read.
    package func refusal(of head: RESTRequest) -> HTTPAnswer? {
        do throws(RPCStatus) {
            let request = try ChannelRequest(head)
            guard case .forward(let sid) = request.kind else { return nil }
            if refused.withLock({ $0[sid] }) != nil { return Self.text(RefusedChannels.status) }
            return session(sid, request) == nil ? Self.unknownSID : nil
        } catch { return .error(error) }
    }

    private func answer(_ request: ChannelRequest) async throws(RPCStatus) -> HTTPAnswer {
        switch request.kind {
        case .handshake: return try await handshake(request)
        case .forward(let sid):
            guard let session = session(sid, request) else { return Self.unknownSID }
            do throws(RPCStatus) {
                return Self.text(
                    try session.forward(
                        request.maps, first: request.firstMap, acknowledged: request.acknowledged))
            } catch {
                // A session that has ended did not take these maps. The browser sends them again in
                // another session.
                if session.isEnded { return Self.unknownSID }
                throw error
            }
        case .back(let sid):
            if let error = refused.withLock({ $0.take(sid) }) { return Self.text(error) }
            guard let session = session(sid, request) else { return Self.unknownSID }
            let back = session.openBack(
                acknowledged: request.acknowledged ?? 0, isPolling: request.isPolling,
                wait: request.wait)
            return HTTPAnswer(contentType: Self.plainText, body: .parts(back))
        case .terminate(let sid):
            _ = refused.withLock { $0.take(sid) }
            if session(sid, request) != nil { drop(sid) }
            return Self.text("")
        }
    }

    /// Opens a session. A refused caller gets a session that reports the error, because a browser
    /// treats any other answer to a handshake as a network failure. Such a session accepts nothing
    /// and stores only its error.
    private func handshake(_ request: ChannelRequest) async throws(RPCStatus) -> HTTPAnswer {
        let caller: Caller
        let lease = StreamLease()
        do throws(RPCStatus) {
            caller = try await service.desk.streamCaller(
                HTTPService.token(request.headers), method: request.rpc, lease: lease)
        } catch {
            let (sid, now) = (makeID(), clock())
            refused.withLock { $0.add(sid, error, at: now) }
            return Self.greeting(sid)
        }
        // A client that opened many sessions and left them must wait until they are dropped.
        guard count < Self.maxSessions else {
            throw RPCStatus(
                .resourceExhausted, "The server already has \(Self.maxSessions) open channels.")
        }
        let session = ChannelSession(
            request.rpc, origin: request.origin,
            stream: stream(request, caller: caller, lease: lease),
            early: service.bodies.share(),
            endsWhenQuiet: request.rpc == .write && !request.isMultiplexed, clock: clock)
        let sid = makeID()
        sessions.withLock { $0[sid] = session }
        Task(executorPreference: service.executor) { await session.pump() }
        _ = try session.forward(request.maps, first: request.firstMap, acknowledged: nil)
        return Self.greeting(sid)
    }

    private static func greeting(_ sid: String) -> HTTPAnswer {
        text(ChannelMachine.frame("[[0,[\"c\",\"\(sid)\",\"\",8,12,\(keepalive)]]]"))
    }

    private func stream(
        _ request: ChannelRequest, caller: Caller, lease: StreamLease
    ) -> any ChannelStream {
        switch request.rpc {
        case .listen:
            return RPCStreamChannel(
                .listen, request: .listenRequest, response: .listenResponse, service: service,
                caller: caller, lease: lease, headers: request.headers)
        default:
            return RPCStreamChannel(
                .write, request: .writeRequest, response: .writeResponse, service: service,
                caller: caller, lease: lease, headers: request.headers)
        }
    }

    /// Returns an open session; nil if it belongs to another RPC or another origin.
    private func session(_ sid: String, _ request: ChannelRequest) -> ChannelSession? {
        guard let session = sessions.withLock({ $0[sid] }), session.rpc == request.rpc,
            session.origin == request.origin
        else { return nil }
        return session
    }

    private static let plainText = "text/plain; charset=UTF-8"

    /// The answer that makes Google's clients open a new session.
    private static let unknownSID = HTTPAnswer(
        status: 400, contentType: plainText, body: .data(Data("Unknown SID".utf8)))

    private static func text(_ text: String) -> HTTPAnswer {
        HTTPAnswer(contentType: plainText, body: .data(Data(text.utf8)))
    }
}
