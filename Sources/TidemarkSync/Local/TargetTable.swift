import TidemarkModel
import TidemarkStore

/// The targets of this cache: those in use, what the disk has of them, and when each was used last.
/// Asks for no transaction by itself: whoever has one hands it in.
final class TargetTable {
    /// Those in use, by id, with the newest token; the disk may have an older one.
    private var used: [Int32: LocalTarget] = [:]
    /// As they are on disk; those of which nothing is known yet are not there.
    private var persisted: [Int32: KeptTarget] = [:]
    /// Those that are in use no more, and whose use is not on disk yet.
    private(set) var released: [Int32: KeptTarget] = [:]
    private var recent = RecentQueries()
    private var nextID: Int32 = 2
    /// The number of the next use. Each use of a target or a document has one.
    private(set) var nextSequence: Int64 = 1
    /// Of the last consistent snapshot; never goes back.
    private(set) var lastVersion = Timestamp.epoch
    /// As it is on disk; where it is behind, targets there are as new, and bring it with them.
    private var savedVersion = Timestamp.epoch

    // MARK: In memory

    /// The target, if it is in use.
    subscript(id: Int32) -> LocalTarget? { used[id] }

    var isEmpty: Bool { used.isEmpty }
    var usedCount: Int { used.count }
    /// How many of those in use are on disk.
    var persistedCount: Int { persisted.count }

    func inUse(_ key: QueryKey) -> LocalTarget? { used.values.first { $0.key == key } }

    /// Whether the disk has the target, or an older state of it.
    func isPersisted(_ id: Int32) -> Bool { persisted[id] != nil }

    func recent(_ query: Query, in database: DatabaseID) -> RecentQuery {
        recent.query(query, in: database)
    }

    /// To be called when targets were taken out of the file.
    func forgetRecent() { recent.forgetTargets() }

    /// One more use is over.
    func countUse() { nextSequence += 1 }

    /// An id that is never given back, not even when its transaction fails.
    func takeID() -> Int32 {
        defer { nextID += 2 }
        return nextID
    }

    func makeTarget(_ key: QueryKey) -> LocalTarget {
        LocalTarget(id: nextID, key: key, sequence: nextSequence)
    }

    /// The target is in use from now on.
    ///
    /// - Parameter stored: As it is on disk, if it is.
    func take(_ target: consuming LocalTarget, stored: KeptTarget?) {
        let id = target.id
        nextSequence += 1
        nextID = max(nextID, id + 2)
        used[id] = target
        let isStored = released.removeValue(forKey: id)?.isStored ?? true
        if isStored, let stored { persisted[id] = stored }
    }

    /// How many targets wait for somebody else's transaction.
    private static let mostReleased = 50

    /// The target is in use no more. What the disk has not is to be written; where that is only when it was
    /// used, it waits for somebody else's transaction.
    ///
    /// - Returns: What is to be written at once, if anything.
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

    /// Writes those that wait for a transaction.
    func saveReleased(_ transaction: StoreTransaction) throws {
        for waiting in released.values { try save(waiting.target, transaction) }
    }

    /// The transaction was undone.
    ///
    /// - Parameter waiting: What ``released`` was before it.
    func undo(released waiting: [Int32: KeptTarget]) {
        recent.forgetTargets()
        released = waiting
    }

    /// Whether closing has nothing to write.
    var isSaved: Bool {
        unsaved.isEmpty && released.isEmpty && savedVersion == lastVersion
    }

    private var unsaved: [LocalTarget] {
        used.values.filter { target in
            persisted[target.id].map { $0.target != target } ?? !target.isBlank
        }
    }

    /// The last transaction: the newest tokens.
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

    /// What a snapshot has made of the targets, to be taken over once it is stored.
    struct Update {
        fileprivate var updated: [LocalTarget] = []
        fileprivate var saved: [LocalTarget] = []
        fileprivate let version: Timestamp
        fileprivate var savesVersion = false
    }

    /// - Parameter version: Of the snapshot.
    func update(at version: Timestamp) -> Update { Update(version: max(version, lastVersion)) }

    /// Writes a target as the snapshot leaves it, where that is worth it.
    ///
    /// - Parameter isLost: Whether the target has to be asked for anew.
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

    /// - Parameter hasDocuments: Whether the snapshot has any.
    func finish(
        _ update: inout Update, hasDocuments: Bool, _ transaction: StoreTransaction
    ) throws {
        let version = update.version
        // A page of the log, unless a target is written that says as much.
        update.savesVersion =
            version > savedVersion && (hasDocuments || !update.saved.isEmpty)
            && !update.saved.contains { $0.serverVersion >= version }
        if update.savesVersion { try saveLastVersion(version, transaction) }
    }

    /// The snapshot is stored.
    func adopt(_ update: Update) {
        nextSequence += 1
        lastVersion = update.version
        if update.savesVersion { savedVersion = update.version }
        for target in update.updated { used[target.id] = target }
        for target in update.saved { persisted[target.id] = KeptTarget(target) }
    }

    // MARK: On disk

    /// The query's target, written as one that is used now.
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

    /// As the disk has it, or waits to get it.
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

    /// Mostly it is there, with another token, and that is all that is written: to replace the row, or to
    /// write when it was used, would take its entries out of one index or two and put them back.
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

    private func saveLastVersion(_ version: Timestamp, _ transaction: StoreTransaction) throws {
        let value = SQLValue.integer(version.microseconds)
        try transaction.execute(
            "UPDATE syncGlobal SET value = ? WHERE name = 'lastVersion'", [value])
        if !transaction.hasChangedRows {
            try transaction.execute("INSERT INTO syncGlobal VALUES ('lastVersion', ?)", [value])
        }
    }
}
