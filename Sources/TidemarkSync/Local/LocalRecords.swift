import TidemarkModel
import TidemarkStore

/// Bytes that callers store beside the documents, by key.
struct LocalRecords {
    let file: LocalFile

    func value(forKey key: String) throws -> [UInt8]? {
        try file.read { try Self.value(forKey: key, $0) }
    }

    static func value(forKey key: String, _ transaction: StoreTransaction) throws -> [UInt8]? {
        try transaction.rows("SELECT value FROM syncRecord WHERE key = ?", [.text(key)])
            .first?.blob(0)
    }

    /// - Parameter kept: The query whose documents the record is about.
    func set(_ value: [UInt8]?, forKey key: String, keeping kept: Query? = nil) throws {
        try file.write(.setRecord) { transaction in
            if let kept { try LooseDocuments.keep(kept, transaction) }
            try Self.set(value, forKey: key, transaction)
        }
    }

    static func set(
        _ value: [UInt8]?, forKey key: String, _ transaction: StoreTransaction
    ) throws {
        guard let value else {
            try transaction.execute("DELETE FROM syncRecord WHERE key = ?", [.text(key)])
            return
        }
        try transaction.execute(
            "INSERT OR REPLACE INTO syncRecord VALUES (?, ?)", [.text(key), .blob(value)])
    }
}
