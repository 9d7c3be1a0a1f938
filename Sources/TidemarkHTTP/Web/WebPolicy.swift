/// Decides which calls a port of this machine answers, by their headers about the caller's origin.
///
/// Any page in a browser can send requests to a port of this machine. Four rules make these
/// requests harmless:
/// - The `Host` is a loopback name or an allowed name. A page can point its own name at 127.0.0.1,
///   but the browser then sends that name.
/// - The `Origin`, if there is one, is a page of this machine, an allowed page, or the server
///   itself under the name in `Host`.
/// - A request without `Origin` that another site's page causes must be a user's navigation.
///   Images, scripts, frames and prefetches are refused. Browsers report them with
///   `Sec-Fetch-Site`, on loopback and over TLS.
/// - A `POST` has `content-type: application/json` or credentials. A page can send neither to
///   another origin without a preflight request, which the second rule refuses. For `PUT`, `PATCH`
///   and `DELETE`, browsers always send a preflight request.
public struct WebPolicy: Sendable, Hashable {
    private var hosts: Set<String> = []
    private var origins: Set<String> = []
    private var takesAnyAddress = false
    /// The host name in links to this server; nil for the address of the caller's connection.
    private var ownName: String?

    /// Allows the names and pages of loopback, and the name of `host`. A server that listens on all
    /// addresses of the machine (`0.0.0.0`, `::`) accepts any address as its `Host`, because a page
    /// cannot change the target of an address.
    ///
    /// - Parameter host: The address on which the server listens.
    public init(listeningOn host: String) {
        takesAnyAddress = ["0.0.0.0", "::"].contains(host)
        let name = Self.name(ofAddress: host)
        hosts.insert(name)
        if !takesAnyAddress { ownName = name }
    }

    private static func name(ofAddress address: String) -> String {
        let isIPv6 = address.utf8.contains(UInt8(ascii: ":"))
        return (isIPv6 ? "[\(address)]" : address).lowercased()
    }

    /// Returns the origin for links to this server: its host, an allowed name, or the local address
    /// of the caller's connection. It never contains the caller's `Host`.
    ///
    /// - Parameters:
    ///   - address: The local address of the connection; nil if unknown.
    ///   - port: The server's port.
    func ownOrigin(address: String?, port: Int) -> String {
        let name = ownName ?? address.map { Self.name(ofAddress: $0) } ?? "127.0.0.1"
        return "http://\(name):\(port)"
    }

    /// - Parameters:
    ///   - host: The address on which the server listens.
    ///   - names: Further names of the server, without a port.
    ///   - pages: Origins whose pages may call, such as `https://app.example`.
    /// - Throws: A sentence about an invalid name or origin.
    public init(
        listeningOn host: String, names: [String], pages: [String]
    ) throws(WebPolicyError) {
        self.init(listeningOn: host)
        for name in names {
            guard let plain = WebHost(name), plain.port == nil else {
                throw WebPolicyError(
                    """
                    \(name) is not a host name: give a name or address, without a port.
                    """)
            }
            hosts.insert(plain.name)
            ownName = ownName ?? plain.name
        }
        for page in pages {
            guard let origin = WebOrigin(page) else {
                throw WebPolicyError(
                    """
                    \(page) is not an origin: give a scheme, a name and, if needed, a port, \
                    without a path.
                    """)
            }
            origins.insert(origin.text)
        }
    }

    // MARK: The decision

    func verdict(on call: WebCall) -> WebVerdict {
        if let refusal = refusal(ofHosts: call.hosts) { return .refused(refusal) }
        guard call.origins.count <= 1 else {
            return .refused(.forbidden("The request has more than one Origin."))
        }
        let origin = call.origins.first
        if let origin, !allows(origin), !isOwnPage(origin, of: call) {
            return .refused(
                .forbidden(
                    """
                    Pages of \(origin.prefix(200)) may not call this server. Allow them with \
                    --allow-origin.
                    """))
        }
        let isShown = call.isDownloadLink && call.fetch.isMedia
        if origin == nil, call.fetch.isOfOtherSite, !isShown {
            return .refused(
                .forbidden(
                    """
                    Pages of other sites may link to this server but load nothing from it.
                    """))
        }
        if call.method == "OPTIONS", let origin { return .preflight(origin: origin) }
        if call.method == "POST", !call.isAnyContentExpected, !call.hasCredentials,
            !hasSafeContent(call)
        {
            return .refused(.noContentType)
        }
        return .allowed(origin: origin)
    }

    private func refusal(ofHosts said: [String]) -> WebRefusal? {
        if said.isEmpty { return .forbidden("The request has no Host.") }
        for text in said {
            if let host = WebHost(text), allows(host) { continue }
            return .forbidden(
                """
                This server does not have the name \(text.prefix(200)). Add it with \
                --allow-host.
                """)
        }
        return nil
    }

    private func allows(_ host: WebHost) -> Bool {
        host.isLoopback || hosts.contains(host.name) || (takesAnyAddress && host.isAddress)
    }

    private func allows(_ text: String) -> Bool {
        guard let origin = WebOrigin(text) else { return false }
        return origin.isLoopback || origins.contains(origin.text)
    }

    /// Returns true if this server served the page: the page's origin is the request's `Host`,
    /// which is a name of the server.
    private func isOwnPage(_ text: String, of call: WebCall) -> Bool {
        guard call.hosts.count == 1, let origin = WebOrigin(text) else { return false }
        return ["http", "https"].contains {
            origin.text == WebOrigin("\($0)://\(call.hosts[0])")?.text
        }
    }

    private func hasSafeContent(_ call: WebCall) -> Bool {
        switch call.mediaType {
        case "application/json": true
        case "application/x-www-form-urlencoded": call.isFormExpected
        default: false
        }
    }
}

/// The error for an invalid name or origin.
public struct WebPolicyError: Error, Hashable, Sendable {
    public let message: String

    init(_ message: String) { self.message = message }
}

/// The headers of a request that identify its origin.
struct WebCall: Hashable, Sendable {
    var method = "GET"
    /// The values of all `Host` headers. More than one is an error; then each is checked.
    var hosts: [String] = []
    var origins: [String] = []
    var contentType: String?
    var fetch = FetchMetadata()
    /// True if the request has credentials in a header.
    var hasCredentials = false
    /// True if Google's clients send this call as a form.
    var isFormExpected = false
    /// True if Google's clients send this call with any content type. Only the first three rules
    /// then apply.
    var isAnyContentExpected = false

    /// True if the address itself permits the download of a file. A page of another site may show
    /// such a file, as in production: a page at `localhost` and a server at `127.0.0.1` are two
    /// sites.
    var isDownloadLink = false

    /// The content type without its parameters.
    var mediaType: String {
        let type = (contentType ?? "").prefix { $0 != ";" }
        return type.lowercased().filter { $0 != " " && $0 != "\t" }
    }
}

enum WebVerdict: Hashable, Sendable {
    /// The call is allowed. If a page calls, its origin may read the answer.
    case allowed(origin: String?)
    /// The call is a browser's preflight request.
    case preflight(origin: String)
    case refused(WebRefusal)
}

/// The reason for a refusal: an HTTP status and a sentence.
struct WebRefusal: Hashable, Sendable {
    let status: Int
    let message: String

    static func forbidden(_ message: String) -> WebRefusal {
        WebRefusal(status: 403, message: message)
    }

    static let noContentType = WebRefusal(
        status: 415,
        message: """
            A POST needs the header "content-type: application/json" (curl -H 'content-type: \
            application/json'). Without this rule any web page could send one.
            """)
}
