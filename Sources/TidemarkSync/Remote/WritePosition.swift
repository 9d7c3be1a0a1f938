import TidemarkModel

/// The progress of a write stream, in the server's terms. If answers were lost, a server that knows
/// the position repeats the later answers.
struct WritePosition: Hashable, Sendable {
    /// Only our server makes ids with this prefix, and ids are returned only to it: Firestore
    /// reserves these fields for itself.
    private static let prefix = "tidemark-"

    let streamID: String
    let token: [UInt8]

    /// Returns nil for a stream that cannot be resumed.
    init?(streamID: String, token: [UInt8]) {
        guard streamID.utf8.starts(with: Self.prefix.utf8), !token.isEmpty else { return nil }
        self.streamID = streamID
        self.token = token
    }
}
