/// A secret that a server asks of its callers. It prints as nothing.
public struct AccessToken: Sendable {
    /// A longer one is refused; metadata has to carry it with every call.
    public static let maxBytes = 4_096

    private let bytes: [UInt8]

    /// Nil for what metadata cannot carry: it must be visible ASCII, not empty and not too long.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= Self.maxBytes,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        bytes = Array(text.utf8)
    }

    /// Whether a caller has shown it. Takes as long for a token that is nearly right as for any other of
    /// its length.
    public func matches(_ offered: String?) -> Bool {
        guard let offered, !offered.isEmpty else { return false }
        let other = Array(offered.utf8)
        var difference = UInt8(other.count == bytes.count ? 0 : 1)
        for index in other.indices { difference |= other[index] ^ bytes[index % bytes.count] }
        return difference == 0
    }

    /// As in `Bearer secret`, whatever the case of the first word.
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
    /// What a caller is told who has not shown the token, as production tells it. Source:
    /// server-production-facts 10.
    ///
    /// - Parameter method: Its name in the protocol, as in `Commit`.
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
