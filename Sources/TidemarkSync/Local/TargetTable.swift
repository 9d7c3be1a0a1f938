import TidemarkModel
import TidemarkStore

/// The targets of this cache: the targets in use, their states on disk, and the last use of each.
/// The table starts no transactions; its callers provide them.
final class TargetTable {
    /// The targets in use, by id, with the newest token. The disk may have an older token.
    private var used: [Int32: LocalTarget] = [:]
    /// The targets in use as the disk has them. Targets about which nothing is known yet are
    /// absent.
    private var persisted: [Int32: KeptTarget] = [:]
    /// The targets that are no longer in use and whose last use is not on disk yet.
    private(set) var released: [Int32: KeptTarget] = [:]
    private var recent = RecentQueries()
    private var nextID: Int32 = 2
    /// The number of the next use. Each use of a target or a document has a number.
    private(set) var nextSequence: Int64 = 1
    /// The version of the last consistent snapshot. It never decreases.
    private(set) var lastVersion = Timestamp.epoch
    /// The version on disk. If it is older, the targets on disk are as new as ``lastVersion`` and
    /// carry the version.
    private var savedVersion = Timestamp.epoch

    // MARK: In memory

    /// The target, if it is in use.
    subscript(id: Int32) -> LocalTarget? { used[id] }

    var isEmpty: Bool { used.isEmpty }
    var usedCount: Int { used.count }
    /// The number of targets in use that are on disk.
    var persistedCount: Int { persisted.count }

    func inUse(_ key: QueryKey) -> LocalTarget? { used.values.first { $0.key == key } }

    /// True if the disk has the target, or an older state of it.
    func isPersisted(_ id: Int32) -> Bool { persisted[id] != nil }

    func recent(_ query: Query, in database: DatabaseID) -> RecentQuery {
        recent.query(query, in: database)
    }

    /// Forgets the recent targets; call this when targets were removed from the file.
    func forgetRecent() { recent.forgetTargets() }

    /// Counts the end of one more use.
    func countUse() { nextSequence += 1 }

    /// Returns an id that is never used again, even if its transaction fails.
    func takeID() -> Int32 {
        defer { nextID += 2 }
        return nextID
    }

    /// Reserves ids that follow each other by two.
    ///
    /// - Returns: The first one.
    func reserveIDs(_ count: Int) -> Int32 {
        defer { nextID += 2 * Int32(count) }
        return nextID
    }

    /// Reserves numbers of uses.
    ///
    /// - Returns: The first one.
    func reserveUses(_ count: Int) -> Int64 {
        defer { nextSequence += Int64(count) }
        return nextSequence
    }

    func makeTarget(_ key: QueryKey) -> LocalTarget {
        LocalTarget(id: nextID, key: key, sequence: nextSequence)
    }

    /// Starts the use of a target.
    ///
    /// - Parameter stored: The target as the disk has it, if it does.
    func take(_ target: consuming LocalTarget, stored: KeptTarget?) {
        let id = target.id
        nextSequence += 1
        nextID = max(nextID, id + 2)
        used[id] = target
        let isStored = released.removeValue(forKey: id)?.isStored ?? true
        if isStored, let stored { persisted[id] = stored }
    }

    /// The maximum number of targets that wait for another transaction.
    private static let mostReleased = 50

    /// Ends the use of a target. Facts that are not on disk must be written. If only the last use
    /// changed, the target waits for another transaction.
    ///
    /// - Returns: The target if it must be written now; else nil.
    func release(_ id: Int32) -> LocalTarget? {
        guard var target = used.removeValue(forKey: id) else { return nil }
        let stored = persisted.removeValue(forKey: id)
        let isKnown = stored.map { $0.target.isSame(as: target) } ?? target.isBlank
        target.sequence = nextSequence
        nextSequence += 1
        guard isKnown, released.count < Self.mostReleased else { return target }
        let kept = KeptTarget(target, isStored: stored != nil)
        released[id] = kept
        recent.setTarget(kept, target.key)
        return nil
    }

    // MARK: Around a transaction

