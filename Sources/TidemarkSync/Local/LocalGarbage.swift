import TidemarkModel
import TidemarkStore

/// What one step of a collection took out of the cache.
struct CollectedGarbage: Equatable, Sendable {
    var targets = 0
    var documents = 0
    /// Whether nothing old enough is left.
    var isDone = false
}

/// Takes out what may go when the cache is too large: targets that nobody listens to and the documents
/// that no target holds, those first that were used the longest ago. Each use takes the next number of
/// one rising sequence.
final class LocalGarbage {
    private let file: LocalFile
    private let table: TargetTable
    private let targets: LocalTargets
    private let bundles: LocalBundles
    private let rows: TargetRows

    init(
        _ file: LocalFile, _ table: TargetTable, _ targets: LocalTargets, _ bundles: LocalBundles
    ) {
        self.file = file
        self.table = table
        self.targets = targets
        self.bundles = bundles
        rows = TargetRows(database: file.database)
    }

    /// What the documents and everything about them take, in bytes. Pages that became free do not
    /// count: they are used again before the file grows.
    func usedBytes() throws -> Int64 {
        try file.read { transaction in
            func pragma(_ name: String) throws -> Int64 {
                try transaction.rows("PRAGMA \(name)").first?.integer(0) ?? 0
            }
            let pages = try pragma("page_count") - pragma("freelist_count")
            return try pages * pragma("page_size")
        }
    }

    /// The sequence number up to which things are old enough to go; nil when nothing is.
    ///
    /// - Parameters:
    ///   - percent: Of all that could go.
    ///   - most: Not more of them.
    func bound(percent: Int, most: Int) throws -> Int64? {
        precondition((1...100).contains(percent) && most > 0)
        try targets.saveReleased()
        return try file.read { transaction in
            let total = try transaction.rows(
                "SELECT (SELECT count(*) FROM syncTarget) + (SELECT count(*) FROM syncLoose)")[0]
            let all = try total.integer(0) - Int64(table.persistedCount)
            guard all > 0 else { return try oldestCondemned(transaction) }
            // A share of few would be none, again and again.
            let count = Int(max(1, min(all * Int64(percent) / 100, Int64(most))))
            var oldest = try transaction.rows(
                "SELECT id, sequence FROM syncTarget ORDER BY sequence LIMIT ?",
                [.integer(Int64(count + table.usedCount))]
            ).filter { try mayGo(Int32(clamping: $0.integer(0))) }.map { try $0.integer(1) }
            oldest += try transaction.rows(
                "SELECT sequence FROM syncLoose ORDER BY sequence LIMIT ?",
                [.integer(Int64(count))]
            ).map { try $0.integer(0) }
            return oldest.sorted().prefix(count).last
        }
    }

    private func oldestCondemned(_ transaction: StoreTransaction) throws -> Int64? {
        try bundles.condemned(transaction)?.integer(1)
    }

    /// One step of a collection.
    ///
    /// - Parameters:
    ///   - bound: From ``bound(percent:most:)``.
    ///   - limit: How many rows are looked at.
    ///   - isPinned: Whether a document is being shown or has pending writes.
    func collect(
        upTo bound: Int64, limit: Int, isPinned: (DocumentPath) -> Bool
    ) throws -> CollectedGarbage {
        precondition(limit > 0)
        defer { table.countUse() }
        return try file.write(.collectGarbage) { transaction in
            var result = CollectedGarbage()
            if try condemnTarget(upTo: bound, transaction) { result.targets = 1 }
            if let target = try bundles.condemned(transaction)?.integer(0) {
                result.documents = try emptyTarget(target, bound, limit, isPinned, transaction)
                return result
            }
            let loose = try transaction.rows(
                "SELECT path FROM syncLoose WHERE sequence <= ? ORDER BY sequence LIMIT ?",
                [.integer(bound), .integer(Int64(limit))])
            for row in loose {
                let path = try DocumentPath(unchecked: row.text(0))
                if try remove(path, isPinned, transaction) { result.documents += 1 }
            }
            result.isDone = loose.count < limit
            return result
        }
    }

