package import TidemarkModel

/// An HTTP request whose body is complete.
package struct RESTRequest: Hashable, Sendable {
    package var method: String
    /// The path with its escapes, as it was sent.
    package var path: String
    /// The query with its escapes, as it was sent; nil if there is none.
    package var query: String?
    /// The headers. The names are in lower case.
    package var headers: [String: String]
    package var body: [UInt8]
    /// True if the connection carries several requests at the same time: true for HTTP/2, false for
    /// HTTP/1.1.
    package var isMultiplexed: Bool

    /// The maximum body, as in production. Source: server-protocol 1.0.
    package static let maxBodyBytes = 11_534_336
    /// The maximum body where a database is of the Enterprise edition: a document of 16 MiB whose
    /// bytes are Base64, which makes them a third longer. Production publishes no limit.
    package static let maxLargeBodyBytes = 24 << 20

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
