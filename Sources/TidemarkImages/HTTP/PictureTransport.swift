/// Sends requests for pictures, whose answers arrive in parts.
///
/// Conformers: ``HTTPPictureTransport``, and scripts in tests.
public protocol PictureTransport: Sendable {
    /// Sends a GET. Calls `receive` with the head and then with each part of the body, one after
    /// the other, and returns at the end of the body.
    ///
    /// - Throws: The error of `receive`, `CancellationError`, or another error if the network
    ///   failed. Fails at the latest after `request.timeout`.
    func get(
        _ request: PictureGet,
        _ receive: @escaping @Sendable (PictureAnswer) async throws -> Void
    ) async throws
}

/// A GET request.
public struct PictureGet: Sendable {
    public let address: String
    /// Header fields; names are lowercase.
    public let fields: [(name: String, value: String)]
    /// The limit of the whole request; nil for none.
    public let timeout: Duration?
    /// False if the fields contain tokens, which only this address may receive.
    public let followsRedirects: Bool

    public init(
        address: String, fields: [(name: String, value: String)] = [], timeout: Duration? = nil,
        followsRedirects: Bool = true
    ) {
        self.address = address
        self.fields = fields
        self.timeout = timeout
        self.followsRedirects = followsRedirects
    }
}

/// A part of an answer: the head first, then parts of the body.
public enum PictureAnswer: Sendable {
    case head(status: Int, HTTPFields)
    case body([UInt8])
}
