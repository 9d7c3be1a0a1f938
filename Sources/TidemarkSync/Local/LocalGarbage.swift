import TidemarkModel
import TidemarkStore

/// The content that one step of a collection removed from the cache.
struct CollectedGarbage: Equatable, Sendable {
    var targets = 0
    var documents = 0
    /// True if nothing old enough is left.
    var isDone = false
}

/// Removes content when the cache is too large: targets without listeners, and documents that no
/// target holds. The content with the oldest use is removed first. Each use takes the next number
/// of one rising sequence.
final class LocalGarbage {
    private let file: LocalFile
    private let table: TargetTable
    private let targets: LocalTargets
    private let bundles: LocalBundles
    private let rows: TargetRows

    init(
        _ file: LocalFile, table: TargetTable, targets: LocalTargets, bundles: LocalBundles
    ) {
        self.file = file
        self.table = table
        self.targets = targets
        self.bundles = bundles
        rows = TargetRows(database: file.database)
    }

    /// Returns the size of the documents and everything about them, in bytes. Free pages do not
    /// count, because they are used again before the file grows.
    func usedBytes() throws -> Int64 {
        try file.read { transaction in
            func pragma(_ name: String) throws -> Int64 {
                try transaction.rows("PRAGMA \(name)").first?.integer(0) ?? 0
            }
            let pages = try pragma("page_count") - pragma("freelist_count")
            return try pages * pragma("page_size")
        }
    }

    /// Returns the sequence number up to which content is old enough for removal; nil if nothing
    /// is.
    ///
    /// - Parameters:
    ///   - percent: The share of everything removable.
    ///   - most: The maximum number of things in that share.
    func bound(percent: Int, most: Int) throws -> Int64? {
        precondition((1...100).contains(percent) && most > 0)
        try targets.saveReleased()
        return try file.read { transaction in
            let total = try transaction.rows(
                "SELECT (SELECT count(*) FROM syncTarget) + (SELECT count(*) FROM syncLoose)")[0]
            let all = try total.integer(0) - Int64(table.persistedCount)
            guard all > 0 else { return try oldestCondemned(transaction) }
            // A share of a small number would round to 0 each time, so the minimum is 1.
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

    /// Performs one step of a collection.
    ///
    /// - Parameters:
    ///   - bound: The result of ``bound(percent:most:)``.
    ///   - limit: The maximum number of rows that the step reads.
    ///   - isPinned: Returns true if a document is shown or has pending writes.
    func collect(
        upTo bound: Int64, limit: Int, isPinned: (DocumentPath) -> Bool
    ) throws -> CollectedGarbage {
        precondition(limit > 0)
        defer { table.countUse() }
        return try file.write(.collectGarbage) { transaction in
            var result = CollectedGarbage()
            if try condemnTarget(upTo: bound, transaction) { result.targets = 1 }
            if let target = try bundles.condemned(transaction)?.integer(0) {
                result.documents = try emptyTarget(
                    target, bound: bound, limit: limit, isPinned: isPinned, transaction: transaction
                )
                return result
            }
            let loose = try transaction.rows(
                "SELECT path FROM syncLoose WHERE sequence <= ? ORDER BY sequence LIMIT ?",
                [.integer(bound), .integer(Int64(limit))])
            for row in loose {
                let path = try DocumentPath(unchecked: row.text(0))
                if try remove(path, isPinned: isPinned, transaction: transaction) {
                    result.documents += 1
                }
            }
            result.isDone = loose.count < limit
            return result
        }
    }

    /// Removes the oldest target, and leaves its rows to later steps. A listen that begins now
    /// starts without it.
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

    /// True if the target has no users.
    private func mayGo(_ target: Int32) -> Bool {
        #if TIDEMARK_DEFECTS
            if file.defects.contains(.collectedInUse) { return true }
        #endif
        return table[target] == nil
    }

    func hasCondemned() throws -> Bool {
        try file.read { try bundles.condemned($0) != nil }
    }

    /// Removes some rows of a condemned target. Its documents stay while the cache has room, with
    /// the target's last use as their own.
    ///
    /// - Returns: True if there was a condemned target.
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
        _ target: Int64, bound: Int64, limit: Int, isPinned: (DocumentPath) -> Bool,
        transaction: StoreTransaction
    ) throws -> Int {
        let paths = try rows.first(of: target, limit, transaction)
        var removed = 0
        for path in paths {
            try rows.remove(path, of: Int32(clamping: target), transaction)
            let used = try transaction.rows(
                "SELECT sequence FROM syncLoose WHERE path = ?", [.text(path.text)])
            if let used = try used.first?.integer(0), used > bound { continue }
            if try remove(path, isPinned: isPinned, transaction: transaction) { removed += 1 }
        }
        if paths.count < limit {
            try transaction.execute(
                "DELETE FROM syncTargetRow WHERE target = ?", [.integer(target)])
            try transaction.execute(
                "DELETE FROM syncCondemned WHERE target = ?", [.integer(target)])
        }
        return removed
    }

    /// Removes the document unless a target, a view or a pending write needs it.
    private func remove(
        _ path: DocumentPath, isPinned: (DocumentPath) -> Bool, transaction: StoreTransaction
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