    /// Writes the targets that wait for a transaction.
    func saveReleased(_ transaction: StoreTransaction) throws {
        for waiting in released.values { try save(waiting.target, transaction) }
    }

    /// Undoes the changes after the transaction was undone.
    ///
    /// - Parameter waiting: The value of ``released`` before the transaction.
    func undo(released waiting: [Int32: KeptTarget]) {
        recent.forgetTargets()
        released = waiting
    }

    /// True if there is nothing to write at the end.
    var isSaved: Bool {
        unsaved.isEmpty && released.isEmpty && savedVersion == lastVersion
    }

    private var unsaved: [LocalTarget] {
        used.values.filter { target in
            persisted[target.id].map { $0.target != target } ?? !target.isBlank
        }
    }

    /// Writes the newest tokens in the last transaction.
    func saveAll(_ transaction: StoreTransaction) throws {
        for target in unsaved { try save(target, transaction) }
        if savedVersion < lastVersion { try saveLastVersion(lastVersion, transaction) }
    }

    func load(_ transaction: StoreTransaction) throws {
        for row in try transaction.rows("SELECT name, value FROM syncGlobal")
        where try row.text(0) == "lastVersion" {
            lastVersion = try Timestamp(microseconds: row.integer(1))
            savedVersion = lastVersion
        }
        let row = try transaction.rows(
            """
            SELECT max((SELECT COALESCE(MAX(id), 0) FROM syncTarget),
                (SELECT COALESCE(MAX(target), 0) FROM syncCondemned)),
            max((SELECT COALESCE(MAX(sequence), 0) FROM syncTarget),
                (SELECT COALESCE(MAX(sequence), 0) FROM syncLoose))
            """)[0]
        nextID = try Int32(clamping: row.integer(0)) + 2
        nextSequence = try row.integer(1) + 1
    }

    // MARK: A snapshot

    /// The changes of a snapshot to the targets. They are adopted after the snapshot is stored.
    struct Update {
        fileprivate var updated: [LocalTarget] = []
        fileprivate var saved: [LocalTarget] = []
        fileprivate let version: Timestamp
        fileprivate var savesVersion = false
    }

    /// - Parameter version: The version of the snapshot.
    func update(at version: Timestamp) -> Update { Update(version: max(version, lastVersion)) }

    /// Writes a target after the snapshot, if that is worth a write.
    ///
    /// - Parameter isLost: True if the target must be requested again.
    func add(
        _ target: LocalTarget, hasChanges: Bool, isLost: Bool, to update: inout Update,
        _ transaction: StoreTransaction
    ) throws {
        update.updated.append(target)
        let stored = persisted[target.id]?.target
        if stored == nil || isLost || target.shouldPersist(over: stored!, hasChanges: hasChanges) {
            try save(target, transaction)
            update.saved.append(target)
        }
    }

    /// - Parameter hasDocuments: True if the snapshot has documents.
    func finish(
        _ update: inout Update, hasDocuments: Bool, _ transaction: StoreTransaction
    ) throws {
        let version = update.version
        // The write costs a page of the log, and is not needed if a written target has the same
        // version.
        update.savesVersion =
            version > savedVersion && (hasDocuments || !update.saved.isEmpty)
            && !update.saved.contains { $0.serverVersion >= version }
        if update.savesVersion { try saveLastVersion(version, transaction) }
    }

    /// Adopts the changes after the snapshot is stored.
    func adopt(_ update: Update) {
        nextSequence += 1
        lastVersion = update.version
        if update.savesVersion { savedVersion = update.version }
        for target in update.updated { used[target.id] = target }
        for target in update.saved { persisted[target.id] = KeptTarget(target) }
    }

    // MARK: On disk

    /// Returns the query's target, and writes it as used now.
    func allocate(
        _ key: QueryKey, _ transaction: StoreTransaction
    ) throws -> LocalTarget {
        var target =
            try storedTarget(key, transaction)?.target
            ?? LocalTarget(id: nextID, key: key, sequence: 0)
        target.sequence = nextSequence
        try save(target, transaction)
        return target
    }

