package import TidemarkModel

/// A request over HTTP, once all of it is there.
package struct RESTRequest: Hashable, Sendable {
    package var method: String
    /// As it came, with its escapes.
    package var path: String
    /// As it came; nil for none.
    package var query: String?
    /// Names in lower case.
    package var headers: [String: String]
    package var body: [UInt8]
    /// True if its connection carries others at the same time, as HTTP/2's do and HTTP/1.1's do not.
    package var isMultiplexed: Bool

    /// Production refuses larger ones. Source: server-protocol 1.0.
    package static let maxBodyBytes = 11_534_336

    package init(
        method: String = "GET", path: String, query: String? = nil,
        headers: [String: String] = [:], body: [UInt8] = [], isMultiplexed: Bool = false
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.isMultiplexed = isMultiplexed
    }
}

extension RPCStatus {
    package static func bodyTooLarge(_ limit: Int) -> RPCStatus {
        .invalidArgument("Request payload size exceeds the limit: \(limit) bytes.")
    }
}
