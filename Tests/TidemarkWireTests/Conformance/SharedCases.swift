import Foundation
import SwiftProtobuf
import TestSupport

@testable import TidemarkWire

/// The cases that Google's clients share, one in each file: googleapis/conformance-tests.
enum SharedCases {
    /// The folder of `TIDEMARK_CONFORMANCE`, or the folder beside the repository.
    static let corpus = SharedCorpus.conformance(
        tests: "shared requests and listens of TidemarkWireTests")

    struct Case {
        let name: String
        /// The kind, for example `create`, `query` or `listen`.
        let kind: String
        let body: [String: Any]

        var expectsError: Bool { body["isError"] as? Bool ?? false }

        /// Returns a part of the case as a message of the protocol. A key that the message does not
        /// have is an error.
        func message<Message: SwiftProtobuf.Message>(_ key: String) throws -> Message? {
            try body[key].map { try SharedCases.message($0) }
        }
    }

    /// The keys that a case of each kind may contain. Any other key would be a rule that these
    /// tests do not know.
    private static let keys: [String: Set<String>] = [
        "create": ["docRefPath", "jsonData", "request", "isError"],
        "set": ["docRefPath", "jsonData", "option", "request", "isError"],
        "update": ["docRefPath", "jsonData", "precondition", "request", "isError"],
        "updatePaths": [
            "docRefPath", "fieldPaths", "jsonValues", "precondition", "request", "isError",
        ],
        "delete": ["docRefPath", "precondition", "request", "isError"],
        "get": ["docRefPath", "request"],
        "query": ["collPath", "clauses", "query", "isError"],
        "listen": ["responses", "snapshots", "isError"],
    ]

    struct Unknown: Error { let text: String }

    static func all(_ kinds: Set<String>) throws -> [Case] {
        var cases: [Case] = []
        for file in try corpus.files() {
            let data = try Data(contentsOf: corpus.folder.appendingPathComponent(file))
            let json = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
            guard json.keys.elementsEqual(["tests"]), let tests = json["tests"] as? [[String: Any]]
            else { throw Unknown(text: "\(file): \(json.keys)") }
            for test in tests {
                let kind = test.keys.filter { !["description", "comment"].contains($0) }
                guard kind.count == 1, let known = keys[kind[0]],
                    let body = test[kind[0]] as? [String: Any], known.isSuperset(of: body.keys)
                else { throw Unknown(text: "\(file): \(test.keys)") }
                if kinds.contains(kind[0]) {
                    cases.append(Case(name: file, kind: kind[0], body: body))
                }
            }
        }
        return cases
    }

    /// - Throws: An error also for a key that the message does not have.
    static func message<Message: SwiftProtobuf.Message>(_ json: Any) throws -> Message {
        let isWhole = Message.self == PBDocument.self || Message.self == PBValue.self
        return try plain(isWhole ? json : withContentsAsBytes(json))
    }

    private static func plain<Message: SwiftProtobuf.Message>(_ json: Any) throws -> Message {
        try Message(jsonUTF8Bytes: [UInt8](JSONSerialization.data(withJSONObject: json)))
    }

    /// Replaces documents and values by bytes, because our messages carry bytes for the model's own
    /// codec.
    private static func withContentsAsBytes(_ json: Any) throws -> Any {
        if let list = json as? [Any] { return try list.map(withContentsAsBytes) }
        guard let object = json as? [String: Any] else { return json }
        var result: [String: Any] = [:]
        for (key, value) in object {
            switch key {
            case "update" where value is [String: Any], "document" where value is [String: Any]:
                result[key] = try base64(plain(value) as PBDocument)
            case "value" where value is [String: Any]:
                result[key] = try base64(plain(value) as PBValue)
            case "values":
                result[key] = try (value as? [Any] ?? []).map { try base64(plain($0) as PBValue) }
            case "appendMissingElements", "removeAllFromArray":
                result[key] = try base64(plain(value) as PBArrayValue)
            default: result[key] = try withContentsAsBytes(value)
            }
        }
        return result
    }

    private static func base64(_ message: some SwiftProtobuf.Message) throws -> String {
        (try message.serializedBytes() as Data).base64EncodedString()
    }
}
