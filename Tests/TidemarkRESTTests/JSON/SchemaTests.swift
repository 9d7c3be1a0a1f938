import Foundation
import Testing

@testable import TidemarkREST

/// Compares the tables of fields with the contract in `Proto/`.
struct SchemaTests {
    private struct Declared: Hashable {
        let message: String
        let name: String
        let number: UInt64
        let isRepeated: Bool
    }

    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Proto/google")

    private static let files = [
        "firestore/v1/firestore", "firestore/v1/query", "firestore/v1/write",
        "firestore/v1/common", "firestore/v1/query_profile", "firestore/v1/bloom_filter",
        "firestore/v1/document", "firestore/v1/pipeline", "rpc/status", "rpc/error_details",
        "type/latlng",
    ]

    /// Returns the fields of the contract, parsed line by line from its layout.
    private static func declared() throws -> Set<Declared> {
        var found: Set<Declared> = []
        for file in files {
            let text = try String(
                contentsOf: folder.appending(path: file + ".proto"), encoding: .utf8)
            var package = ""
            var open: [(kind: Substring, name: Substring)] = []
            for line in text.split(separator: "\n") {
                let line = line.drop { $0 == " " }
                if line.hasPrefix("//") { continue }
                if let match = line.firstMatch(of: /^package ([\w.]+);/) {
                    package = String(match.1)
                } else if let match = line.firstMatch(of: /^(message|enum|oneof) (\w+) \{/) {
                    open.append((match.1, match.2))
                } else if line == "}" {
                    open.removeLast()
                } else if open.last?.kind != "enum",
                    let match = line.firstMatch(of: /^(repeated )?[\w.<>, ]+ (\w+) = (\d+);/)
                {
                    let names = open.filter { $0.kind == "message" }.map(\.name)
                    found.insert(
                        Declared(
                            message: ([Substring(package)] + names).joined(separator: "."),
                            name: String(match.2), number: UInt64(match.3) ?? 0,
                            isRepeated: match.1 != nil))
                }
            }
        }
        return found
    }

    @Test func `have every field of the contract and no other`() throws {
        var known: Set<Declared> = []
        for type in MessageType.allCases {
            let schema = MessageSchema.of(type)
            for field in schema.fields {
                known.insert(
                    Declared(
                        message: schema.name, name: field.name, number: field.number,
                        isRepeated: field.isRepeated))
            }
        }
        let declared = try Self.declared()
        #expect(declared.count > 150)
        #expect(known.subtracting(declared) == [])
        #expect(declared.subtracting(known) == [])
    }

    @Test(arguments: [
        ("read_time", "readTime"), ("name", "name"), ("collection_ids", "collectionIds"),
    ])
    func `names in JSON have no underscores`(name: String, json: String) {
        #expect(FieldSchema(name, 1, .text).jsonName == json)
    }
}
