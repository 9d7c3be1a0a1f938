/// A secret that a server requires from its callers. Its description is empty.
public struct AccessToken: Sendable {
    /// The maximum length. Metadata carries the token with every call.
    public static let maxBytes = 4_096

    private let bytes: [UInt8]

    /// Returns nil if metadata cannot carry the token: it must be visible ASCII, not empty and at
    /// most ``maxBytes`` long.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= Self.maxBytes,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        bytes = Array(text.utf8)
    }

    /// Returns true if the caller has sent this token. The time depends only on the length of the
    /// offered token, not on how many bytes are right.
    public func matches(_ offered: String?) -> Bool {
        guard let offered, !offered.isEmpty else { return false }
        let other = Array(offered.utf8)
        var difference = UInt8(other.count == bytes.count ? 0 : 1)
        for index in other.indices { difference |= other[index] ^ bytes[index % bytes.count] }
        return difference == 0
    }

    /// Returns true for a header like `Bearer secret`. The case of the first word does not matter.
    public func matches(authorization header: String?) -> Bool {
        matches(header.flatMap(Self.bearer))
    }

    private static func bearer(_ header: String) -> String? {
        let scheme = "bearer "
        guard header.utf8.count > scheme.utf8.count,
            zip(header.utf8, scheme.utf8).allSatisfy({ $0 == $1 || ($0 | 0x20) == $1 })
        else { return nil }
        return String(header.dropFirst(scheme.count))
    }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    public var description: String { "AccessToken" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension RPCStatus {
    /// The error for a caller without the token, as production sends it. Source:
    /// server-production-facts 10.
    ///
    /// - Parameter method: The method's name in the protocol, for example `Commit`.
    package static func credentialsMissing(method: String) -> RPCStatus {
        RPCStatus(
            .unauthenticated,
            "The call needs the server's token, as in \"authorization: Bearer TOKEN\".",
            details: [
                .errorInfo(
                    reason: "CREDENTIALS_MISSING", domain: "googleapis.com",
                    metadata: [
                        "service": "firestore.googleapis.com",
                        "method": "google.firestore.v1.Firestore.\(method)",
                    ])
            ])
    }
}