    /// Takes the oldest target out, so that a listen that comes now starts afresh. Its rows follow.
    private func condemnTarget(
        upTo bound: Int64, _ transaction: StoreTransaction
    ) throws -> Bool {
        guard try bundles.condemned(transaction) == nil else { return false }
        let old = try transaction.rows(
            "SELECT id, sequence FROM syncTarget WHERE sequence <= ? ORDER BY sequence LIMIT ?",
            [.integer(bound), .integer(Int64(table.usedCount + 1))])
        guard let row = try old.first(where: { try mayGo(Int32(clamping: $0.integer(0))) }) else {
            return false
        }
        try transaction.execute(
            "INSERT INTO syncCondemned VALUES (?, ?)", [row.values[0], row.values[1]])
        try transaction.execute("DELETE FROM syncTarget WHERE id = ?", [row.values[0]])
        table.forgetRecent()
        return true
    }

    /// Whether nobody uses the target.
    private func mayGo(_ target: Int32) -> Bool {
        #if TIDEMARK_DEFECTS
            if file.defects.contains(.collectedInUse) { return true }
        #endif
        return table[target] == nil
    }

    func hasCondemned() throws -> Bool {
        try file.read { try bundles.condemned($0) != nil }
    }

    /// Takes some rows out of a target that is given up. Its documents stay for as long as the cache
    /// has room, as if they had last been used when it was.
    ///
    /// - Returns: Whether there was one.
    func sweep(limit: Int) throws -> Bool {
        guard try hasCondemned() else { return false }
        return try file.write(.collectGarbage) { transaction in
            guard let row = try bundles.condemned(transaction) else { return false }
            let target = row.values[0]
            let paths = try rows.first(of: row.integer(0), limit, transaction)
            for path in paths {
                try rows.remove(path, of: Int32(clamping: row.integer(0)), transaction)
                try transaction.execute(
                    "INSERT OR IGNORE INTO syncLoose VALUES (?, ?)",
                    [.text(path.text), row.values[1]])
            }
            if paths.count < limit {
                try transaction.execute("DELETE FROM syncTargetRow WHERE target = ?", [target])
                try transaction.execute("DELETE FROM syncCondemned WHERE target = ?", [target])
            }
            return true
        }
    }

    private func emptyTarget(
        _ target: Int64, _ bound: Int64, _ limit: Int, _ isPinned: (DocumentPath) -> Bool,
        _ transaction: StoreTransaction
    ) throws -> Int {
        let paths = try rows.first(of: target, limit, transaction)
        var removed = 0
        for path in paths {
            try rows.remove(path, of: Int32(clamping: target), transaction)
            let used = try transaction.rows(
                "SELECT sequence FROM syncLoose WHERE path = ?", [.text(path.text)])
            if let used = try used.first?.integer(0), used > bound { continue }
            if try remove(path, isPinned, transaction) { removed += 1 }
        }
        if paths.count < limit {
            try transaction.execute(
                "DELETE FROM syncTargetRow WHERE target = ?", [.integer(target)])
            try transaction.execute(
                "DELETE FROM syncCondemned WHERE target = ?", [.integer(target)])
        }
        return removed
    }

    /// Unless a target or somebody else needs it.
    private func remove(
        _ path: DocumentPath, _ isPinned: (DocumentPath) -> Bool, _ transaction: StoreTransaction
    ) throws -> Bool {
        if isPinned(path) {
            try LooseDocuments.touch([path], at: table.nextSequence, transaction)
            return false
        }
        try transaction.execute("DELETE FROM syncLoose WHERE path = ?", [.text(path.text)])
        let held = try transaction.documents(of: file.database).version(at: path)
        let holders = try transaction.rows(
            """
            SELECT 1 FROM syncTargetRow WHERE document = ?1 UNION ALL
            SELECT 1 FROM syncKept WHERE collection IN (?2, '') AND id = ?3 LIMIT 1
            """, [.integer(held?.row ?? 0), .text(path.parent.text), .text(path.collectionID)])
        guard holders.isEmpty else { return false }
        try rows.forget(path, transaction)
        return true
    }
}
