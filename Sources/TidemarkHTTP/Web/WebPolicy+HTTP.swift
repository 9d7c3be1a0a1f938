import Hummingbird

extension WebCall {
    init(_ request: Request, isFormExpected: Bool = false) {
        method = request.method.rawValue
        // The library moves the first `Host` to the authority and leaves further `Host` headers in
        // place.
        hosts = (request.head.authority.map { [$0] } ?? []) + request.headers.values(named: "host")
        origins = request.headers.values(named: "origin")
        contentType = request.headers[.contentType]
        fetch = FetchMetadata { request.headers.values(named: $0) }
        hasCredentials =
            request.headers[.authorization] != nil
            || !request.headers.values(named: "x-goog-api-key").isEmpty
        self.isFormExpected = isFormExpected
    }
}

extension HTTPFields {
    /// - Parameter name: The name in lower case.
    func values(named name: String) -> [String] {
        filter { $0.name.canonicalName == name }.map(\.value)
    }

    /// The header with which a browser hides answers from pages of other origins that do not send
    /// `Origin`.
    private static let resourcePolicy = HTTPFields.Element.Name("cross-origin-resource-policy")
    /// The header with which a page shares no window with the page that opened it.
    static let openerPolicy = HTTPFields.Element.Name("cross-origin-opener-policy")

    /// Returns the headers that control a browser's access to an answer.
    static func answer(toPageOf origin: String?) -> HTTPFields {
        var headers: HTTPFields = [.vary: "Origin", .xContentTypeOptions: "nosniff"]
        headers[.accessControlAllowOrigin] = origin
        if let resources = resourcePolicy { headers[resources] = "same-origin" }
        return headers
    }
}

extension Response {
    /// Answers the preflight request of a browser.
    static func preflight(_ request: Request, origin: String) -> Response {
        var headers = HTTPFields.answer(toPageOf: origin)
        headers[.accessControlAllowMethods] = "GET, POST, PUT, PATCH, DELETE, OPTIONS"
        headers[.accessControlAllowHeaders] = request.headers[.accessControlRequestHeaders]
        headers[.accessControlMaxAge] = "3600"
        return Response(status: .noContent, headers: headers)
    }
}
