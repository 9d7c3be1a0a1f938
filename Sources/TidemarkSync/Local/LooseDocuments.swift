import TidemarkModel
import TidemarkStore

/// The documents that perhaps no target holds, by their last use; and the collections that are
/// exempt from garbage collection.
enum LooseDocuments {
    /// Notes that these documents were used now, and that perhaps no target holds them.
    static func touch(
        _ paths: some Sequence<DocumentPath>, at sequence: Int64, _ transaction: StoreTransaction
    ) throws {
        for path in paths {
            try transaction.execute(
                """
                INSERT INTO syncLoose VALUES (?, ?)
                ON CONFLICT (path) DO UPDATE SET sequence = excluded.sequence
                """, [.text(path.text), .integer(sequence)])
        }
    }

    static func untouch(
        _ paths: some Sequence<DocumentPath>, _ transaction: StoreTransaction
    ) throws {
        for path in paths {
            try transaction.execute(
                "DELETE FROM syncLoose WHERE path = ?", [.text(path.text)])
        }
    }

    /// Exempts the query's collection from garbage collection, because a caller relies on all of
    /// it.
    static func keep(_ query: Query, _ transaction: StoreTransaction) throws {
        guard let id = query.collectionID else { return }
        try transaction.execute(
            "INSERT OR IGNORE INTO syncKept VALUES (?, ?)",
            [.text(query.collection?.text ?? ""), .text(id)])
    }
}
