import TidemarkModel

/// The documents that all steps read and write: chat messages of about 500 bytes. Google's own
/// client was measured with the same workload.
struct Workload {
    let count: Int
    var collection = "messages"
    static let database = try! DatabaseID(project: "benchmark")

    private static func characters(_ number: Int, salt: UInt64, count: Int, of alphabet: String)
        -> String
    {
        let alphabet = Array(alphabet.utf8)
        var draws = SeededRandom(seed: UInt64(number) &* 1_000_003 &+ salt)
        let bytes = (0..<count).map { _ in alphabet[Int(draws.next() % UInt64(alphabet.count))] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    private static let letters = "abcdefghijklmnopqrstuvwxyz"
    private static let idLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + letters + "0123456789"

    func id(_ number: Int) -> String {
        Self.characters(number, salt: 1, count: 20, of: Self.idLetters)
    }
    func path(_ number: Int) -> DocumentPath {
        DocumentPath(unchecked: "\(collection)/\(id(number))")
    }
    func conversation(_ number: Int) -> String {
        "conv-" + Self.padded(number % (count / 50), 6)
    }
    /// Returns numbers of documents that are spread over the collection.
    func scattered(_ number: Int) -> Int { number &* 7_919 % count }
    func seconds(_ number: Int) -> Int64 { 1_700_000_000 + Int64(number) }

    func fields(_ number: Int) -> MapValue {
        [
            "clientToken": .string(
                Self.characters(number, salt: 3, count: 64, of: "0123456789abcdef")),
            "conversationId": .string(conversation(number)),
            "likes": .integer(Int64(31 * number % 1_000)),
            "read": .boolean(number % 3 == 0),
            "senderId": .string("user-" + Self.padded((7 * number + 3) % 500, 4)),
            "seq": .integer(Int64(number)),
            "text": .string(
                Self.characters(number, salt: 2, count: 200, of: Self.letters + "      ")),
            "timestamp": .timestamp(Timestamp(seconds: seconds(number), nanoseconds: 0)),
        ]
    }

    func document(_ number: Int) -> Document {
        let time = Timestamp(seconds: 1_750_000_000 + Int64(number), nanoseconds: 0)
        return Document(
            path: path(number), fields: fields(number), createTime: time, updateTime: time)
    }

    var newestFirst: [Order] { [Order(FieldPath(name: "timestamp"), .descending)] }

    var top: Query {
        Query(collectionID: collection, orders: newestFirst, limit: .first(50))
    }

    /// Returns the query for the documents after document `number`, newest first.
    func newer(than number: Int) -> Query {
        let time = Timestamp(seconds: seconds(number), nanoseconds: 0)
        return Query(
            collectionID: collection,
            filter: .field(FieldPath(name: "timestamp"), .greaterThan, .timestamp(time)),
            orders: newestFirst, limit: .first(50))
    }

    func newest(ofConversation number: Int) -> Query {
        let name = Value.string(conversation(number))
        return Query(
            collectionID: collection,
            filter: .field(FieldPath(name: "conversationId"), .equal, name),
            orders: newestFirst, limit: .first(50))
    }
}
