import TidemarkModel
import TidemarkStore

/// The row of `syncStreamPosition` of one user: the position of the user's write stream.
struct PositionTable {
    let user: String?
    private var owner: SQLValue { .blob(UserKey(user).bytes) }

    func position(_ transaction: StoreTransaction) throws(StoreError) -> WritePosition? {
        try transaction.rows(
            "SELECT stream, token FROM syncStreamPosition WHERE user = ?", [owner]
        ).first.flatMap { row throws(StoreError) in
            try WritePosition(streamID: row.text(0), token: row.blob(1))
        }
    }

    /// Replaces the position; nil removes it.
    func save(_ position: WritePosition?, _ transaction: StoreTransaction) throws(StoreError) {
        guard let position else {
            return try transaction.execute(
                "DELETE FROM syncStreamPosition WHERE user = ?", [owner])
        }
        try transaction.execute(
            "INSERT OR REPLACE INTO syncStreamPosition VALUES (?, ?, ?)",
            [owner, .text(position.streamID), .blob(position.token)])
    }
}
