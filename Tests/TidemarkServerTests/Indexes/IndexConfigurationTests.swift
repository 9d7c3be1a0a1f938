import Foundation
import Testing
import TidemarkModel

@testable import TidemarkServer

struct IndexConfigurationTests {
    /// A file as Firebase's tools write it, with keys that this server ignores.
    static let file = """
        {
          // a comment, as the template of Firebase's tools has
          "indexes": [
            {
              "collectionGroup": "cities",
              "queryScope": "COLLECTION",
              "density": "SPARSE_ALL",
              "fields": [
                {"fieldPath": "state", "order": "ASCENDING"},
                {"fieldPath": "`a.b`", "order": "DESCENDING"},
                {"fieldPath": "__name__", "order": "DESCENDING"}
              ]
            },
            {
              "collectionGroup": "beans",
              "queryScope": "COLLECTION_GROUP",
              "note": "ours",
              "fields": [
                {"fieldPath": "tags", "arrayConfig": "CONTAINS"},
                {"fieldPath": "embedding", "vectorConfig": {"dimension": 3, "flat": {}}}
              ]
            }
          ],
          "fieldOverrides": [
            {"collectionGroup": "cities", "fieldPath": "notes", "ttl": false, "indexes": []},
            {"collectionGroup": "cities", "fieldPath": "expires", "ttl": true},
            {
              "collectionGroup": "cities", "fieldPath": "name",
              "indexes": [
                {"queryScope": "COLLECTION_GROUP", "order": "ASCENDING"},
                {"arrayConfig": "CONTAINS"}
              ]
            }
          ],
          "extra": {"kept": [1, 2.5, true, null, "x"]}
        }
        """

