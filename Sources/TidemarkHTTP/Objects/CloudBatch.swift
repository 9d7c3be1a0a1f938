import Foundation
import Hummingbird
import TidemarkObjects

/// Answers a batch: requests in the parts of one body, in their order.
struct CloudBatch: Sendable {
    /// The maximum number of requests. Source: the client for Python.
    private static let maxRequests = 1_000
    private static let maxBytes = 8 << 20

    let server: ObjectsServer
    let request: ObjectsRequest

    func answer() async throws(ObjectRefusal) -> ObjectsAnswer {
        let type = request.headers[.contentType] ?? ""
        guard request.method == "POST",
            let boundary = MultipartReader.boundary(in: type, type: "multipart/mixed")
        else { throw .invalid("A batch must have the content type multipart/mixed.") }
        let body = try await request.collected(upTo: Self.maxBytes)
        let parts = Self.parts(of: String(decoding: body, as: UTF8.self), boundary)
        guard (1...Self.maxRequests).contains(parts.count) else {
            throw .invalid("A batch must have 1 to 1000 requests.")
        }
        var text = ""
        let mark = "batch_tidemark"
        for part in parts {
            text += "--\(mark)\r\nContent-Type: application/http\r\n"
            if let id = part.id { text += "Content-ID: \(Self.response(id))\r\n" }
            text += "\r\n" + Self.text(of: await answer(part)) + "\r\n"
        }
        text += "--\(mark)--\r\n"
        return ObjectsAnswer(
            headers: [("Content-Type", "multipart/mixed; boundary=\(mark)")],
            body: .bytes(Array(text.utf8)))
    }

    struct Part: Hashable {
        var id: String?
        var method = ""
        var target = ""
        var headers: [String] = []
        var body = ""
    }

    private func answer(_ part: Part) async -> ObjectsAnswer {
        // A target can be a whole URL.
        var target = part.target
        if let scheme = target.range(of: "://") {
            let rest = target[scheme.upperBound...]
            target = rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? "/"
        }
        var headers = HTTPFields()
        for line in part.headers {
            let sides = line.split(separator: ":", maxSplits: 1).map(String.init)
            guard sides.count == 2, let name = HTTPFields.Element.Name(sides[0]) else { continue }
            headers[name] = String(sides[1].drop { $0 == " " })
        }
        if headers[.authorization] == nil { headers[.authorization] = request.authorization }
        let asked = ObjectsRequest(
            method: part.method, target: target, headers: headers, body: Array(part.body.utf8),
            partOf: request)
        guard let found = ObjectsTarget(path: asked.path), Self.isAllowed(found),
            asked.query["alt"] != "media"
        else {
            return .cloud(.invalid("A batch may have requests for metadata and deletes alone."))
        }
        return await server.answer(asked)
    }

    private static func isAllowed(_ target: ObjectsTarget) -> Bool {
        switch target {
        case .buckets, .bucket, .objects, .object: true
        default: false
        }
    }

    private static func response(_ id: String) -> String {
        id.hasPrefix("<") ? "<response-" + id.dropFirst() : "response-" + id
    }

    private static func text(of answer: ObjectsAnswer) -> String {
        var body = ""
        if case .bytes(let bytes) = answer.body { body = String(decoding: bytes, as: UTF8.self) }
        let reason = HTTPResponse.Status(code: answer.status).reasonPhrase
        var text = "HTTP/1.1 \(answer.status) \(reason)\r\n"
        for (name, value) in answer.headers { text += "\(name): \(value)\r\n" }
        return text + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// Splits the body of a batch. Lines may end with or without a carriage return.
    static func parts(of body: String, _ boundary: String) -> [Part] {
        let lines = body.replacing("\r\n", with: "\n").split(
            separator: "\n", omittingEmptySubsequences: false)
        var groups: [[Substring]] = []
        for line in lines {
            if line == "--\(boundary)--" { break }
            if line == "--\(boundary)" {
                groups.append([])
            } else if !groups.isEmpty {
                groups[groups.count - 1].append(line)
            }
        }
        return groups.prefix(maxRequests + 1).compactMap(part)
    }

    private static func part(_ lines: [Substring]) -> Part? {
        guard let gap = lines.firstIndex(where: { $0.isEmpty }) else { return nil }
        var part = Part()
        for line in lines[..<gap] where line.lowercased().hasPrefix("content-id:") {
            part.id = String(line.dropFirst(11).drop { $0 == " " })
        }
        let inner = lines[(gap + 1)...]
        guard let first = inner.first else { return nil }
        let words = first.split(separator: " ").map(String.init)
        guard words.count >= 2 else { return nil }
        (part.method, part.target) = (words[0], words[1])
        let rest = inner.dropFirst()
        let end = rest.firstIndex(where: { $0.isEmpty }) ?? rest.endIndex
        part.headers = rest[..<end].map(String.init)
        if end < rest.endIndex { part.body = rest[(end + 1)...].joined(separator: "\n") }
        return part
    }
}
