import Hummingbird

extension WebCall {
    init(_ request: Request, isFormExpected: Bool = false) {
        method = request.method.rawValue
        // The library takes the first Host for the authority and leaves others where they were.
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
    /// - Parameter name: In lower case.
    func values(named name: String) -> [String] {
        filter { $0.name.canonicalName == name }.map(\.value)
    }

    /// The header by which a browser keeps answers from pages that did not ask with their `Origin`.
    private static let resourcePolicy = HTTPFields.Element.Name("cross-origin-resource-policy")
    /// The header by which a page shares no window with the page that opened it.
    static let openerPolicy = HTTPFields.Element.Name("cross-origin-opener-policy")

    /// What a browser has to know about an answer.
    static func answer(toPageOf origin: String?) -> HTTPFields {
        var headers: HTTPFields = [.vary: "Origin", .xContentTypeOptions: "nosniff"]
        headers[.accessControlAllowOrigin] = origin
        if let resources = resourcePolicy { headers[resources] = "same-origin" }
        return headers
    }
}

extension Response {
    /// The answer to a browser that asks whether a page may call.
    static func preflight(_ request: Request, origin: String) -> Response {
        var headers = HTTPFields.answer(toPageOf: origin)
        headers[.accessControlAllowMethods] = "GET, POST, PUT, PATCH, DELETE, OPTIONS"
        headers[.accessControlAllowHeaders] = request.headers[.accessControlRequestHeaders]
        headers[.accessControlMaxAge] = "3600"
        return Response(status: .noContent, headers: headers)
    }
}
