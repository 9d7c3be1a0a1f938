import GRPCCore
import TidemarkModel

/// The metadata keys that client and server share.
package enum MetadataKey {
    package static let label = "x-tidemark-label"
    package static let client = "x-tidemark-client"
    /// The value "1" asks for the billed operations of the call in the trailers.
    package static let usage = "x-tidemark-usage"
    static let authorization = "authorization"
    /// The token of Firebase App Check, without a scheme.
    package static let appCheck = "x-firebase-appcheck"
    static let resourcePrefix = "google-cloud-resource-prefix"
    static let requestParams = "x-goog-request-params"
    /// The name and version of the client, as Google's clients send theirs.
    package static let apiClient = "x-goog-api-client"
    package static let userAgent = "user-agent"
    static let timeout = "grpc-timeout"
    /// The server's own mark for a call whose requests can be compressed with gzip.
    static let packed = "x-tidemark-packed"
}

extension Metadata {
    init(_ context: CallContext) {
        let database = context.database
        self.init()
        addString(database.name, forKey: MetadataKey.resourcePrefix)
        addString("tidemark/\(Version.number)", forKey: MetadataKey.apiClient)
        addString(
            "project_id=\(Self.escaped(database.project))"
                + "&database_id=\(Self.escaped(database.database))",
            forKey: MetadataKey.requestParams)
        if let label = context.label { addString(Self.ascii(label), forKey: MetadataKey.label) }
        if let client = context.client {
            addString(Self.ascii(client), forKey: MetadataKey.client)
        }
        if context.reportsUsage { addString("1", forKey: MetadataKey.usage) }
        if let token = context.token {
            addString("Bearer " + Self.ascii(token), forKey: MetadataKey.authorization)
        }
        if let token = context.appCheckToken {
            addString(Self.ascii(token), forKey: MetadataKey.appCheck)
        }
        if let timeout = context.timeout {
            addString(Self.timeout(timeout), forKey: MetadataKey.timeout)
        }
    }

    /// Returns gRPC's text for a timeout: at most eight digits, in milliseconds rounded up if they
    /// fit.
    static func timeout(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        if seconds > 99_999 { return "\(Swift.min(seconds, 99_999_999))S" }
        let milliseconds =
            seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return "\(Swift.max(0, milliseconds))m"
    }

    /// - Returns: The duration; nil if the text is not a valid timeout.
    static func duration(timeout text: String) -> Duration? {
        guard (2...9).contains(text.utf8.count), let unit = text.last,
            let amount = Int64(text.dropLast()), amount >= 0
        else { return nil }
        switch unit {
        case "H": return .seconds(amount * 3_600)
        case "M": return .seconds(amount * 60)
        case "S": return .seconds(amount)
        case "m": return .milliseconds(amount)
        case "u": return .microseconds(amount)
        case "n": return .nanoseconds(amount)
        default: return nil
        }
    }

    /// Replaces characters that metadata cannot carry by `?`. Metadata is visible ASCII.
    static func ascii(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { (0x20...0x7E).contains($0.value) ? $0 : "?" }))
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."), UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += byte < 16 ? "%0" + digits : "%" + digits
            }
        }
        return result
    }
}
