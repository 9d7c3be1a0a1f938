import Foundation
import Hummingbird

extension PageRequest {
    /// - Parameter body: What the request carries, already read.
    init(_ request: Request, body: [UInt8]) {
        let path = request.uri.path.split(separator: "/").map {
            $0.removingPercentEncoding ?? String($0)
        }
        let query = Self.parameters(in: request.uri.query ?? "")
        self.init(
            method: request.method.rawValue, path: path, query: query, body: body,
            origin: request.headers[.origin])
    }

    /// Parameters of one address; what comes behind them is not looked at.
    private static let maxParameters = 100

    /// As a browser's form writes them: a plus sign is a space.
    ///
    /// - Parameter text: Not decoded.
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
    /// A page with what keeps a browser from running anything that is not the server's own.
    init(_ answer: PageAnswer) {
        var headers: HTTPFields = [
            .contentType: answer.type,
            .contentSecurityPolicy: Self.contentSecurityPolicy,
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

    /// Nothing from elsewhere, no inline script or style, no frame around it, no form that leaves.
    static let contentSecurityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
        form-action 'self'; base-uri 'none'; frame-ancestors 'none'
        """
}

extension ResponseBody {
    fileprivate static func events(_ events: AsyncStream<ServerEvent>) -> ResponseBody {
        ResponseBody { writer in
            // Headers go out with the first bytes, so that a page knows that it is connected.
            try await writer.write(ByteBuffer(string: "retry: 1000\n\n"))
            for await event in events { try await writer.write(ByteBuffer(string: event.text)) }
            try await writer.finish(nil)
        }
    }
}
