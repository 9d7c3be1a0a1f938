import TidemarkModel

/// How far a write stream has come, in the server's words. A server that knows them answers again
/// what came after, when its answers were lost.
struct WritePosition: Hashable, Sendable {
    /// Only our own server makes ids of this kind, and only to it they are returned: Firestore keeps
    /// the fields for itself.
    private static let prefix = "tidemark-"

    let streamID: String
    let token: [UInt8]

    /// Nil for a stream that cannot be taken up again.
    init?(streamID: String, token: [UInt8]) {
        guard streamID.utf8.starts(with: Self.prefix.utf8), !token.isEmpty else { return nil }
        self.streamID = streamID
        self.token = token
    }
}
