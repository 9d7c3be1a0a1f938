import Foundation
import Testing
import TidemarkTesting

@testable import Tidemark

/// Tests the decoding of documents, and of dictionaries from `data()`.
@Suite(.timeLimit(.minutes(2))) struct `A document decodes` {
    private let firestore: Firestore
    private let reference: DocumentReference

    init() throws {
        firestore = try LocalFirestore.start().firestore()
        reference = firestore.document("rooms/blue")
    }

    private func decode<T: Decodable>(
        _ type: T.Type, _ fields: MapValue, with behavior: ServerTimestampBehavior = .none,
        _ decoder: Firestore.Decoder = Firestore.Decoder()
    ) throws -> T {
        try decoder.decode(type, from: EncodedFields(fields), behavior, in: reference)
    }

    @Test func `to every kind of value`() throws {
        enum Color: String, Codable { case red, blue }
        struct Inner: Codable, Equatable { var x: Int, list: [String?] }
        struct Everything: Codable {
            var bool: Bool, int: Int, small: Int8, unsigned: UInt64, double: Double, float: Float
            var text: String, empty: String, date: Date, time: Timestamp, data: Data, url: URL
            var place: GeoPoint, vector: VectorValue, reference: DocumentReference
            var color: Color, inner: Inner, inners: [Inner], map: [String: Int], money: Decimal
            var present: Int?, null: Int?, missing: Int?, matrix: [[String: Double]]
        }
        let inner: Value = .map(["x": .integer(1), "list": .array([.string("a"), .null])])
        let other = ReferenceValue(
            database: firestore.databaseID, path: try DocumentPath("rooms/red"))
        let value = try decode(
            Everything.self,
            [
                "bool": .boolean(true), "int": .integer(-5), "small": .integer(127),
                "unsigned": .integer(.max), "double": .integer(3), "float": .double(0.5),
                "text": .string("é 👍"), "empty": .string(""),
                "date": .timestamp(Timestamp(seconds: 7, nanoseconds: 500_000_000)),
                "time": .timestamp(Timestamp(seconds: -1, nanoseconds: 1000)),
                "data": .bytes([1, 2]), "url": .string("https://example.com/a"),
                "place": .geoPoint(GeoPoint(latitude: 1, longitude: 2)),
                "vector": .vector(VectorValue([1, 2])), "reference": .reference(other),
                "color": .string("blue"), "inner": inner, "inners": .array([inner, inner]),
                "map": .map(["a": .integer(1), "b": .integer(2)]), "money": .double(0.1),
                "present": .integer(1), "null": .null,
                "matrix": .array([.map(["a": .double(1)]), .map([:])]), "extra": .boolean(false),
            ])
        #expect(value.bool && value.int == -5 && value.small == 127)
        #expect(value.unsigned == UInt64(Int64.max) && value.double == 3 && value.float == 0.5)
        #expect(value.text == "é 👍" && value.empty == "")
        #expect(value.date == Date(timeIntervalSince1970: 7.5) && value.time.seconds == -1)
        #expect(value.data == Data([1, 2]) && value.url.path() == "/a")
        #expect(value.place.latitude == 1 && value.vector.array == [1, 2])
        #expect(value.reference == firestore.document("rooms/red") && value.color == .blue)
        #expect(value.inner == Inner(x: 1, list: ["a", nil]) && value.inners.count == 2)
        #expect(value.map == ["a": 1, "b": 2] && value.money == Decimal(string: "0.1"))
        #expect(value.present == 1 && value.null == nil && value.missing == nil)
        #expect(value.matrix == [["a": 1], [:]])
    }

    private struct Inner: Codable { var n: Int }
    private struct Outer: Codable { var list: [Inner] }

    /// Returns the kind and the place of the error when `value` is decoded as an item's number.
    private func path(_ value: Value) -> (String, [String]) {
        do {
            _ = try decode(Outer.self, ["list": .array([.map(["n": value])])])
            return ("none", [])
        } catch DecodingError.typeMismatch(_, let context) {
            return ("mismatch", context.codingPath.map(\.stringValue))
        } catch DecodingError.valueNotFound(_, let context) {
            return ("null", context.codingPath.map(\.stringValue))
        } catch DecodingError.dataCorrupted(let context) {
            return ("corrupted", context.codingPath.map(\.stringValue))
        } catch { return ("\(error)", []) }
    }

    @Test func `or says which field does not fit, and why`() throws {
        let place = ["list", "Index 0", "n"]
        #expect(path(.string("1")) == ("mismatch", place))
        #expect(path(.boolean(true)) == ("mismatch", place))
        #expect(path(.null) == ("null", place))
        #expect(path(.double(1.5)) == ("corrupted", place))
        #expect(path(.double(2)) == ("none", []))
        do {
            _ = try decode(Inner.self, ["m": .integer(1)])
            Issue.record("decoded without its field")
        } catch DecodingError.keyNotFound(let key, let context) {
            #expect(key.stringValue == "n" && context.codingPath.isEmpty)
        }
        #expect(throws: DecodingError.self) { try decode([Int].self, ["n": .integer(1)]) }
        struct Small: Codable { var n: Int8 }
        #expect(throws: DecodingError.self) { try decode(Small.self, ["n": .integer(128)]) }
        struct Bare: Codable { var n: Float }
        #expect(throws: DecodingError.self) { try decode(Bare.self, ["n": .double(1e300)]) }
    }

    private struct Times: Codable, Equatable { var at: Date }

    private func seconds(_ value: Value, _ decoder: Firestore.Decoder) throws -> Double {
        try decode(Times.self, ["at": value], decoder).at.timeIntervalSince1970
    }

    @Test func `by its strategies`() throws {
        let decoder = Firestore.Decoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        #expect(try seconds(.double(1.5), decoder) == 1.5)
        decoder.dateDecodingStrategy = .millisecondsSince1970
        #expect(try seconds(.integer(1500), decoder) == 1.5)
        decoder.dateDecodingStrategy = .iso8601
        #expect(try seconds(.string("1970-01-01T00:00:02Z"), decoder) == 2)
        #expect(throws: DecodingError.self) { try seconds(.string("yesterday"), decoder) }
        decoder.dateDecodingStrategy = .deferredToDate
        #expect(
            try seconds(.double(0), decoder)
                == Date(timeIntervalSinceReferenceDate: 0).timeIntervalSince1970)
        let formatter = DateFormatter()
        formatter.dateFormat = "yyyy-MM-dd"
        formatter.timeZone = TimeZone(identifier: "UTC")
        decoder.dateDecodingStrategy = .formatted(formatter)
        #expect(try seconds(.string("1970-01-02"), decoder) == 86_400)
        decoder.dateDecodingStrategy = .custom { decoder in
            Date(timeIntervalSince1970: try decoder.singleValueContainer().decode(Double.self) * 2)
        }
        #expect(try seconds(.integer(4), decoder) == 8)

        struct Blob: Codable { var d: Data }
        decoder.dataDecodingStrategy = .base64
        #expect(try decode(Blob.self, ["d": .string("AQI=")], decoder).d == Data([1, 2]))
        decoder.dataDecodingStrategy = .deferredToData
        let numbers: Value = .array([.integer(1), .integer(2)])
        #expect(try decode(Blob.self, ["d": numbers], decoder).d == Data([1, 2]))
        decoder.dataDecodingStrategy = .custom { _ in Data([9]) }
        #expect(try decode(Blob.self, ["d": .null], decoder).d == Data([9]))

        struct Number: Codable { var n: Double }
        #expect(throws: DecodingError.self) {
            try decode(Number.self, ["n": .string("inf")], decoder)
        }
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        #expect(try decode(Number.self, ["n": .string("-inf")], decoder).n == -.infinity)
        #expect(try decode(Number.self, ["n": .double(.nan)], decoder).n.isNaN)
    }

    @Test func `by its keys' strategies and what its user says`() throws {
        struct Snake: Codable, Equatable { var oneTwo: Int, _three: Int }
        let decoder = Firestore.Decoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let fields: MapValue = ["one_two": .integer(1), "_three": .integer(3)]
        #expect(try decode(Snake.self, fields, decoder) == Snake(oneTwo: 1, _three: 3))
        decoder.keyDecodingStrategy = .custom { path in
            AnyKey(stringValue: String(path.last!.stringValue.reversed()))
        }
        struct Word: Codable { var abc: Int }
        #expect(try decode(Word.self, ["cba": .integer(1)], decoder).abc == 1)
        struct Told: Decodable {
            let text: String?
            init(from decoder: any Decoder) throws {
                text = decoder.userInfo[CodingUserInfoKey(rawValue: "a")!] as? String
            }
        }
        decoder.userInfo = [CodingUserInfoKey(rawValue: "a")!: "b"]
        #expect(try decode(Told.self, [:], decoder).text == "b")
    }

    @Test func `with its id, and times that the server has yet to set`() throws {
        struct Room: Codable, Equatable {
            @DocumentID var id: String?
            @DocumentID var document: DocumentReference?
            @ServerTimestamp var made: Date?
            @ServerTimestamp var changed: Timestamp?
            @ExplicitNull var owner: String?
        }
        let time = Timestamp(seconds: 9, nanoseconds: 0)
        let room = try decode(Room.self, ["made": .timestamp(time), "owner": .null])
        #expect(room.id == "blue" && room.document == reference)
        #expect(room.made == time.dateValue() && room.changed == nil && room.owner == nil)
        do {
            _ = try decode(Room.self, ["id": .string("red")])
            Issue.record("two ids")
        } catch FirestoreDecodingError.fieldNameConflict(let text) { #expect(text.contains("id")) }
        #expect(throws: FirestoreDecodingError.self) {
            try Firestore.Decoder().decode(Room.self, from: ["owner": "x"])
        }
        let json = Data("{\"id\": \"a\"}".utf8)
        #expect(throws: FirestoreDecodingError.self) {
            try JSONDecoder().decode(Room.self, from: json)
        }
        let pending: Value = .pendingServerTimestamp(
            localWriteTime: time, previous: .timestamp(Timestamp(seconds: 1, nanoseconds: 0)))
        struct Times: Codable { var t: Date? }
        #expect(try decode(Times.self, ["t": pending]).t == nil)
        #expect(try decode(Times.self, ["t": pending], with: .estimate).t == time.dateValue())
        #expect(
            try decode(Times.self, ["t": pending], with: .previous).t?.timeIntervalSince1970 == 1)
    }

    @Test func `from what data() returns as from where it is stored`() throws {
        struct Room: Codable, Equatable {
            @DocumentID var id: String?
            var at: Date, other: DocumentReference, tags: [String], n: Int
        }
        let data: [String: Any] = [
            "at": Timestamp(seconds: 5, nanoseconds: 0), "other": reference, "tags": ["a"], "n": 1,
        ]
        let room = try Firestore.Decoder().decode(Room.self, from: data, in: reference)
        #expect(room.id == "blue" && room.other == reference && room.tags == ["a"])
        #expect(try Firestore.Decoder().decode(Int.self, from: 7) == 7)
        #expect(throws: FirestoreError.self) {
            try Firestore.Decoder().decode(Room.self, from: ["x": Thread.current])
        }
    }

    @Test func `superclasses, nested containers and recursive types`() throws {
        class Animal: Codable { var name = "" }
        final class Dog: Animal {
            var age = 0
            private enum CodingKeys: CodingKey { case age }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                age = try container.decode(Int.self, forKey: .age)
                try super.init(from: container.superDecoder())
            }
        }
        let dog = try decode(
            Dog.self, ["age": .integer(3), "super": .map(["name": .string("Rex")])])
        #expect(dog.age == 3 && dog.name == "Rex")
        struct Tree: Codable, Equatable { var n: Int, children: [Tree] }
        let tree = try decode(
            Tree.self,
            [
                "n": .integer(1),
                "children": .array([.map(["n": .integer(2), "children": .array([])])]),
            ])
        #expect(tree == Tree(n: 1, children: [Tree(n: 2, children: [])]))
    }
}
