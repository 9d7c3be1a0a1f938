package import TidemarkModel

/// A request over HTTP/1.1, once all of it is there.
package struct RESTRequest: Hashable, Sendable {
    package var method: String
    /// As it came, with its escapes.
    package var path: String
    /// As it came; nil for none.
    package var query: String?
    /// Names in lower case.
    package var headers: [String: String]
    package var body: [UInt8]

    /// Production refuses larger ones. Source: server-protocol 1.0.
    package static let maxBodyBytes = 11_534_336

    package init(
        method: String = "GET", path: String, query: String? = nil,
        headers: [String: String] = [:], body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
    }
}

extension RPCStatus {
    package static let bodyTooLarge = RPCStatus.invalidArgument(
        "Request payload size exceeds the limit: \(RESTRequest.maxBodyBytes) bytes.")
}
