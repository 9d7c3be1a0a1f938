import TidemarkHTTPClient
import TidemarkResilience

/// Sends an administrator's calls to a service over HTTP. A token that the service refuses is
/// replaced once.
struct AuditHTTP: Sendable {
    /// The subject of messages, such as `The accounts at https://…`.
    let service: String
    let tokens: AccountDirectory.Tokens

    /// A call ends earlier, by its own limit.
    private static let session = HTTPSession(maxRedirects: 0, silence: .seconds(60))
    /// The maximum size of an answer in bytes. A server that ignores the mask of fields sends all
    /// of them.
    private static let maxBytes = 16 << 20
    private static let timeout = Duration.seconds(10)

    /// - Parameter body: JSON; nil for no body.
    /// - Throws: ``AuditError`` if there is no answer.
    func answer(
        to method: String, _ address: String, body: [UInt8]? = nil
    ) async throws -> HTTPAnswer {
        let token = try await tokens(nil)
        let answer = try await send(method, to: address, body: body, token: token)
        // The token expired: repeats the call once with a new token.
        if answer.status == 401, let new = try? await tokens(token), new != token {
            return try await send(method, to: address, body: body, token: new)
        }
        return answer
    }

    private func send(
        _ method: String, to address: String, body: [UInt8]?, token: String
    ) async throws -> HTTPAnswer {
        var fields = [(name: "authorization", value: "Bearer \(token)")]
        if body != nil { fields.append(("content-type", "application/json")) }
        let request = HTTPRequest(method, address, fields: fields, body: body)
        do {
            return try await withTimeout(Self.timeout) {
                try await Self.session.answer(to: request, upTo: Self.maxBytes)
            }
        } catch let error as CancellationError {
            throw error
        } catch is AttemptTimedOut {
            throw AuditError(
                "\(service) did not answer within \(Self.timeout.components.seconds) s.")
        } catch {
            throw AuditError("\(service) cannot be reached: \(HTTPSession.explanation(error))")
        }
    }

    /// The error of an answer with an unexpected status.
    func refusal(_ answer: HTTPAnswer, to call: String? = nil) -> AuditError {
        let text = String(decoding: answer.body.prefix(200), as: UTF8.self)
        let call = call.map { "\($0) with " } ?? ""
        return AuditError("\(service) answered \(call)\(answer.status): \(text)")
    }
}