    /// Notes that the server confirmed all rows of a query.
    func confirm(
        _ key: QueryKey, at time: Timestamp, _ transaction: StoreTransaction
    ) throws {
        if let target = inUse(key) {
            used[target.id]!.confirmed = max(time, target.confirmed ?? time)
            return
        }
        var target =
            try storedTarget(key, transaction)?.target
            ?? makeTarget(key)
        target.confirmed = time
        try save(target, transaction)
        nextID = max(nextID, target.id + 2)
    }

    /// Adds a target whose rows as of `time` are known from another read.
    ///
    /// - Returns: The target's id; nil if the query has a target already.
    func add(
        _ key: QueryKey, asOf time: Timestamp, _ transaction: StoreTransaction
    ) throws -> Int32? {
        guard inUse(key) == nil, try storedTarget(key, transaction) == nil else { return nil }
        var target = makeTarget(key)
        target.snapshotVersion = time
        try save(target, transaction)
        nextID = max(nextID, target.id + 2)
        return target.id
    }

    /// Returns the target as the disk has it, or as it waits for a write.
    func storedTarget(
        _ key: QueryKey, _ transaction: StoreTransaction
    ) throws -> KeptTarget? {
        if let known = recent.target(key) { return known }
        if let waiting = released.values.first(where: { $0.target.key == key }) { return waiting }
        let target = try transaction.rows(
            """
            SELECT id, token, snapshotVersion, confirmed, sequence FROM syncTarget
            WHERE canonical = ?
            """, [.blob(key.bytes)]
        ).first.map { row in
            try KeptTarget(
                LocalTarget(
                    id: Int32(clamping: row.integer(0)), key: key, resumeToken: row.blob(1),
                    snapshotVersion: Timestamp(microseconds: row.integer(2)),
                    confirmed: row.integer(3) == 0 ? nil : Timestamp(microseconds: row.integer(3)),
                    sequence: row.integer(4)))
        }
        if let target { lastVersion = max(lastVersion, target.target.serverVersion) }
        recent.setTarget(target, key)
        return target
    }

    /// Writes a target. Usually the target is on disk with another token, and only the token is
    /// written. A replacement of the row, or a write of the last use, would remove the row's
    /// entries from one or two indexes and insert them again.
    func save(_ target: LocalTarget, _ transaction: StoreTransaction) throws {
        let values: [SQLValue] = [
            .integer(Int64(target.id)), .blob(target.key.bytes), .blob(target.resumeToken),
            .integer(target.snapshotVersion.microseconds),
            .integer(target.confirmed?.microseconds ?? 0), .integer(target.sequence),
        ]
        let isKnown = persisted[target.id]?.target.sequence == target.sequence
        if isKnown {
            try transaction.execute(
                """
                UPDATE syncTarget SET token = ?3, snapshotVersion = ?4, confirmed = ?5
                WHERE id = ?1 AND canonical = ?2 AND sequence = ?6
                """, values)
        }
        if !isKnown || !transaction.hasChangedRows {
            try transaction.execute(
                "INSERT OR REPLACE INTO syncTarget VALUES (?, ?, ?, ?, ?, ?)", values)
        }
        recent.setTarget(KeptTarget(target), target.key)
        released[target.id] = nil
    }

    /// Raises the version of the last consistent snapshot, unless it is newer already.
    func raiseLastVersion(to version: Timestamp, _ transaction: StoreTransaction) throws {
        if version <= lastVersion { return }
        try saveLastVersion(version, transaction)
        lastVersion = version
    }

    private func saveLastVersion(_ version: Timestamp, _ transaction: StoreTransaction) throws {
        let value = SQLValue.integer(version.microseconds)
        try transaction.execute(
            "UPDATE syncGlobal SET value = ? WHERE name = 'lastVersion'", [value])
        if !transaction.hasChangedRows {
            try transaction.execute("INSERT INTO syncGlobal VALUES ('lastVersion', ?)", [value])
        }
    }
}
