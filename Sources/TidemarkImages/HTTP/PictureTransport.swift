/// What a pipeline asks of a network: one request, whose answer comes part by part.
///
/// Conformers: ``HTTPPictureTransport``, and scripts in tests.
public protocol PictureTransport: Sendable {
    /// Sends a GET, and gives the head and then the body to `receive` as they arrive, the next part only
    /// when it has returned. Returns at the body's end.
    ///
    /// - Throws: What `receive` throws, `CancellationError`, or anything else for a network that failed
    ///   before the end. It ends at the latest when `request.timeout` is over.
    func get(
        _ request: PictureGet,
        _ receive: @escaping @Sendable (PictureAnswer) async throws -> Void
    ) async throws
}

/// A GET of an address.
public struct PictureGet: Sendable {
    public let address: String
    /// Names in small letters.
    public let fields: [(name: String, value: String)]
    /// For the whole of it; nil for no limit.
    public let timeout: Duration?

    public init(
        address: String, fields: [(name: String, value: String)] = [], timeout: Duration? = nil
    ) {
        self.address = address
        self.fields = fields
        self.timeout = timeout
    }
}

/// A part of an answer: the head once, then the body.
public enum PictureAnswer: Sendable {
    case head(status: Int, HTTPFields)
    case body([UInt8])
}
