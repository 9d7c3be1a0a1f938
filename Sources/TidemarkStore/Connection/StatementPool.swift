import GRDBSQLite

/// The compiled statements of one text that nobody uses at the moment: mostly one, several where runs of
/// it are under way together.
final class StatementPool {
    /// The others follow it.
    private var first: PreparedStatement?
    /// Whether nobody would find what comes back to it.
    private var isForgotten = false

    func take() -> PreparedStatement? {
        guard let taken = first else { return nil }
        first = taken.next
        taken.next = nil
        return taken
    }

    func takeBack(_ statement: PreparedStatement) {
        if isForgotten {
            sqlite3_finalize(statement.handle)
        } else {
            statement.next = first
            first = statement
        }
    }

    /// Finalizes those that it holds.
    func empty() {
        while let statement = take() { sqlite3_finalize(statement.handle) }
    }

    /// Finalizes those too that are in use, when they come back.
    func forget() {
        empty()
        isForgotten = true
    }
}

/// Compiled statements by their texts, which are the program's own.
///
/// No dictionary: a text's place follows from its length and its end, where a hash of all of it took as
/// long as a short statement's run; and a type that is a dictionary's key for the first time costs an
/// app's start 0.1 ms.
struct StatementTable {
    private var places: [[(text: String, pool: StatementPool)]] = Array(
        repeating: [], count: Self.placeCount)
    private var count = 0

    private static let placeCount = 128

    /// Of how many texts statements are kept; past it, all are compiled again as they are used.
    private static let most = 256

    private static func place(of text: String) -> Int {
        var text = text
        return text.withUTF8 { bytes in
            bytes.suffix(8).reduce(bytes.count) { $0 &* 31 &+ Int($1) } & (placeCount - 1)
        }
    }

    /// Texts are compared as Swift compares them: at once where it is the same literal.
    subscript(text: String) -> StatementPool? {
        places[Self.place(of: text)].first { $0.text == text }?.pool
    }

    /// - Parameter text: One that is not there.
    mutating func insert(_ text: String, _ pool: StatementPool) {
        if count >= Self.most { forget() }
        places[Self.place(of: text)].append((text, pool))
        count += 1
    }

    mutating func forget() {
        for (_, pool) in places.joined() { pool.forget() }
        places = Array(repeating: [], count: Self.placeCount)
        count = 0
    }
}
