import Synchronization
import TidemarkImages

/// A network with the replies of a test, which records the requests.
final class ScriptedPictures: PictureTransport {
    struct Reply {
        var status = 200
        var fields: [(name: String, value: String)] = []
        var body: [UInt8] = []
        /// The number of bytes of the body after which the connection breaks.
        var breaksAfter: Int?
        /// The gate that the reply waits for.
        var gate: Gate?
    }

    struct Broken: Error {}

    private struct State {
        var requests: [PictureGet] = []
        var cancelled = 0
        var watchers:
            [(isTrue: @Sendable (State) -> Bool, wake: CheckedContinuation<Void, Never>)] =
                []
    }

    private let state = Mutex(State())
    private let answer: @Sendable (PictureGet, _ number: Int) -> Reply

    /// - Parameter answer: Receives the request, and the number of earlier requests for its
    ///   address.
    init(_ answer: @escaping @Sendable (PictureGet, _ number: Int) -> Reply) {
        self.answer = answer
    }

    /// Serves pictures by address, with a tag: whole, or from the requested byte.
    convenience init(_ files: [String: [UInt8]], maxAge: Int = 3_600, gate: Gate? = nil) {
        self.init { request, _ in
            guard let file = files[request.address] else { return Reply(status: 404) }
            return .file(file, request, maxAge: maxAge, gate: gate)
        }
    }

    var requests: [PictureGet] { state.withLock { $0.requests } }
    var cancelled: Int { state.withLock { $0.cancelled } }
    func fields(_ index: Int) -> HTTPFields { HTTPFields(requests[index].fields) }

    func get(
        _ request: PictureGet,
        _ receive: @escaping @Sendable (PictureAnswer) async throws -> Void
    ) async throws {
        let number = state.withLock { state in
            state.requests.append(request)
            return state.requests.count { $0.address == request.address } - 1
        }
        wake()
        do {
            let reply = answer(request, number)
            try await reply.gate?.pass()
            try await receive(.head(status: reply.status, HTTPFields(reply.fields)))
            let end = min(reply.breaksAfter ?? reply.body.count, reply.body.count)
            for start in stride(from: 0, to: end, by: 1_000) {
                try await receive(.body(Array(reply.body[start..<min(end, start + 1_000)])))
            }
            if reply.breaksAfter != nil { throw Broken() }
        } catch is CancellationError {
            state.withLock { $0.cancelled += 1 }
            wake()
            throw CancellationError()
        }
    }

    private func wake() {
        let woken = state.withLock { state in
            let woken = state.watchers.filter { $0.isTrue(state) }.map(\.wake)
            let now = state
            state.watchers.removeAll { $0.isTrue(now) }
            return woken
        }
        for one in woken { one.resume() }
    }

    private func wait(_ isTrue: @escaping @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if isTrue(state) { return true }
                state.watchers.append((isTrue, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func requests(_ count: Int) async { await wait { $0.requests.count >= count } }
    func cancellations(_ count: Int) async { await wait { $0.cancelled >= count } }
}

extension ScriptedPictures.Reply {
    /// Returns the reply of a correct server.
    static func file(
        _ file: [UInt8], _ request: PictureGet, tag: String = "\"1\"", maxAge: Int = 3_600,
        breaksAfter: Int? = nil, gate: Gate? = nil
    ) -> Self {
        let asked = Dictionary(
            request.fields.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        var fields = [("etag", tag), ("cache-control", "max-age=\(maxAge)")]
        if asked["if-none-match"] == tag {
            return Self(status: 304, fields: fields, gate: gate)
        }
        if let range = asked["range"], asked["if-range"] == tag,
            let start = Int(range.dropFirst("bytes=".count).dropLast()), start < file.count
        {
            fields.append(("content-range", "bytes \(start)-\(file.count - 1)/\(file.count)"))
            fields.append(("content-length", "\(file.count - start)"))
            return Self(
                status: 206, fields: fields, body: Array(file[start...]),
                breaksAfter: breaksAfter, gate: gate)
        }
        fields.append(("content-length", "\(file.count)"))
        return Self(fields: fields, body: file, breaksAfter: breaksAfter, gate: gate)
    }
}

/// Blocks its callers until the test opens the gate. A cancelled caller does not wait.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var last = 0
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    }

    private let state = Mutex(State())

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for one in waiting { one.resume() }
    }

    func pass() async throws {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let end: Result<Void, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.isOpen { return .success(()) }
                    state.waiting[number] = continuation
                    return nil
                }
                if let end { continuation.resume(with: end) }
            }
        } onCancel: {
            let one = state.withLock { $0.waiting.removeValue(forKey: number) }
            one?.resume(throwing: CancellationError())
        }
    }
}
