import TidemarkStore

/// The numbers of batches, which the queue takes many at a time.
enum BatchNumbers {
    private static let atOnce: Int64 = 100

    /// Takes the next numbers. A number is never given twice, so the last number is stored on disk.
    /// It has a page to itself, which every write would add to the log; so several numbers are
    /// taken together. After a kill, the unused numbers belong to no batch. A queue that was saved
    /// from a damaged file knows only the numbers of its batches.
    static func take(_ transaction: StoreTransaction) throws -> Range<Int64> {
        let last = try transaction.rows(
            """
            SELECT max(COALESCE((SELECT value FROM syncGlobal WHERE name = 'lastBatch'), 0),
                COALESCE((SELECT max(id) FROM syncBatch), 0),
                COALESCE((SELECT max(id) FROM syncRejected), 0),
                COALESCE((SELECT max(turn) FROM syncTurn), 0))
            """)[0].integer(0)
        let end = last + 1 + atOnce
        try saveLast(end - 1, transaction)
        return (last + 1)..<end
    }

    static func saveLast(_ number: Int64, _ transaction: StoreTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO syncGlobal VALUES ('lastBatch', ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """, [.integer(number)])
    }
}