    @Test func `a file is read`() throws {
        let configuration = try IndexConfiguration(json: Data(Self.file.utf8))
        #expect(
            configuration.composites.map { "\($0.group.text) \(spoken($0.use))" } == [
                "cities (state ASC, `a.b` DESC, __name__ DESC)",
                "beans group (tags CONTAINS, __name__ ASC, embedding VECTOR<3>)",
            ])
        #expect(configuration.overrides.map(\.field) == [field("notes"), field("name")])
        #expect(configuration.overrides[0].indexes.isEmpty)
        #expect(
            configuration.overrides[1].indexes == [
                FieldOverride.Index(.collectionGroup, .ordered(.ascending)),
                FieldOverride.Index(.collection, .contains),
            ])
        #expect(
            configuration.remarks == [
                "The file: \"extra\" is kept but has no effect.",
                "indexes[1]: \"note\" is kept but has no effect.",
            ])
    }

    @Test func `a file of older tools is read, with the mode of each field`() throws {
        let configuration = try IndexConfiguration(
            json: Data(
                """
                {"indexes": [{"collectionGroup": "groups", "queryScope": "COLLECTION", "fields": [
                  {"fieldPath": "members", "mode": "ARRAY_CONTAINS"},
                  {"fieldPath": "createdAt", "mode": "DESCENDING"}]}]}
                """.utf8))
        let newer = try IndexConfiguration(
            json: Data(
                """
                {"indexes": [{"collectionGroup": "groups", "queryScope": "COLLECTION", "fields": [
                  {"fieldPath": "members", "arrayConfig": "CONTAINS"},
                  {"fieldPath": "createdAt", "order": "DESCENDING"}]}]}
                """.utf8))
        #expect(configuration.composites == newer.composites)
    }

    @Test(arguments: ["{\"indexes", "{\"a\": \"", "{", "// "])
    func `bytes that are no text are refused`(start: String) {
        for byte in UInt8(0x80)...0xff {
            let json = Data(Array(start.utf8) + [byte] + Array("\": []}".utf8))
            let error = #expect(throws: IndexFileError.self) { try IndexConfiguration(json: json) }
            #expect(error?.message == "The file is not UTF-8 text.")
        }
    }

    @Test func `what is written has all that was read, and reads the same`() throws {
        let read = try IndexConfiguration(json: Data(Self.file.utf8))
        let again = try IndexConfiguration(json: read.json)
        #expect(again == read)
        let text = String(decoding: read.json, as: UTF8.self)
        for kept in ["\"note\" : \"ours\"", "SPARSE_ALL", "2.5", "\"ttl\" : true"] {
            #expect(text.contains(kept), "\(kept) in \(text)")
        }
        #expect(
            IndexConfiguration().json
                == (try IndexConfiguration(json: IndexConfiguration().json)).json)
    }

    @Test(arguments: [
        ("", "The file is not JSON."), ("{,}", "The file is not JSON"),
        ("[]", "The file must hold one JSON object."),
        (#"{"indexes": {}}"#, "indexes: This must be a list."),
        (#"{"indexes": [7]}"#, "indexes[0]: This must be an object."),
        (#"{"indexes": [{"fields": []}]}"#, "indexes[0].collectionGroup: This must be a text."),
        (
            #"{"indexes": [{"collectionGroup": "c", "queryScope": "ALL", "fields": []}]}"#,
            "indexes[0].queryScope: This must be COLLECTION or COLLECTION_GROUP."
        ),
        (
            #"{"indexes": [{"collectionGroup": "c"}]}"#,
            "indexes[0].fields: This must not be empty."
        ),
        (index(#"{"order": "ASCENDING"}"#), "indexes[0].fields[0].fieldPath: This must be a text."),
        (
            index(#"{"fieldPath": "a..b", "order": "ASCENDING"}"#),
            "indexes[0].fields[0].fieldPath: "
        ),
        (
            index(#"{"fieldPath": "a", "order": "UP"}"#),
            "indexes[0].fields[0].order: This must be ASCENDING or DESCENDING."
        ),
        (
            index(#"{"fieldPath": "a", "mode": "UP"}"#),
            "indexes[0].fields[0].mode: This must be ASCENDING, DESCENDING or ARRAY_CONTAINS."
        ),
        (
            index(#"{"fieldPath": "a"}"#),
            "indexes[0].fields[0]: There must be an \"order\" or an \"arrayConfig\"."
        ),
        (
            index(#"{"fieldPath": "a", "order": "ASCENDING", "arrayConfig": "CONTAINS"}"#),
            "indexes[0].fields[0]: A field can be indexed in one way only."
        ),
        (
            index(#"{"fieldPath": "a", "vectorConfig": {"dimension": 2049}}"#),
            "indexes[0].fields[0].vectorConfig.dimension: This must be a number from 1 to 2048."
        ),
        (
            index(
                #"{"fieldPath": "a", "arrayConfig": "CONTAINS"}"#,
                #"{"fieldPath": "b", "arrayConfig": "CONTAINS"}"#),
            "indexes[0].fields: An index can have one array field at most."
        ),
        (
            index(
                #"{"fieldPath": "a", "order": "ASCENDING"}"#,
                #"{"fieldPath": "a", "order": "DESCENDING"}"#),
            "indexes[0].fields: A field is named twice."
        ),
        (
            index(
                #"{"fieldPath": "__name__", "order": "ASCENDING"}"#,
                #"{"fieldPath": "a", "order": "ASCENDING"}"#),
            "indexes[0].fields: Only a vector can follow __name__."
        ),
        (
            #"{"fieldOverrides": [{"collectionGroup": "c", "fieldPath": "a", "indexes": [1]}]}"#,
            "fieldOverrides[0].indexes[0]: This must be an object."
        ),
    ])
    func `what is wrong is said with its place`(json: String, sentence: String) {
        let error = #expect(throws: IndexFileError.self) {
            try IndexConfiguration(json: Data(json.utf8))
        }
        #expect(error?.message.hasPrefix(sentence) == true, "\(error?.message ?? "")")
    }

    private static func index(_ fields: String...) -> String {
        #"{"indexes": [{"collectionGroup": "c", "fields": [\#(fields.joined(separator: ","))]}]}"#
    }

    @Test func `bad JSON is said with its line`() {
        let error = #expect(throws: IndexFileError.self) {
            try IndexConfiguration(json: Data("{\n\"indexes\": [}\n}".utf8))
        }
        #expect(error?.message == "The file is not JSON: line 2, column 13.")
    }

    @Test func `bounds are said`() throws {
        func fields(_ count: Int) -> String {
            Self.index(
                (0..<count).map { #"{"fieldPath": "f\#($0)", "order": "ASCENDING"}"# }
                    .joined(separator: ","))
        }
        _ = try IndexConfiguration(json: Data(fields(100).utf8))
        let wide = #expect(throws: IndexFileError.self) {
            try IndexConfiguration(json: Data(fields(101).utf8))
        }
        #expect(
            wide?.message == "indexes[0].fields: There are 101, but at most 100 are allowed.")
        func indexes(_ count: Int) -> Data {
            PlanCase.json((0..<count).map { "a ASC, b\($0) ASC" })
        }
        var full = try IndexConfiguration(json: indexes(1_000))
        let more = PlanCase("", equal("x"), orders: "y").requirement.missing[0]
        let isAdded = full.add(more)
        #expect(!isAdded)
        #expect(full.composites.count == 1_000)
        let many = #expect(throws: IndexFileError.self) {
            try IndexConfiguration(json: indexes(1_001))
        }
        #expect(many?.message == "indexes: There are 1001, but at most 1000 are allowed.")
    }

    @Test func `an index is added once, sorted, and the rest is kept`() throws {
        var configuration = try IndexConfiguration(json: Data(Self.file.utf8))
        let missing = PlanCase("", equal("b"), orders: "a").requirement.missing[0]
        for _ in 0..<2 {
            let isAdded = configuration.add(missing)
            #expect(isAdded)
        }
        let read = try IndexConfiguration(json: configuration.json)
        #expect(read.composites.map(\.group.text) == ["beans", "c", "cities"])
        #expect(String(decoding: configuration.json, as: UTF8.self).contains("ours"))
    }

    @Test func `a field keeps what it had when it gets an index more`() throws {
        var configuration = try IndexConfiguration(json: Data(Self.file.utf8))
        let index = SingleFieldIndex(
            group: "cities", scope: .collectionGroup,
            field: IndexedField(field("state"), .ordered(.descending)))
        let isAdded = configuration.add(.singleField(index))
        #expect(isAdded)
        let read = try IndexConfiguration(json: configuration.json)
        #expect(
            read.catalog.indexes(of: field("state"), in: ByteString("cities")) == [
                FieldOverride.Index(.collection, .ordered(.ascending)),
                FieldOverride.Index(.collection, .ordered(.descending)),
                FieldOverride.Index(.collection, .contains),
                FieldOverride.Index(.collectionGroup, .ordered(.descending)),
            ])
        // A setting that already exists receives the new index and keeps its other keys.
        let notes = SingleFieldIndex(
            group: "cities", scope: .collection,
            field: IndexedField(field("notes"), .ordered(.ascending)))
        let isAddedToo = configuration.add(.singleField(notes))
        #expect(isAddedToo)
        #expect(String(decoding: configuration.json, as: UTF8.self).contains("\"ttl\" : false"))
        #expect(try IndexConfiguration(json: configuration.json).catalog.has(notes))
    }
}
