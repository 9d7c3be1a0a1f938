import Tidemark
import TidemarkModel

/// The messages that have a word. The old app downloads all messages and looks at each.
enum MessagesWithWord {
    /// - Parameters:
    ///   - count: The number of messages at the last use.
    ///   - changed: The number of messages that arrive while the device is away.
    ///   - clock: The server's time at which the messages are written, in seconds since 1970.
    static func row(messages count: Int, changed: Int, clock: Int64) -> FiguresRow {
        var row = FiguresRow(
            name: "messages with a word among \(grouped(count)), on the device",
            slug: "messages-with-word", list: "notifications", time: "createdAt", figures: figures,
            held: (0..<count).map { message($0, clock: clock) },
            changes: (0..<changed).map { message(count + $0, clock: clock) },
            last: FiguresRow.Write(
                id: "last",
                fields: [
                    "text": .string("Harbour closed today"),
                    "createdAt": .timestamp(Timestamp(seconds: clock, nanoseconds: 0)),
                ]))
        row.words = [WordIndex(collectionID: "notifications", fields: ["text"])]
        return row
    }

    private static func message(_ number: Int, clock: Int64) -> FiguresRow.Write {
        let place = number % 50 == 7 ? "harbour" : "station"
        return FiguresRow.Write(
            id: "m\(number)",
            fields: [
                "text": .string("We meet at the \(place), message \(number)"),
                "createdAt": .timestamp(
                    Timestamp(seconds: clock - 100_000 + Int64(number), nanoseconds: 0)),
            ])
    }

    private static let figures = FiguresRow.Figures { messages in
        messages.search(query: "harbour").select([Field("text")])
    } shown: { row in
        row.get("text") as? String
    } counted: { messages in
        var found: Set<String> = []
        for message in messages {
            guard case .string(let text)? = message["text"] else { continue }
            if text.lowercased().split(separator: " ").contains(where: { $0.hasPrefix("harbour") })
            {
                found.insert(text)
            }
        }
        return found
    }
}
