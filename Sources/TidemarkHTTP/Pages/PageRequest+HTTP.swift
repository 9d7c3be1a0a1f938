import Foundation
import Hummingbird

extension PageRequest {
    /// - Parameter body: The request's body, completely read.
    init(_ request: Request, body: [UInt8]) {
        let path = request.uri.path.split(separator: "/").map {
            $0.removingPercentEncoding ?? String($0)
        }
        let query = Self.parameters(in: request.uri.query ?? "")
        self.init(
            method: request.method.rawValue, path: path, query: query, body: body,
            origin: request.headers[.origin])
    }

    /// The maximum number of parameters. Further parameters are ignored.
    private static let maxParameters = 100

    /// Decodes parameters in the form of a browser: a plus sign is a space.
    ///
    /// - Parameter text: The encoded text.
    static func parameters(in text: String) -> [Parameter] {
        text.split(separator: "&").prefix(maxParameters).map { pair in
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            func plain(_ side: Substring?) -> String {
                let text = String(side ?? "").replacing("+", with: " ")
                return text.removingPercentEncoding ?? text
            }
            return Parameter(plain(sides.first), plain(sides.count > 1 ? sides[1] : nil))
        }
    }
}

extension Response {
    /// Makes the response of a page. Its headers allow a browser to load only resources of this
    /// server.
    init(_ answer: PageAnswer) {
        var headers: HTTPFields = [
            .contentType: answer.type,
            .contentSecurityPolicy: answer.containsPictures
                ? Self.policyWithPictures : Self.contentSecurityPolicy,
            .cacheControl: answer.version == nil ? "no-store" : "no-cache",
            .xContentTypeOptions: "nosniff",
        ]
        if let opener = HTTPFields.openerPolicy { headers[opener] = "same-origin" }
        headers[.location] = answer.location
        headers[.eTag] = answer.version.map { "\"\($0)\"" }
        let body: ResponseBody =
            switch answer.body {
            case .bytes(let bytes): ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
            case .events(let events): .events(events)
            }
        self.init(status: .init(code: answer.status), headers: headers, body: body)
    }

    /// Allows no resources from other origins, no inline scripts and styles, no frames around a
    /// page, and no forms to other origins.
    static let contentSecurityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
        form-action 'self'; base-uri 'none'; frame-ancestors 'none'
        """

    /// Also allows pictures that are part of the page.
    private static let policyWithPictures = contentSecurityPolicy.replacing(
        "img-src", with: "img-src data:")
}

extension ResponseBody {
    fileprivate static func events(_ events: AsyncStream<ServerEvent>) -> ResponseBody {
        ResponseBody { writer in
            // The library sends the headers with the first bytes. A page then knows that it is
            // connected.
            try await writer.write(ByteBuffer(string: "retry: 1000\n\n"))
            for await event in events { try await writer.write(ByteBuffer(string: event.text)) }
            try await writer.finish(nil)
        }
    }
}
