import AsyncHTTPClient
import NIOCore
import NIOHTTP1
public import Tidemark

/// An accounts server over HTTP.
public struct HTTPAccountsTransport: AccountsTransport {
    private let endpoint: AccountsEndpoint
    private let appCheck: (any TokenProvider)?
    /// The client reports immediately that no server listens, because the caller does the retries.
    /// It lives as long as the process.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        configuration.connectionPool.retryConnectionEstablishment = false
        // On Apple's systems the client would wait for a network until the deadline.
        configuration.networkFrameworkWaitForConnectivity = false
        return HTTPClient(
            eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }()

    /// - Parameters:
    ///   - endpoint: ``AccountsEndpoint/cloud(key:)`` or ``AccountsEndpoint/local(_:key:)``.
    ///   - appCheck: The provider of the token in `X-Firebase-AppCheck`, as production expects it;
    ///     nil for no token. A call without an attestation is sent without a token.
    public init(_ endpoint: AccountsEndpoint, appCheck: (any TokenProvider)? = nil) {
        self.endpoint = endpoint
        self.appCheck = appCheck
    }

    public func send(
        _ request: AccountsRequest
    ) async throws(AccountsUnreachable) -> AccountsReply {
        var message = HTTPClientRequest(url: endpoint.url(of: request))
        message.method = .POST
        message.headers.add(name: "content-type", value: "application/json")
        if let attested = try? await appCheck?.token() {
            message.headers.add(name: "x-firebase-appcheck", value: attested)
        }
        message.body = .bytes(ByteBuffer(bytes: request.body))
        let deadline = NIODeadline.now() + TimeAmount(request.timeout)
        do {
            let response = try await Self.client.execute(message, deadline: deadline)
            let body = try await response.body.collect(upTo: AccountsService.maxReplyBytes)
            return AccountsReply(
                status: Int(response.status.code), body: Array(body.readableBytesView))
        } catch let error as HTTPClientError {
            let isRefused = error == .connectTimeout
            throw AccountsUnreachable("\(error.shortDescription)", hadNoEffect: isRefused)
        } catch { throw AccountsUnreachable("\(type(of: error))") }
    }
}
