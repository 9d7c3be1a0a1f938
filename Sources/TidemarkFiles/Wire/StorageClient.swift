import Foundation
import Synchronization
import Tidemark
import TidemarkHTTPClient
import TidemarkSystem

/// Sends the requests of uploads over HTTP, with the tokens of the user who owns the files.
struct StorageClient: Sendable {
    /// A chunk has at most 8 MiB, and a slow chunk makes the next one smaller, so silence
    /// means a dead connection.
    private static let session = HTTPSession(maxRedirects: 0, silence: .seconds(60))

    /// No request is sent: the tokens belong to another user, or there are none now.
    struct NotOwner: Error {}

    let wire: StorageWire
    let tokens: StorageTokens
    /// The session of the system that sends the chunks of files; nil if this process sends them.
    var background: BackgroundSession?

    /// - Parameter file: The number of the file in the journal; nil for an upload without one.
    func send(
        _ request: UploadMachine.Request, _ target: UploadTarget, of user: [UInt8], chunk: Data,
        file: Int64? = nil
    ) async throws -> UploadAnswer {
        let tokens = try await tokens.current(of: user)
        if let background, let file, case .chunk(let address, let offset, _, _) = request {
            return try await background.send(
                wire.request(request, target, with: tokens), bytes: chunk,
                BackgroundChunks.Chunk(user: user, file: file, address: address, offset: offset))
        }
        return try await answer(to: wire.request(request, target, with: tokens, chunk: chunk))
    }

    /// Ends a session that is not needed. A failure has no consequence: Storage drops the session
    /// after a week.
    func cancel(_ session: String, of user: [UInt8]) async {
        guard let tokens = try? await tokens.current(of: user) else { return }
        _ = try? await answer(to: wire.cancel(session, tokens))
    }

    func remove(_ object: ObjectName, of user: [UInt8]) async throws -> UploadAnswer {
        let tokens = try await tokens.current(of: user)
        return try await answer(to: wire.removal(of: object.name, in: object.bucket, tokens))
    }

    /// Sends a request, and returns its answer.
    ///
    /// - Parameters:
    ///   - body: The JSON to send; nil for no body.
    ///   - limit: The maximum size of the answer's body in bytes.
    /// - Throws: ``StorageError/downloadSizeExceeded(total:maxSize:)`` for a larger body; another
    ///   error if no answer arrived.
    func exchange(
        _ method: String, _ address: String, body sent: [UInt8]?, limit: Int64
    ) async throws -> (status: Int, body: [UInt8]) {
        let tokens = try await tokens.current(of: [])
        var fields = wire.common(tokens, to: address)
        if sent != nil { fields.append(("content-type", "application/json; charset=utf-8")) }
        let request = HTTPRequest(method, address, fields: fields, body: sent)
        var status = 0
        var body: [UInt8] = []
        try await Self.session.send(request) { part in
            switch part {
            case .head(let code, _): status = code
            case .body(let bytes):
                let total = Int64(body.count + bytes.count)
                if status < 300, total > limit {
                    throw StorageError.downloadSizeExceeded(total: total, maxSize: limit)
                }
                // The body of an error is only shown.
                body += status < 300 ? bytes[...] : bytes.prefix(max(0, 4_096 - body.count))
            }
        }
        return (status, body)
    }

    /// Stores an object in a file, which is compared with the digest that Storage sends. After an
    /// error, another call continues behind the stored bytes.
    ///
    /// - Parameter onProgress: Receives the number of stored bytes, and the whole number or 0.
    /// - Throws: ``StorageError`` for a file that cannot be stored or has a wrong digest; another
    ///   error if no complete answer arrived.
    func download(
        _ address: String, into media: MediaDownload,
        onProgress: @escaping @Sendable (_ bytes: Int64, _ total: Int64) -> Void
    ) async throws -> (status: Int, body: [UInt8]) {
        while true {
            let tokens = try await tokens.current(of: [])
            let fields = wire.common(tokens, to: address) + media.fields
            var refusal: [UInt8] = []
            try await Self.session.send(HTTPRequest("GET", address, fields: fields)) { part in
                switch part {
                case .head(let code, let fields): try media.begin(code, .init(fields))
                case .body(let bytes) where media.status >= 300:
                    refusal += bytes.prefix(max(0, 4_096 - refusal.count))
                case .body(let bytes):
                    try media.store(bytes)
                    let (bytes, total) = media.progress
                    onProgress(bytes, total)
                }
            }
            switch try media.end() {
            case .more: continue
            case .whole: return (200, [])
            case .refused(let status): return (status, refusal)
            }
        }
    }

    private func answer(to request: HTTPRequest) async throws -> UploadAnswer {
        var status = 0
        var fields: [(name: String, value: String)] = []
        var body: [UInt8] = []
        try await Self.session.send(request) { part in
            switch part {
            case .head(let code, let all): (status, fields) = (code, all)
            // A longer body is no metadata of an object.
            case .body(let bytes): body += bytes.prefix(StorageWire.maxBody - body.count)
            }
        }
        return UploadAnswer(status: status, fields: fields, body: body)
    }
}

/// The tokens of the signed-in user, with the memory of which one was refused.
final class StorageTokens: Sendable {
    private struct State {
        var used: String?
        var refused: String?
    }

    private let provider: (any TokenProvider)?
    private let appCheck: (any TokenProvider)?
    private let state = Mutex(State())

    init(_ provider: (any TokenProvider)?, appCheck: (any TokenProvider)?) {
        self.provider = provider
        self.appCheck = appCheck
    }

    /// - Parameter user: The bytes of the id of the user who owns the files; empty for no user.
    /// - Throws: ``StorageClient/NotOwner`` if the token is known to be another user's; the
    ///   provider's error.
    func current(of user: [UInt8]) async throws -> StorageWire.Tokens {
        var tokens = StorageWire.Tokens()
        if let provider {
            let refused = state.withLock { $0.refused }
            tokens.user = try await provider.token(replacing: refused)
        }
        if let token = tokens.user, let owner = Self.owner(of: token), !user.isEmpty,
            Array(owner.utf8) != user
        {
            throw StorageClient.NotOwner()
        }
        if let appCheck { tokens.appCheck = try? await appCheck.token() }
        let used = tokens.user
        state.withLock { state in
            state.used = used
            if used != state.refused { state.refused = nil }
        }
        return tokens
    }

    /// Notes that Storage refused the last token.
    ///
    /// - Returns: True if the provider has another one.
    func replace() async -> Bool {
        guard let provider else { return false }
        let refused = state.withLock { state in
            state.refused = state.used
            return state.refused
        }
        guard let refused else { return false }
        let new = try? await provider.token(replacing: refused)
        return new != nil && new != refused
    }

    /// Returns the user of an ID token, which is not verified here; nil for other tokens.
    static func owner(of token: String) -> String? {
        struct Claims: Decodable {
            var user_id: String?
            var sub: String?
        }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var text = parts[1].replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        guard let data = Data(base64Encoded: text),
            let claims = try? JSONDecoder().decode(Claims.self, from: data)
        else { return nil }
        return claims.user_id ?? claims.sub
    }
}
