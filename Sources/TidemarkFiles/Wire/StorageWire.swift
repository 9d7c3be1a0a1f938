import Foundation
import TidemarkHTTPClient

/// Firebase's protocol of Storage (v0), as values: an upload's requests and their answers. Source
/// of the forms: the requests that Firebase's own clients send.
struct StorageWire: Sendable {
    /// The address of Storage without a slash at its end.
    let address: String
    /// The app's id in the project; nil for none.
    let appID: String?

    /// The maximum size of an answer's body that is read, in bytes.
    static let maxBody = 64 << 10

    init(address: String, appID: String? = nil) {
        self.address = address.hasSuffix("/") ? String(address.dropLast()) : address
        self.appID = appID
    }

    /// The facts about an object's bytes in the head of an answer.
    struct MediaHead: Hashable, Sendable {
        /// The number of bytes of the object; nil if the answer does not state a length.
        var size: Int64?
        /// The position of the first byte in an answer with a part of the object.
        var first: Int64?
        /// The tag of the object's version.
        var tag: String?
        /// The MD5 digest in base64; nil if the object has no digest.
        var md5: String?

        init() {}

        init(_ fields: [(name: String, value: String)]) {
            var whole: Int64?
            for field in fields {
                switch field.name.lowercased() {
                case "content-length": size = Int64(field.value)
                case "etag": tag = field.value
                case "content-range": (first, whole) = Self.range(field.value)
                case "x-goog-hash":
                    for part in field.value.split(separator: ",") {
                        let text = part.trimmingCharacters(in: .whitespaces)
                        if text.hasPrefix("md5=") { md5 = String(text.dropFirst(4)) }
                    }
                default: break
                }
            }
            if first != nil { size = whole }
        }

        /// Returns the first position and the whole size of a range such as `bytes 0-9/100`.
        private static func range(_ text: String) -> (first: Int64?, whole: Int64?) {
            let sides = text.split(separator: "/")
            guard text.hasPrefix("bytes "), sides.count == 2,
                let first = sides[0].dropFirst(6).split(separator: "-").first
            else { return (nil, nil) }
            return (Int64(first), Int64(sides[1]))
        }

        /// Returns false if the bytes are not those of the object.
        func fits(_ digest: FileDigest) -> Bool {
            (size ?? digest.size) == digest.size && (md5 ?? digest.md5) == digest.md5
        }
    }

    struct Tokens: Hashable, Sendable {
        var user: String?
        var appCheck: String?
    }

    /// - Parameter chunk: The bytes of a chunk.
    func request(
        _ request: UploadMachine.Request, _ target: UploadTarget, with tokens: Tokens,
        chunk: Data = Data()
    ) -> HTTPRequest {
        switch request {
        case .start: return start(target, tokens)
        case .chunk(let session, let offset, _, let isLast):
            let fields: [(name: String, value: String)] = [
                ("x-goog-upload-command", isLast ? "upload, finalize" : "upload"),
                ("x-goog-upload-offset", "\(offset)"),
                ("content-type", "application/octet-stream"),
            ]
            return HTTPRequest(
                "POST", session, fields: common(tokens, to: session) + fields, data: chunk)
        case .query(let session): return command("query", to: session, tokens)
        case .look:
            return HTTPRequest("GET", object(target), fields: common(tokens, to: address))
        case .remove: return removal(of: target.name, in: target.bucket, tokens)
        }
    }

    /// Returns the request that ends a session.
    func cancel(_ session: String, _ tokens: Tokens) -> HTTPRequest {
        command("cancel", to: session, tokens)
    }

    func removal(of name: String, in bucket: String, _ tokens: Tokens) -> HTTPRequest {
        HTTPRequest("DELETE", object(bucket, name), fields: common(tokens, to: address))
    }

