public import Tidemark
import TidemarkHTTPClient
import TidemarkResilience

/// An accounts server over HTTP, by the system's URLSession. Keeps no cookies and no cache, and
/// follows no redirect.
public struct HTTPAccountsTransport: AccountsTransport {
    private let endpoint: AccountsEndpoint
    private let appCheck: (any TokenProvider)?
    /// A request's own time limit is shorter.
    private static let session = HTTPSession(maxRedirects: 0, silence: .seconds(60))

    /// - Parameters:
    ///   - endpoint: ``AccountsEndpoint/cloud(key:bundleID:)`` or
    ///     ``AccountsEndpoint/local(_:key:bundleID:)``.
    ///   - appCheck: The provider of the token in `X-Firebase-AppCheck`, as production expects it;
    ///     nil for no token. A call without an attestation is sent without a token.
    public init(_ endpoint: AccountsEndpoint, appCheck: (any TokenProvider)? = nil) {
        self.endpoint = endpoint
        self.appCheck = appCheck
    }

    public func send(
        _ request: AccountsRequest
    ) async throws(AccountsUnreachable) -> AccountsReply {
        var fields = [(name: "content-type", value: "application/json")]
        // Google's own clients send this field, and Google compares the value with the apps that an
        // API key is restricted to.
        if let bundleID = endpoint.bundleID {
            fields.append((name: "x-ios-bundle-identifier", value: bundleID))
        }
        if let attested = try? await appCheck?.token() {
            fields.append((name: "x-firebase-appcheck", value: attested))
        }
        let message = HTTPRequest(
            "POST", endpoint.url(of: request), fields: fields, body: request.body)
        do {
            let answer = try await withTimeout(request.timeout) {
                try await Self.session.answer(to: message, upTo: AccountsService.maxReplyBytes)
            }
            return AccountsReply(status: answer.status, body: answer.body)
        } catch {
            throw AccountsUnreachable(
                HTTPSession.reason(error), hadNoEffect: Failure(error).hadNoEffect)
        }
    }
}
