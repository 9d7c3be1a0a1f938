import Foundation
import TidemarkStore

/// The objects and buckets.
struct ObjectTable {
    let transaction: StoreTransaction

    private static let columns = """
        name, generation, metageneration, blob, size, md5, crc32c, components, createdAt, \
        updatedAt, fields, tokens, uploader, bucket
        """

    func object(_ path: ObjectPath) throws -> StoredObject? {
        try transaction.rows(
            "SELECT \(Self.columns) FROM object WHERE bucket = ? AND name = ?",
            [.text(path.bucket), .blob(Array(path.name.utf8))]
        ).first.map { try read($0) }
    }

    /// Returns the objects from a name on, in the byte order of their names.
    ///
    /// - Parameters:
    ///   - start: The first name that can be returned.
    ///   - end: The first name after the range; nil for no end.
    func objects(
        in bucket: String, from start: [UInt8], to end: [UInt8]?, limit: Int
    ) throws -> [StoredObject] {
        var condition = "bucket = ? AND name >= ?"
        var arguments: [SQLValue] = [.text(bucket), .blob(start)]
        if let end {
            condition += " AND name < ?"
            arguments.append(.blob(end))
        }
        return try transaction.rows(
            "SELECT \(Self.columns) FROM object WHERE \(condition) ORDER BY name LIMIT ?",
            arguments + [.integer(Int64(limit))]
        ).map { try read($0) }
    }

    /// Inserts the object, or replaces the object of the same name.
    func write(_ object: StoredObject) throws {
        try transaction.execute(
            "DELETE FROM object WHERE bucket = ? AND name = ?",
            [.text(object.path.bucket), .blob(Array(object.path.name.utf8))])
        try transaction.execute(
            """
            INSERT INTO object (\(Self.columns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .blob(Array(object.path.name.utf8)), .integer(object.version.generation),
                .integer(object.version.metageneration), .text(object.blob.text),
                .integer(object.contents.size), object.contents.md5.map { .blob($0) } ?? .null,
                .integer(Int64(object.contents.crc32c)),
                object.contents.components.map { .integer($0) } ?? .null,
                .integer(object.createdAt), .integer(object.updatedAt),
                .text(try StoredJSON.text(object.fields)),
                .text(object.tokens.joined(separator: ",")),
                object.uploader.map { .text($0) } ?? .null, .text(object.path.bucket),
            ])
    }

    func remove(_ path: ObjectPath) throws {
        try transaction.execute(
            "DELETE FROM object WHERE bucket = ? AND name = ?",
            [.text(path.bucket), .blob(Array(path.name.utf8))])
    }

    /// True if an object or an open upload has the bytes of the blob.
    func isUsed(_ blob: BlobID) throws -> Bool {
        try !transaction.rows(
            """
            SELECT 1 FROM object WHERE blob = ? UNION ALL
            SELECT 1 FROM upload WHERE blob = ? AND phase = 0 LIMIT 1
            """, [.text(blob.text), .text(blob.text)]
        ).isEmpty
    }

    /// Returns the next generation: the time, or one more than the last generation.
    func nextGeneration(now: Int64) throws -> Int64 {
        let last = try transaction.rows("SELECT generation FROM clock WHERE id = 1").first
            .map { try $0.integer(0) }
        let next = max(now, (last ?? 0) + 1)
        try transaction.execute(
            "INSERT OR REPLACE INTO clock (id, generation) VALUES (1, ?)", [.integer(next)])
        return next
    }

    private func read(_ row: SQLRow) throws -> StoredObject {
        let name = String(decoding: try row.blob(0), as: UTF8.self)
        guard let blob = BlobID(try row.text(3)), let crc = UInt32(exactly: try row.integer(6))
        else { throw StoreError.corrupt(detail: "the row of an object") }
        let tokens = try row.text(11).split(separator: ",").map(String.init)
        return StoredObject(
            path: try ObjectPath(bucket: row.text(13), name: name),
            version: ObjectVersion(
                generation: try row.integer(1), metageneration: try row.integer(2)),
            blob: blob,
            contents: ObjectContents(
                size: try row.integer(4), md5: row.isNull(5) ? nil : try row.blob(5),
                crc32c: crc, components: row.isNull(7) ? nil : try row.integer(7)),
            createdAt: try row.integer(8), updatedAt: try row.integer(9),
            fields: try StoredJSON.value(row.text(10)), tokens: tokens,
            uploader: row.isNull(12) ? nil : try row.text(12))
    }
}

// MARK: - Buckets

extension ObjectTable {
    func buckets() throws -> [(name: String, createdAt: Int64)] {
        try transaction.rows("SELECT name, createdAt FROM bucket ORDER BY name").map {
            (try $0.text(0), try $0.integer(1))
        }
    }

    func bucketTime(_ name: String) throws -> Int64? {
        try transaction.rows("SELECT createdAt FROM bucket WHERE name = ?", [.text(name)]).first
            .map { try $0.integer(0) }
    }

    func addBucket(_ name: String, now: Int64) throws {
        try transaction.execute(
            "INSERT OR IGNORE INTO bucket (name, createdAt) VALUES (?, ?)",
            [.text(name), .integer(now)])
    }

    func removeBucket(_ name: String) throws {
        try transaction.execute("DELETE FROM bucket WHERE name = ?", [.text(name)])
    }
}

/// Values as JSON text in a column.
enum StoredJSON {
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func value<T: Decodable>(_ text: String) throws -> T {
        do { return try JSONDecoder().decode(T.self, from: Data(text.utf8)) } catch {
            throw StoreError.corrupt(detail: "a column with JSON")
        }
    }
}
