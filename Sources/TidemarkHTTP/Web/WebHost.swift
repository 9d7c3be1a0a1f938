import Foundation

/// The `Host` of a request: a name or an address, and perhaps a port.
struct WebHost: Hashable, Sendable {
    /// The name in lower case, or an address. An IPv6 address has brackets.
    let name: String
    let port: Int?

    /// Returns nil if the text is not a host.
    init?(_ text: String) {
        guard text.utf8.count <= 300 else { return nil }
        let lower = text.lowercased()
        let end: String.Index
        if lower.utf8.first == UInt8(ascii: "[") {
            guard let bracket = lower.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            end = lower.utf8.index(after: bracket)
            let inside = lower[lower.utf8.index(after: lower.startIndex)..<bracket]
            guard !inside.isEmpty, inside.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." })
            else { return nil }
        } else {
            end = lower.utf8.firstIndex(of: UInt8(ascii: ":")) ?? lower.endIndex
            guard end > lower.startIndex, lower.utf8[..<end].allSatisfy(Self.isOfName) else {
                return nil
            }
        }
        name = String(lower[..<end])
        if end == lower.endIndex {
            port = nil
        } else {
            let digits = lower[lower.utf8.index(after: end)...]
            guard lower.utf8[end] == UInt8(ascii: ":"), digits.utf8.allSatisfy(Self.isDigit),
                let number = UInt16(digits)
            else { return nil }
            port = Int(number)
        }
    }

    /// True if the host is always this machine: 127.0.0.0/8, ::1, `localhost` and its subdomains.
    /// Browsers never resolve these names elsewhere (RFC 6761, 6.3).
    var isLoopback: Bool {
        name == "localhost" || name.hasSuffix(".localhost") || name == "[::1]"
            || (isIPv4 && name.hasPrefix("127."))
    }

    var isAddress: Bool { isIPv4 || name.first == "[" }

    private var isIPv4: Bool {
        let parts = name.utf8.split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { $0.allSatisfy(Self.isDigit) && UInt8(Substring($0)) != nil }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"):
            true
        default: isDigit(byte)
        }
    }
}

/// The `Origin` of a page: a scheme, a host and perhaps a port.
struct WebOrigin: Hashable, Sendable {
    /// The text in a browser's form: in lower case, without the default port of the scheme.
    let text: String
    private let scheme: String
    private let host: WebHost

    /// Returns nil if the text is not an origin, and for `null`, which many different pages send.
    init?(_ text: String) {
        guard let mark = text.range(of: "://") else { return nil }
        scheme = text[..<mark.lowerBound].lowercased()
        guard let first = scheme.first, first.isASCII, first.isLetter,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }),
            let host = WebHost(String(text[mark.upperBound...]))
        else { return nil }
        self.host = host
        let own = ["http": 80, "https": 443][scheme]
        let port = host.port.flatMap { $0 == own ? nil : ":\($0)" } ?? ""
        self.text = scheme + "://" + host.name + port
    }

    /// True if the pages of this origin are from this machine.
    var isLoopback: Bool { ["http", "https"].contains(scheme) && host.isLoopback }
}
