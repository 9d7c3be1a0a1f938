/// Which calls a port of this machine answers, by what they say about where they come from.
///
/// Any page that a browser shows can send requests to a port of this machine. Four rules keep its
/// requests without effect:
/// - The `Host` is loopback's or a name that was given. A page can point a name of its own at
///   127.0.0.1, but the browser then says that name.
/// - The `Origin`, where there is one, is a page of this machine, one that was given, or the server itself
///   by the name in `Host`.
/// - A request that a browser sends for another site's page, and that has no `Origin`, is a person who
///   follows a link: pictures, scripts, frames and prefetches are refused. Browsers say so by
///   `Sec-Fetch-Site` on loopback and over TLS.
/// - A `POST` says `content-type: application/json`, or who calls. A page cannot send either to another
///   origin without asking first, and the question is refused by the second rule. The methods `PUT`,
///   `PATCH` and `DELETE` are always asked for first.
public struct WebPolicy: Sendable, Hashable {
    private var hosts: Set<String> = []
    private var origins: Set<String> = []
    private var takesAnyAddress = false
    /// The name that links to this server have; nil for the address of the caller's connection.
    private var ownName: String?

    /// Loopback's names and pages, and the name of `host`. A server on every address of the machine
    /// (`0.0.0.0`, `::`) is called by any address; a page cannot choose what an address leads to.
    ///
    /// - Parameter host: What the server listens on.
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

    /// The origin of links to this server: the host that it listens on, or a name that was given, or else
    /// the address that the caller's connection came to. What the caller says in `Host` is not in it.
    ///
    /// - Parameters:
    ///   - address: The connection's own end; nil where it is not known.
    ///   - port: The server's.
    func ownOrigin(address: String?, port: Int) -> String {
        let name = ownName ?? address.map { Self.name(ofAddress: $0) } ?? "127.0.0.1"
        return "http://\(name):\(port)"
    }

    /// - Parameters:
    ///   - host: What the server listens on.
    ///   - names: What else it is called, without a port.
    ///   - pages: Origins whose pages may call it, as in `https://app.example`.
    /// - Throws: A name or an origin that is none, in a sentence.
    public init(
        listeningOn host: String, names: [String], pages: [String]
    ) throws(WebPolicyError) {
        self.init(listeningOn: host)
        for name in names {
            guard let plain = WebHost(name), plain.port == nil else {
                throw WebPolicyError("\(name) is no name of a host: a name or address, no port.")
            }
            hosts.insert(plain.name)
            ownName = ownName ?? plain.name
        }
        for page in pages {
            guard let origin = WebOrigin(page) else {
                throw WebPolicyError(
                    "\(page) is no origin: a scheme, a name and perhaps a port, no path.")
            }
            origins.insert(origin.text)
        }
    }

    // MARK: The decision

    func verdict(on call: WebCall) -> WebVerdict {
        if let refusal = refusal(ofHosts: call.hosts) { return .refused(refusal) }
        guard call.origins.count <= 1 else {
            return .refused(.forbidden("The request says more than one Origin."))
        }
        let origin = call.origins.first
        if let origin, !allows(origin), !isOwnPage(origin, of: call) {
            return .refused(
                .forbidden(
                    """
                    Pages of \(origin.prefix(200)) may not call this server; the option \
                    --allow-origin names pages that may.
                    """))
        }
        if origin == nil, call.fetch.isOfOtherSite {
            return .refused(.forbidden("Pages of other sites may link here, and load nothing."))
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
        if said.isEmpty { return .forbidden("The request says no Host.") }
        for text in said {
            if let host = WebHost(text), allows(host) { continue }
            return .forbidden(
                """
                This server is not called \(text.prefix(200)); the option --allow-host gives it \
                another name.
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

    /// True for a page that came from this server: its origin is the `Host` of the request, which is one
    /// of the server's names.
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

/// A name or an origin that is none.
public struct WebPolicyError: Error, Hashable, Sendable {
    public let message: String

    init(_ message: String) { self.message = message }
}

/// What a request says about where it comes from.
struct WebCall: Hashable, Sendable {
    var method = "GET"
    /// As they came. More than one is an error, and then each is looked at.
    var hosts: [String] = []
    var origins: [String] = []
    var contentType: String?
    var fetch = FetchMetadata()
    /// Whether it has a header that says who calls.
    var hasCredentials = false
    /// Whether Google's own clients send this call as a form.
    var isFormExpected = false
    /// Whether Google's own clients send this call as any type of content. The first two rules hold alone.
    var isAnyContentExpected = false

    /// The content type without its parameters.
    var mediaType: String {
        let type = (contentType ?? "").prefix { $0 != ";" }
        return type.lowercased().filter { $0 != " " && $0 != "\t" }
    }
}

enum WebVerdict: Hashable, Sendable {
    /// The origin may read the answer, where the call is of a page.
    case allowed(origin: String?)
    /// The browser asks whether a page may call.
    case preflight(origin: String)
    case refused(WebRefusal)
}

/// Why not: an HTTP status and a sentence.
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
            application/json'): without it any web page could send it.
            """)
}
