import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Sends an administrator's calls to a service over HTTP. A token that the service refuses is
/// replaced once.
struct AuditHTTP: Sendable {
    struct Answer: Sendable {
        let status: HTTPResponseStatus
        let headers: HTTPHeaders
        let body: ByteBuffer
    }

    /// The subject of messages, such as `The accounts at https://…`.
    let service: String
    let client: HTTPClient
    let tokens: AccountDirectory.Tokens

    /// The maximum size of an answer in bytes. A server that ignores the mask of fields sends all
    /// of them.
    private static let maxBytes = 16 << 20
    private static let timeout = TimeAmount.seconds(10)

    /// - Throws: ``AuditError`` if there is no answer.
    func answer(to request: HTTPClientRequest) async throws -> Answer {
        let token = try await tokens(nil)
        let answer = try await send(request, token)
        // The token expired: repeats the call once with a new token.
        if answer.status == .unauthorized, let new = try? await tokens(token), new != token {
            return try await send(request, new)
        }
        return answer
    }

    private func send(_ request: HTTPClientRequest, _ token: String) async throws -> Answer {
        var request = request
        request.headers.replaceOrAdd(name: "authorization", value: "Bearer \(token)")
        do {
            let response = try await client.execute(request, timeout: Self.timeout)
            return Answer(
                status: response.status, headers: response.headers,
                body: try await response.body.collect(upTo: Self.maxBytes))
        } catch let error as CancellationError {
            throw error
        } catch {
            throw AuditError("\(service) cannot be reached: \(error)")
        }
    }
}
