import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import TidemarkResilience

/// Loads pictures over HTTP. Follows up to five redirects; sends no cookies and no credentials.
public struct HTTPPictureTransport: PictureTransport {
    /// A client that reports a missing server immediately, because the caller retries. It lives as
    /// long as the process.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        configuration.connectionPool.retryConnectionEstablishment = false
        // With this option, the client would wait for a network until the deadline on Apple's
        // systems.
        configuration.networkFrameworkWaitForConnectivity = false
        configuration.redirectConfiguration = .follow(max: 5, allowCycles: false)
        configuration.timeout.connect = .seconds(10)
        // The limit of silence within an answer: a slow answer that still arrives is accepted.
        configuration.timeout.read = .seconds(15)
        return HTTPClient(
            eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }()

    /// The limit of a request that has none.
    private static let longest = Duration.seconds(600)

    public init() {}

    public func get(
        _ request: PictureGet,
        _ receive: @escaping @Sendable (PictureAnswer) async throws -> Void
    ) async throws {
        let limit = request.timeout ?? Self.longest
        // The client's own deadline covers only the head, and a body can arrive a byte at a time.
        try await withTimeout(limit) { try await Self.send(request, receive) }
    }

    private static func send(
        _ request: PictureGet, _ receive: @Sendable (PictureAnswer) async throws -> Void
    ) async throws {
        var message = HTTPClientRequest(url: request.address)
        message.headers.add(name: "accept", value: "image/webp, image/jpeg, image/png")
        // A compressed body cannot be resumed by its own bytes, and pictures are compressed
        // already.
        message.headers.add(name: "accept-encoding", value: "identity")
        for field in request.fields { message.headers.add(name: field.name, value: field.value) }
        let response = try await client.execute(message, deadline: .now() + .hours(1))
        let fields = HTTPFields(response.headers.map { ($0.name, $0.value) })
        try await receive(.head(status: Int(response.status.code), fields))
        for try await part in response.body {
            try await receive(.body(Array(part.readableBytesView)))
        }
    }
}
