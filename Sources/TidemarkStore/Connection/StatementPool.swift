import CTidemarkSQLite

/// The unused compiled statements of one text: usually one, or several if runs of the text overlap.
final class StatementPool {
    /// The first statement of a linked list.
    private var first: PreparedStatement?
    /// True if the table no longer has the pool, so returned statements are finalized.
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

    /// Finalizes the statements in the pool.
    func empty() {
        while let statement = take() { sqlite3_finalize(statement.handle) }
    }

    /// Finalizes all statements; those in use, when they return.
    func forget() {
        empty()
        isForgotten = true
    }
}

/// The compiled statements by text. The texts are the program's own.
///
/// This is not a dictionary: hashing a whole text took as long as a short statement's run, so the
/// position depends on the length and the end of the text. Also, the first use of a type as a
/// dictionary key costs an app's start 0.1 ms.
struct StatementTable {
    private var places: [[(text: String, pool: StatementPool)]] = Array(
        repeating: [], count: Self.placeCount)
    private var count = 0

    private static let placeCount = 128

    /// The maximum number of texts. Beyond it, all statements are dropped and compiled again when
    /// they are used.
    private static let most = 256

    private static func place(of text: String) -> Int {
        var text = text
        return text.withUTF8 { bytes in
            bytes.suffix(8).reduce(bytes.count) { $0 &* 31 &+ Int($1) } & (placeCount - 1)
        }
    }

    /// Returns the pool of a text. Swift compares identical literals in constant time.
    subscript(text: String) -> StatementPool? {
        places[Self.place(of: text)].first { $0.text == text }?.pool
    }

    /// - Parameter text: A text that is not in the table.
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
