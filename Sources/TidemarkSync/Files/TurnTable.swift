import TidemarkModel
import TidemarkStore

/// The turns of batches that wait, or have waited, for files. A batch without a row has its own
/// number as its turn.
enum TurnTable {
    static func set(
        _ turn: BatchTurn, of batch: Int64, _ transaction: StoreTransaction
    ) throws(StoreError) {
        try transaction.execute(
            "INSERT OR REPLACE INTO syncTurn VALUES (?, ?)",
            [.integer(batch), .integer(turn.stored)])
    }

    static func remove(_ batch: Int64, _ transaction: StoreTransaction) throws(StoreError) {
        try transaction.execute("DELETE FROM syncTurn WHERE batch = ?", [.integer(batch)])
    }

    /// Returns the turns in the order of their batches.
    static func inOrder(
        _ transaction: StoreTransaction
    ) throws -> [(batch: Int64, turn: BatchTurn)] {
        var turns: [(batch: Int64, turn: BatchTurn)] = []
        try transaction.visitRows("SELECT batch, turn FROM syncTurn ORDER BY batch") { row in
            turns.append(try (row.integer(0), BatchTurn(stored: row.integer(1))))
        }
        return turns
    }

    static func all(_ transaction: StoreTransaction) throws -> [Int64: BatchTurn] {
        var turns: [Int64: BatchTurn] = [:]
        for row in try transaction.rows("SELECT batch, turn FROM syncTurn") {
            let batch = try row.integer(0)
            turns[batch] = try BatchTurn(stored: row.integer(1))
        }
        return turns
    }
}

/// The durable form of a field's path.
enum FieldPathCodec {
    static func encode(_ path: FieldPath) -> [UInt8] {
        var writer = WireWriter(capacity: 0)
        writer.varint(UInt64(path.segments.count))
        for segment in path.segments { writer.text(segment) }
        return writer.bytes
    }

    static func decode(_ bytes: [UInt8]) throws(DamagedRecord) -> FieldPath {
        let path: FieldPath? = bytes.withUnsafeBufferPointer { buffer in
            var reader = WireReader(buffer)
            guard let count = try? reader.varint(), count > 0, count <= bytes.count else {
                return nil
            }
            var segments: [String] = []
            for _ in 0..<count {
                guard let segment = try? reader.text() else { return nil }
                segments.append(segment)
            }
            return reader.isAtEnd ? FieldPath(unchecked: segments) : nil
        }
        guard let path else { throw DamagedRecord(what: FileTable.record) }
        return path
    }
}