    private func start(_ target: UploadTarget, _ tokens: Tokens) -> HTTPRequest {
        var metadata: [String: Any] = target.fields
        metadata["name"] = target.name
        metadata["contentType"] = target.contentType
        if !target.metadata.isEmpty { metadata["metadata"] = target.metadata }
        // Strings and maps of them can always be encoded.
        let body = try! JSONSerialization.data(
            withJSONObject: metadata, options: [.sortedKeys, .withoutEscapingSlashes])
        let fields: [(name: String, value: String)] = [
            ("x-goog-upload-protocol", "resumable"), ("x-goog-upload-command", "start"),
            ("x-goog-upload-header-content-length", "\(target.size)"),
            ("x-goog-upload-header-content-type", target.contentType),
            ("content-type", "application/json; charset=utf-8"),
        ]
        let name = Self.escaped(target.name)
        return HTTPRequest(
            "POST", "\(collection(target.bucket))?name=\(name)&uploadType=resumable",
            fields: common(tokens, to: address) + fields, body: [UInt8](body))
    }

    private func command(_ name: String, to session: String, _ tokens: Tokens) -> HTTPRequest {
        HTTPRequest(
            "POST", session,
            fields: common(tokens, to: session) + [("x-goog-upload-command", name)], body: [])
    }

    /// The fields of every request. A session is Storage's own address; another host gets no
    /// tokens.
    func common(_ tokens: Tokens, to destination: String) -> [(name: String, value: String)] {
        var fields = [(name: "x-firebase-storage-version", value: "tidemark/1")]
        if let appID { fields.append(("x-firebase-gmpid", appID)) }
        guard Self.origin(destination) == Self.origin(address) else { return fields }
        if let token = tokens.user { fields.append(("authorization", "Firebase \(token)")) }
        if let token = tokens.appCheck { fields.append(("x-firebase-appcheck", token)) }
        return fields
    }

    private static func origin(_ address: String) -> String? {
        guard let url = URLComponents(string: address), let host = url.host else { return nil }
        return "\(url.scheme ?? "")://\(host.lowercased()):\(url.port ?? 0)"
    }

    func collection(_ bucket: String) -> String { "\(address)/v0/b/\(Self.escaped(bucket))/o" }

    private func object(_ target: UploadTarget) -> String { object(target.bucket, target.name) }
    func object(_ bucket: String, _ name: String) -> String {
        "\(collection(bucket))/\(Self.escaped(name))"
    }

    /// Escapes all bytes except letters, digits and `-._~`. A slash too: a name is one segment.
    static func escaped(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default: result += String(format: "%%%02X", byte)
            }
        }
        return result
    }
}

extension UploadAnswer {
    /// Reads an answer of Storage. Fields and bodies that make no sense count as absent.
    init(status: Int, fields: [(name: String, value: String)], body: [UInt8]) {
        var values: [String: String] = [:]
        for field in fields { values[field.name.lowercased()] = field.value }
        func number(_ name: String) -> Int64? {
            guard let text = values[name], (1...18).contains(text.utf8.count),
                text.utf8.allSatisfy({ (48...57).contains($0) })
            else { return nil }
            return Int64(text)
        }
        self.init(
            status, values["x-goog-upload-status"].flatMap { State(rawValue: $0.lowercased()) },
            address: values["x-goog-upload-url"],
            received: number("x-goog-upload-size-received"),
            object: (200..<300).contains(status) ? UploadedObject(json: body) : nil,
            retryAfter: number("retry-after").map { .seconds($0) })
    }
}

extension UploadedObject {
    /// Reads an object's metadata; nil if the bytes are something else.
    init?(json: [UInt8]) {
        struct Metadata: Decodable {
            var size: String
            var md5Hash: String?
            var generation: String?
        }
        guard let metadata = try? JSONDecoder().decode(Metadata.self, from: Data(json)),
            let size = Int64(metadata.size), size >= 0
        else { return nil }
        self.init(size: size, md5: metadata.md5Hash, generation: metadata.generation)
    }
}
