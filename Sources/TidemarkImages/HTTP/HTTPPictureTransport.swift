import TidemarkHTTPClient
import TidemarkResilience

/// Loads pictures over HTTP, by the system's URLSession. Follows up to five redirects, but none of
/// a request with tokens; sends no cookies and no credentials of its own.
public struct HTTPPictureTransport: PictureTransport {
    /// Silence within an answer is limited, and a slow answer that still arrives is accepted.
    private static let session = HTTPSession(maxRedirects: 5, silence: .seconds(15))
    private static let direct = HTTPSession(maxRedirects: 0, silence: .seconds(15))

    /// The limit of a request that has none.
    private static let longest = Duration.seconds(600)

    public init() {}

    public func get(
        _ request: PictureGet,
        _ receive: @escaping @Sendable (PictureAnswer) async throws -> Void
    ) async throws {
        // The session's limit is of silence, and a body can arrive a byte at a time.
        try await withTimeout(request.timeout ?? Self.longest) {
            try await Self.send(request, receive)
        }
    }

    private static func send(
        _ request: PictureGet, _ receive: @Sendable (PictureAnswer) async throws -> Void
    ) async throws {
        // A compressed body cannot be resumed by its own bytes, and pictures are compressed
        // already.
        let fields = [
            (name: "accept", value: "image/webp, image/jpeg, image/png"),
            (name: "accept-encoding", value: "identity"),
        ]
        let message = HTTPRequest("GET", request.address, fields: fields + request.fields)
        try await (request.followsRedirects ? session : direct).send(message) { part in
            switch part {
            case .head(let status, let fields):
                try await receive(.head(status: status, HTTPFields(fields)))
            case .body(let bytes): try await receive(.body(bytes))
            }
        }
    }
}
