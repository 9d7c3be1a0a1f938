import Tidemark
import TidemarkModel

/// The unread messages of each person.
enum UnreadByPerson {
    /// - Parameters:
    ///   - count: The number of messages at the last use.
    ///   - changed: The number of messages that arrive while the device is away, and of those that
    ///     the user reads on another device.
    ///   - clock: The server's time at which the messages are written, in seconds since 1970.
    static func row(messages count: Int, changed: Int, clock: Int64) -> FiguresRow {
        FiguresRow(
            name: "unread by person among \(grouped(count)) messages, by one pipeline",
            slug: "unread-by-person", list: "notifications", time: "createdAt", figures: figures,
            held: (0..<count).map { message($0, clock: clock) },
            changes: (0..<changed).map { message(count + $0, clock: clock) }
                + (0..<changed).map {
                    FiguresRow.Write(id: id(7 * $0), fields: ["isRead": .boolean(true)])
                },
            last: FiguresRow.Write(
                id: "last",
                fields: [
                    "by": .string("somebody new"), "isRead": .boolean(false),
                    "createdAt": .timestamp(Timestamp(seconds: clock, nanoseconds: 0)),
                ]))
    }

    private static func id(_ number: Int) -> String { "m\(number)" }

    private static func message(_ number: Int, clock: Int64) -> FiguresRow.Write {
        FiguresRow.Write(
            id: id(number),
            fields: [
                "by": .string("person \(number % 40)"), "isRead": .boolean(number % 3 == 1),
                "text": .string("Message \(number)"),
                "createdAt": .timestamp(
                    Timestamp(seconds: clock - 100_000 + Int64(number), nanoseconds: 0)),
            ])
    }

    private static let figures = FiguresRow.Figures { messages in
        messages.where(Field("isRead").equal(false))
            .aggregate([CountAll().as("unread")], groups: [Field("by")])
    } shown: { row in
        guard let by = row.get("by") as? String, let unread = row.get("unread") as? Int64
        else { return nil }
        return "\(by): \(unread)"
    } counted: { messages in
        var unread: [String: Int] = [:]
        for message in messages where message["isRead"] == .boolean(false) {
            if case .string(let by)? = message["by"] { unread[by, default: 0] += 1 }
        }
        return Set(unread.map { "\($0.key): \($0.value)" })
    }
}
