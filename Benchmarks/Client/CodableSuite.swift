import Foundation
import Tidemark

/// Measures decoding of small documents to values of a Swift type, beside `JSONDecoder` with the
/// same data: one document at a time, as snapshots are decoded, and all documents as one array.
struct CodableSuite {
    let report: Report

    private static let count = 50_000

    private struct Message: Codable, Equatable {
        var text: String
        var author: String
        var conversationId: String
        var sentAt: Date
        var edited: Bool
        var likes: Int
        var score: Double
        var tags: [String]
        var replyTo: String?

        init(_ number: Int) {
            text = "Message \(number): a few words, as people write them."
            author = "user-\(number % 97)"
            conversationId = "conversation-\(number % 1_000)"
            sentAt = Date(timeIntervalSince1970: 1_700_000_000 + Double(number))
            edited = number.isMultiple(of: 7)
            likes = number % 13
            score = Double(number % 1_000) / 8
            tags = ["tag\(number % 5)", "tag\(number % 11)"]
            replyTo = number.isMultiple(of: 3) ? "message-\(number / 3)" : nil
        }

        var fields: MapValue {
            var fields: MapValue = [
                "text": .string(text), "author": .string(author),
                "conversationId": .string(conversationId),
                "sentAt": .timestamp(Timestamp(date: sentAt)), "edited": .boolean(edited),
                "likes": .integer(Int64(likes)), "score": .double(score),
                "tags": .array(tags.map(Value.string)),
            ]
            fields["replyTo"] = replyTo.map(Value.string)
            return fields
        }
    }

    func run() async throws {
        let firestore = try Firestore(
            projectID: "bench", settings: FirestoreSettings(host: "localhost:1", cache: .memory))
        let messages = (0..<Self.count).map(Message.init)
        let snapshots = try messages.enumerated().map { number, message in
            let document = Document(
                path: try DocumentPath("messages/\(number)"), fields: message.fields,
                createTime: .epoch, updateTime: .epoch)
            return firestore.cachedSnapshot(of: ViewDocument(document))
        }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        let texts = try messages.map { try encoder.encode($0) }
        let whole = try encoder.encode(messages)
        let json = JSONDecoder()
        json.dateDecodingStrategy = .secondsSince1970
        let decoder = Firestore.Decoder()

        let decoded = try snapshots.map { try $0.data(as: Message.self, decoder: decoder) }
        precondition(decoded == messages)
        report.begin("client", "decoding \(Self.count) documents", yardstick: "JSONDecoder")
        let ours = try median(7) { _ in
            try snapshots.map { try $0.data(as: Message.self, decoder: decoder) }.count
        }
        report.add(
            "a document at a time", ours,
            against: try median(7) { _ in
                try texts.map { try json.decode(Message.self, from: $0) }.count
            }, atMost: 1, items: Self.count)
        report.add(
            "beside one array", ours,
            against: try median(7) { _ in try json.decode([Message].self, from: whole).count },
            atMost: 1, items: Self.count)
        report.add(
            "data(), a dictionary each",
            median(3) { _ in snapshots.map { $0.data().count }.count }, items: Self.count)
        let writer = Firestore.Encoder()
        report.add(
            "encoding", try median(3) { _ in try messages.map { try writer.encode($0) }.count },
            against: try median(3) { _ in try messages.map { try encoder.encode($0) }.count },
            atMost: 2.5, items: Self.count)
        await firestore.terminate()
    }
}
