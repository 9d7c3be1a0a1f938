import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import TidemarkREST

/// Compares the text of documents, written directly from their bytes, with the text that the tables
/// of messages produce.
struct FieldsTextTests {
    private static let database = try! DatabaseID(project: "shop")
    private static let forms = [(false, false), (true, false), (false, true)]

    private func texts(_ json: JSONOutput) -> [String] {
        Self.forms.map {
            String(decoding: json.data(isPretty: $0.0, isSorted: $0.1), as: UTF8.self)
        }
    }

    /// Returns the JSON that the tables make of the fields, encoded as a map value.
    private func transcoded(_ fields: MapValue) throws -> JSONOutput {
        let value = ProtoJSONWriter.json(.value, FieldsCodec.encode(.map(fields)))
        guard case .object(let members) = value, case .object(let map)? = members.first?.value
        else { throw CodecError.malformed }
        return map.first?.value ?? .object([])
    }

    private func document(_ fields: MapValue) -> Document {
        Document(
            path: DocumentPath(unchecked: "rooms/blé"), fields: fields,
            createTime: Timestamp(seconds: 1_700_000_000, nanoseconds: 1_000), updateTime: .epoch)
    }

    @Test func `fields are the text that the tables make`() throws {
        for seed in 0..<3_000 as Range<UInt64> {
            var dice = FieldsDice(random: SeededRandom(seed: seed))
            let fields = dice.fields(depth: 4)
            let written = texts(.fields(EncodedFields(fields)))
            #expect(written == texts(try transcoded(fields)), "seed \(seed)")
        }
    }

    @Test func `each kind is the text that the tables make`() throws {
        for value in FieldsDice.corners {
            let fields: MapValue = ["a": value, "b": .array([value]), "c": .map(["\"": value])]
            let written = texts(.fields(EncodedFields(fields)))
            #expect(written == texts(try transcoded(fields)), "\(value)")
        }
    }

    @Test func `a document is the text of its message`() throws {
        for seed in 0..<500 as Range<UInt64> {
            var dice = FieldsDice(random: SeededRandom(seed: seed))
            let document = document(dice.fields(depth: 3))
            let message = CallCoding.bytes(of: .document(document), in: Self.database)
            #expect(
                texts(.document(document, in: Self.database))
                    == texts(ProtoJSONWriter.json(.document, message)), "seed \(seed)")
        }
    }

    @Test func `what holds a document holds the same text`() throws {
        let document = document(["n": .integer(.min), "list": .array([.string("é\n")])])
        let reply = RunQueryReply(document: document, readTime: .epoch)
        let bytes = CallCoding.bytes(of: .runQuery(reply), in: Self.database)
        let expected = JSONOutput.object([
            .init("document", .document(document, in: Self.database)),
            .init("readTime", .text("1970-01-01T00:00:00Z")),
        ])
        #expect(texts(ProtoJSONWriter.json(.runQueryResponse, bytes)) == texts(expected))
    }

    @Test func `is over lines for people`() {
        let fields: MapValue = ["a": .array([.integer(-1), .map([:])]), "b": .null]
        let text = JSONOutput.fields(EncodedFields(fields)).data(isPretty: true)
        #expect(
            String(decoding: text, as: UTF8.self) == """
                {
                  "a": {
                    "arrayValue": {
                      "values": [
                        {
                          "integerValue": "-1"
                        },
                        {
                          "mapValue": {}
                        }
                      ]
                    }
                  },
                  "b": {
                    "nullValue": null
                  }
                }
                """)
    }

    @Test func `bytes that were damaged are no fields, and JSON all the same`() throws {
        let whole = EncodedFields(["a": .map(["b": .array([.string("text"), .double(0.5)])])])
        for index in whole.bytes.indices {
            for bit in 0..<8 {
                var bytes = whole.bytes
                bytes[index] ^= 1 << UInt8(bit)
                let json = JSONOutput.object([
                    .init("fields", .fields(EncodedFields(trusted: bytes))), .init("z", .null),
                ])
                _ = try JSONSerialization.jsonObject(with: json.data(isPretty: true))
            }
        }
        for count in whole.bytes.indices.dropFirst() {
            let cut = EncodedFields(trusted: Array(whole.bytes.prefix(count)))
            #expect(texts(.fields(cut)).allSatisfy { $0 == "{}" })
        }
    }
}

/// Makes fields of all kinds, with important texts and numbers.
private struct FieldsDice {
    var random: SeededRandom

    static let corners: [Value] = [
        .null, .boolean(true), .boolean(false), .integer(.min), .integer(.max), .integer(0),
        .double(.nan), .double(.infinity), .double(-.infinity), .double(-0.0), .double(0),
        .double(3), .double(1e300), .double(.leastNonzeroMagnitude), .double(0.1), .timestamp(.min),
        .timestamp(.max), .timestamp(.epoch), .timestamp(Timestamp(seconds: -1, nanoseconds: 1)),
        .timestamp(Timestamp(seconds: 1, nanoseconds: 120_000_000)),
        .timestamp(Timestamp(seconds: 1, nanoseconds: 999_999_999)), .string(""),
        .string("\u{0}\u{1F}\"\\/\u{7F}é\u{2028}😀"), .bytes([]), .bytes([0xFB, 0xFF]),
        .bytes([0, 1, 2, 3]),
        .reference(
            ReferenceValue(
                database: try! DatabaseID(project: "p"), path: DocumentPath(unchecked: "a/é"))),
        .geoPoint(GeoPoint(latitude: 0, longitude: 0)),
        .geoPoint(GeoPoint(latitude: -0.0, longitude: 180)),
        .geoPoint(GeoPoint(latitude: 52.5, longitude: -13.4)), .array([]),
        .vector(VectorValue([])), .vector(VectorValue([1, -0.5, 0])), .map([:]),
    ]

    private mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

    mutating func fields(depth: Int) -> MapValue {
        var fields = MapValue()
        for _ in 0..<below(6) { fields[text()] = value(depth: depth) }
        return fields
    }

    private mutating func value(depth: Int) -> Value {
        switch below(depth > 0 ? 10 : 7) {
        case 0: return .integer(Int64(bitPattern: random.next()))
        case 1: return .double(Double(bitPattern: random.next()))
        case 2: return .string(text())
        case 3:
            return .timestamp(
                Timestamp(
                    seconds: Int64(below(4_000_000_000)), nanoseconds: Int32(below(1_000_000_000))))
        case 4: return .bytes((0..<below(9)).map { _ in UInt8(below(256)) })
        case 5, 6: return Self.corners[below(Self.corners.count)]
        case 7: return .array((0..<below(4)).map { _ in value(depth: depth - 1) })
        default: return .map(fields(depth: depth - 1))
        }
    }

    private mutating func text() -> String {
        let parts = [
            "a", "B", "10", "é", "e\u{301}", "\u{0}", "\u{8}", "\u{C}", "\n", "\r", "\t", "\"",
            "\\", "/", "\u{7F}", "\u{2028}", "😀", " ", "__type__", "fields",
        ]
        return (0..<below(5)).map { _ in parts[below(parts.count)] }.joined()
    }
}
