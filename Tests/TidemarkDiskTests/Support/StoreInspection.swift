import Foundation
import TidemarkModel

@testable import TidemarkStore

/// Reads the contents of a store without the code that reads them for an app.
struct StoreInspection {
    let store: DocumentStore

    /// The rows of each table. A row is one block of bytes, which is fast to compare.
    typealias Rows = [String: [Data]]

    /// The tables of the indexes, which ``check()`` examines, and the table of migrations.
    private static let asides: Set = ["fieldIndex", "fieldIndexField", "entry", "migration"]

    /// Returns every row of every table, except the tables in `asides`.
    func rows() throws -> Rows {
        try store.read { transaction in
            let names = try transaction.rows(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
            ).map { try $0.text(0) }
            return try names.reduce(into: [:]) { rows, name in
                if Self.asides.contains(name) { return }
                rows[name] = try transaction.rows("SELECT * FROM \(name)").map(Self.piece)
            }
        }
    }

    private static func piece(_ row: SQLRow) -> Data {
        var piece = Data()
        for value in row.values {
            switch value {
            case .null: piece.append(0)
            case .integer(let number): piece.append(Data("i\(number)".utf8))
            case .real(let number): piece.append(Data("r\(number)".utf8))
            case .text(let text): piece.append(Data("t\(text.utf8.count):\(text)".utf8))
            case .blob(let bytes):
                piece.append(Data("b\(bytes.count):".utf8))
                bytes.withUnsafeBytes { piece.append(contentsOf: $0) }
            }
        }
        return piece
    }

    /// - Throws: ``DiskViolation`` if SQLite finds a fault in the file, or if an index and the
    ///   documents differ.
    func check() throws {
        try store.read { transaction in
            let found = try transaction.rows("PRAGMA integrity_check").map { try $0.text(0) }
            if found != ["ok"] { throw DiskViolation("integrity_check: \(found.prefix(5))") }
            let made = try indexes(transaction)
            let stray = try transaction.rows(
                "SELECT count(*) FROM entry WHERE fieldIndex NOT IN (SELECT id FROM fieldIndex)")
            if try stray[0].integer(0) > 0 { throw DiskViolation("entries of no index") }
            for index in made { try check(index, transaction) }
        }
    }

    private struct Index {
        let id: Int64
        let group: String
        let isGroup: Bool
        let nameDescending: Bool
        let fields: [(path: FieldPath, kind: Int64)]
    }

    /// Returns the indexes that contain every document.
    private func indexes(_ transaction: StoreTransaction) throws -> [Index] {
        try transaction.rows(
            "SELECT id, groupID, isGroup, nameDescending FROM fieldIndex WHERE isReady"
        ).map { row in
            let fields = try transaction.rows(
                "SELECT path, kind FROM fieldIndexField WHERE fieldIndex = ? ORDER BY position",
                [row.values[0]])
            return try Index(
                id: row.integer(0), group: row.text(1), isGroup: row.integer(2) != 0,
                nameDescending: row.integer(3) != 0,
                fields: fields.map { (try FieldPath(encoded: $0.text(0)), try $0.integer(1)) })
        }
    }

    private struct Entry: Hashable {
        let scope: Int64
        let key: [UInt8]
        let document: Int64
    }

    private func check(_ index: Index, _ transaction: StoreTransaction) throws {
        let stored = Set(
            try transaction.rows(
                "SELECT scope, key, document FROM entry WHERE fieldIndex = ?",
                [.integer(index.id)]
            ).map { try Entry(scope: $0.integer(0), key: $0.blob(1), document: $0.integer(2)) })
        var due: Set<Entry> = []
        for row in try transaction.rows(
            """
            SELECT d.id, d.collection, d.name, d.fields, c.path FROM document d
            JOIN collection c ON c.id = d.collection WHERE c.groupID = ? AND d.kind = 0
            """, [.text(index.group)])
        {
            let fields = EncodedFields(trusted: try row.blob(3)).decoded
            for key in Self.keys(of: fields, index) {
                let name = try index.isGroup ? Self.wholeName(row) : row.blob(2)
                try due.insert(
                    Entry(
                        scope: index.isGroup ? 0 : row.integer(1),
                        key: key + (index.nameDescending ? name.map { ~$0 } : name),
                        document: row.integer(0)))
            }
        }
        guard stored == due else {
            throw DiskViolation(
                "index \(index.id) has \(stored.subtracting(due).count) entries too many and "
                    + "\(due.subtracting(stored).count) too few")
        }
    }

    /// Returns the parts of the index keys before the name. An array adds a key for each element.
    private static func keys(of fields: MapValue, _ index: Index) -> Set<[UInt8]> {
        var keys: Set<[UInt8]> = [[]]
        for (path, kind) in index.fields {
            guard let value = fields[path] else { return [] }
            var parts = [KeyWriter.key(of: value, kind == 1 ? .descending : .ascending)]
            if kind == 2 {
                guard case .array(let elements) = value else { return [] }
                parts = elements.map { KeyWriter.key(of: $0) }
            }
            keys = Set(keys.flatMap { head in parts.map { head + $0 } })
        }
        return keys
    }

    /// Returns the key of the row's path. The names in these tests contain no escaped byte.
    private static func wholeName(_ row: SQLRow) throws -> [UInt8] {
        let id = try row.blob(2).filter { 0x20..<0x7F ~= $0 }
        let path = try row.text(4) + "/" + String(decoding: id, as: UTF8.self)
        let document = try DocumentPath(path)
        guard try document.nameKey == row.blob(2) else { throw DiskViolation("a name: \(path)") }
        return document.pathKey
    }
}
