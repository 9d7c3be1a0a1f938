import Foundation
import Testing
import TidemarkTesting

@testable import Tidemark

/// Tests which documents the encoder makes from Swift values.
@Suite(.timeLimit(.minutes(2))) struct `A value encodes` {
    @Test func `to what Firestore stores`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        struct Inner: Codable {
            var x: Int
            var none: String?
        }
        struct Room: Codable {
            @DocumentID var id: String?
            @ServerTimestamp var made: Date?
            @ExplicitNull var owner: String?
            var at: Date, data: Data, url: URL, place: GeoPoint, vector: VectorValue
            var other: DocumentReference, list: [Inner], map: [String: Double]
            var missing: Int?
            var bool: Bool, small: UInt8
        }
        let document = firestore.document("rooms/a")
        let room = Room(
            id: "never written", made: nil, owner: nil, at: Date(timeIntervalSince1970: 1.5),
            data: Data([1]), url: URL(string: "https://example.com")!,
            place: GeoPoint(latitude: 1, longitude: 2), vector: VectorValue([1]), other: document,
            list: [Inner(x: 1)], map: ["a": 0.5], bool: true, small: 7)
        let data = try Firestore.Encoder().encode(room)
        #expect(
            Set(data.keys) == [
                "made", "owner", "at", "data", "url", "place", "vector", "other", "list", "map",
                "bool", "small",
            ])
        #expect(data["made"] is FieldValue && data["owner"] is NSNull)
        #expect(data["at"] as? Timestamp == Timestamp(seconds: 1, nanoseconds: 500_000_000))
        #expect(data["other"] as? DocumentReference == document)
        #expect((data["list"] as? [[String: Any]])?.first?.count == 1)
        try await document.setData(from: room)
        let stored = try await document.getDocument(as: Room.self, source: .server)
        #expect(stored.id == "a" && stored.made != nil && stored.place == room.place)
        #expect(stored.map == ["a": 0.5] && stored.small == 7 && stored.data == Data([1]))
        await local.stop()
    }

    /// An app's own type for times.
    struct Moment: ServerTimestampWrappable, Codable, Equatable {
        var seconds: Int64

        static func wrap(_ timestamp: Timestamp) -> Moment { Moment(seconds: timestamp.seconds) }
        static func unwrap(_ value: Moment) -> Timestamp {
            Timestamp(seconds: value.seconds, nanoseconds: 0)
        }
    }

    @Test func `to a time, of a type that the app has made for times`() async throws {
        struct Room: Codable {
            @ServerTimestamp var made: Moment?
            @ServerTimestamp var closed: Moment?
        }
        let local = try LocalFirestore.start()
        let document = try local.firestore().document("rooms/a")
        try await document.setData(from: Room(made: nil, closed: Moment(seconds: 7)))
        let fields = try await document.getDocument(source: .server)
        #expect(fields["closed"] as? Timestamp == Timestamp(seconds: 7, nanoseconds: 0))
        let room = try fields.data(as: Room.self)
        #expect(room.closed == Moment(seconds: 7))
        #expect(room.made?.seconds == local.now.seconds)
        await local.stop()
    }

    @Test func `by its strategies`() throws {
        struct Room: Codable {
            var oneTwo = 1, someURL = "x", at = Date(timeIntervalSince1970: 2), d = Data([1, 2])
        }
        let encoder = Firestore.Encoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.dataEncodingStrategy = .base64
        let first = try encoder.encode(Room())
        #expect(Set(first.keys) == ["one_two", "some_url", "at", "d"])
        #expect(first["at"] as? Double == 2 && first["d"] as? String == "AQI=")
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.dataEncodingStrategy = .deferredToData
        encoder.keyEncodingStrategy = .custom { AnyKey(stringValue: $0.last!.stringValue + "!") }
        let second = try encoder.encode(Room())
        #expect(second["at!"] as? Double == 2000 && second["d!"] as? [Int64] == [1, 2])
        encoder.keyEncodingStrategy = .useDefaultKeys
        encoder.dateEncodingStrategy = .iso8601
        encoder.dataEncodingStrategy = .custom { _, encoder in
            var container = encoder.singleValueContainer()
            try container.encode("data")
        }
        let third = try encoder.encode(Room())
        #expect(third["at"] as? String == "1970-01-01T00:00:02Z" && third["d"] as? String == "data")
        encoder.dateEncodingStrategy = .deferredToDate
        encoder.dataEncodingStrategy = .blob
        let fourth = try encoder.encode(Room())
        #expect(
            fourth["at"] as? Double == Date(timeIntervalSince1970: 2).timeIntervalSinceReferenceDate
        )
        #expect(fourth["d"] as? Data == Data([1, 2]))
    }

    @Test func `or says which field does not fit`() throws {
        struct Inner: Codable { var d: Double }
        struct Outer: Codable { var list: [Inner] }
        let encoder = Firestore.Encoder()
        do {
            _ = try encoder.encode(Outer(list: [Inner(d: .nan)]))
            Issue.record("NaN was encoded")
        } catch EncodingError.invalidValue(_, let context) {
            #expect(context.codingPath.map(\.stringValue) == ["list", "Index 0", "d"])
        }
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "+", negativeInfinity: "-", nan: "?")
        let data = try encoder.encode(["d": Double.nan, "e": -.infinity])
        #expect(data as? [String: String] == ["d": "?", "e": "-"])
        #expect(throws: EncodingError.self) { try encoder.encode(["n": UInt64.max]) }
        #expect(throws: EncodingError.self) { try encoder.encode(7) }
    }

    @Test func `only with Firestore's encoder where nothing else knows it`() throws {
        let firestore = try LocalFirestore.start().firestore()
        let json = JSONEncoder()
        #expect(throws: FirestoreEncodingError.self) {
            try json.encode(["r": firestore.document("a/b")])
        }
        #expect(throws: FirestoreEncodingError.self) { try json.encode([FieldValue.delete()]) }
        struct Room: Codable { @DocumentID var id: String? = "a" }
        #expect(throws: FirestoreEncodingError.self) { try json.encode(Room()) }
        let time = Timestamp(seconds: 1, nanoseconds: 2)
        let place = GeoPoint(latitude: 1, longitude: 2)
        #expect(try JSONDecoder().decode(Timestamp.self, from: json.encode(time)) == time)
        #expect(try JSONDecoder().decode(GeoPoint.self, from: json.encode(place)) == place)
        let vector = VectorValue([1, 2])
        #expect(try JSONDecoder().decode(VectorValue.self, from: json.encode(vector)) == vector)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(
                GeoPoint.self, from: Data("{\"latitude\": 99, \"longitude\": 0}".utf8))
        }
    }

    @Test func `a nil server timestamp in an array is refused with its place and what to do`()
        throws
    {
        struct Job: Codable { @ServerTimestamp var doneAt: Date? }
        struct Jobs: Codable { var jobs: [Job] }
        let data = try Firestore.Encoder().encode(Jobs(jobs: [Job()]))
        do throws(FirestoreError) {
            _ = try ValueParser.fields(data)
            Issue.record("it was taken")
        } catch {
            for part in ["@ServerTimestamp", "set a time", "jobs.doneAt"] {
                #expect(error.detail.contains(part))
            }
        }
        let time = Date(timeIntervalSince1970: 9)
        let whole = try Firestore.Encoder().encode(Jobs(jobs: [Job(doneAt: time)]))
        #expect(throws: Never.self) { try ValueParser.fields(whole) }
    }
}
