import Foundation
import Testing
import TidemarkTesting

@testable import Tidemark

/// Tests two field names that differ only in how an accent is composed. They are two fields in
/// Firestore, but one key in a Swift dictionary.
@Suite(.timeLimit(.minutes(20))) struct `Names of fields` {
    /// In the order of bytes, the second name comes first.
    private static let (one, two) = ("\u{E9}", "e\u{301}")
    private static let fields = MapValue([
        (one, .integer(1)), (two, .integer(2)), ("z", .integer(3)),
        ("m", .map(MapValue([(one, .string("one")), (two, .string("two"))]))),
    ])

    private func withDocument(
        _ body: (Firestore, DocumentReference, DocumentSnapshot) async throws -> Void
    ) async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let document = firestore.document("rooms/a")
        _ = try await firestore.enqueue(
            [Mutation(path: DocumentPath("rooms/a"), .set(Self.fields))]
        ).acknowledged()
        try await body(firestore, document, try await document.getDocument(source: .server))
        await local.stop()
    }

    @Test func `keep their own values in a dictionary, and the log names the other`() async throws {
        KeptLog.begin()
        // Only this test uses the name, because the log mentions each name once.
        let (one, two) = ("log\u{E9}", "loge\u{301}")
        try await withDocument { firestore, document, snapshot in
            let data = try #require(snapshot.data())
            #expect(data.count == 3)
            let name = try #require(data.keys.first { $0 == Self.one })
            #expect(name.hasSameBytes(as: Self.two) && data[name] as? Int == 2)
            let map = try #require(data["m"] as? [String: String])
            #expect(map.count == 1 && map.first?.key.hasSameBytes(as: Self.two) == true)
            #expect(map.first?.value == "two")
            #expect(snapshot.get(FieldPath([Self.one])) as? Int == 1)
            #expect(snapshot.get(FieldPath([Self.two])) as? Int == 2)
            _ = try await firestore.enqueue([
                Mutation(
                    path: DocumentPath("rooms/log"),
                    .set(MapValue([(one, .integer(1)), (two, .integer(2))])))
            ]).acknowledged()
            let other = firestore.document("rooms/log")
            let logged = try await other.getDocument(source: .server)
            _ = logged.data()
            _ = logged.data()
        }
        let told = KeptLog.lines.map(\.text).filter { $0.contains("log\\u{00E9}") }
        #expect(told.count == 1, "\(told)")
    }

    @Test func `keep their own values in a decoded dictionary`() async throws {
        try await withDocument { _, _, snapshot in
            struct Room: Decodable { var m: [String: String], z: Int }
            let room = try snapshot.data(as: Room.self)
            #expect(room.m.count == 1 && room.m.first?.value == "two")
            #expect(room.m.first?.key.hasSameBytes(as: Self.two) == true)
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// The members of a map with any names.
    private struct Members: Codable {
        enum Member: Codable {
            case number(Int), text(String)
            case members(Members)

            init(from decoder: any Swift.Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let number = try? container.decode(Int.self) {
                    self = .number(number)
                } else if let text = try? container.decode(String.self) {
                    self = .text(text)
                } else {
                    self = .members(try container.decode(Members.self))
                }
            }

            func encode(to encoder: any Swift.Encoder) throws {
                var container = encoder.singleValueContainer()
                switch self {
                case .number(let number): try container.encode(number)
                case .text(let text): try container.encode(text)
                case .members(let members): try container.encode(members)
                }
            }
        }

        var all: [(name: String, value: Member)]

        init(from decoder: any Swift.Decoder) throws {
            let container = try decoder.container(keyedBy: Name.self)
            all = try container.allKeys.map {
                ($0.stringValue, try container.decode(Member.self, forKey: $0))
            }
        }

        func encode(to encoder: any Swift.Encoder) throws {
            var container = encoder.container(keyedBy: Name.self)
            for (name, value) in all {
                try container.encode(value, forKey: Name(stringValue: name))
            }
        }
    }

    @Test func `all come back with a type that keeps them, in every way to write`() async throws {
        try await withDocument { firestore, document, snapshot in
            let members = try snapshot.data(as: Members.self)
            #expect(members.all.count == 4)
            let other = firestore.document("rooms/b")
            try await other.setData(from: members)
            let third = firestore.document("rooms/c")
            try await third.setData(from: members, merge: true)
            let batch = firestore.batch()
            try batch.setData(from: members, forDocument: firestore.document("rooms/d"))
            try await batch.commit()
            for id in ["b", "c", "d"] {
                let read = try await firestore.document("rooms/\(id)").getDocument(source: .server)
                #expect(read.fields == Self.fields, "\(id)")
            }
            // The dictionary is written without the other name, and no other field is lost.
            try await other.setData(try #require(snapshot.data()), merge: true)
            #expect(try await other.getDocument(source: .server).fields == Self.fields)
        }
    }

    /// Tests the same with ids: the stores of the server and of the cache treated two collections
    /// as one.
    @Test func `of collections and documents are two on the server and in the cache`() async throws
    {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let names = [Self.one, Self.two]
        for (number, name) in names.enumerated() {
            try await firestore.collection(name).document("a").setData(["n": number])
            try await firestore.collection("ids").document(name).setData(["n": number])
            try await firestore.collection(name).document(name).collection(name)
                .document("deep").setData(["n": number])
        }
        for source in [FirestoreSource.server, .cache] {
            for (number, name) in names.enumerated() {
                let found = try await firestore.collection(name).getDocuments(source: source)
                #expect(found.documents.map { $0["n"] as? Int } == [number], "\(source)")
                let one = try await firestore.collection("ids").document(name)
                    .getDocument(source: source)
                #expect(one["n"] as? Int == number)
                let deep = try await firestore.collection(name).document(name).collection(name)
                    .getDocuments(source: source)
                #expect(deep.documents.map { $0["n"] as? Int } == [number])
                let group = try await firestore.collectionGroup(name).getDocuments(source: source)
                #expect(group.documents.count == 2, "\(source)")
            }
        }
        await local.stop()
    }

    @Test func `are changed one by one`() async throws {
        try await withDocument { _, document, _ in
            try await document.updateData([
                FieldPath([Self.one]): 10, FieldPath([Self.two]): 20,
            ])
            let read = try await document.getDocument(source: .server)
            #expect(read.get(FieldPath([Self.one])) as? Int == 10)
            #expect(read.get(FieldPath([Self.two])) as? Int == 20)
            #expect(read["z"] as? Int == 3)
        }
    }
}
