import TidemarkModel
import TidemarkStore

/// The targets of a bundle that is being loaded.
struct LoadingTargets {
    /// The targets of the queries, by the bytes of the query's name.
    var ids: [[UInt8]: Int32] = [:]
    /// The target of the bundle itself, which has all its documents.
    var whole: Int32

    var all: [Int32] { ids.values + [whole] }
}

/// Loads bundles: stores their documents as they arrive, and their queries when everything is
/// stored.
final class LocalBundles {
    private let file: LocalFile
    private let table: TargetTable
    private let remote: RemoteChanges
    private let queue: LocalQueue
    private let rows: TargetRows
    private let takeOver: LocalTakeOver
    /// The bundles that are being loaded, by number.
    private var loads: [UInt64: LoadingTargets] = [:]
    private var nextLoad: UInt64 = 0

    init(
        _ file: LocalFile, table: TargetTable, remote: RemoteChanges, queue: LocalQueue,
        takeOver: LocalTakeOver
    ) {
        self.file = file
        self.table = table
        self.remote = remote
        self.queue = queue
        self.takeOver = takeOver
        rows = TargetRows(database: file.database)
    }

    /// - Returns: The load; nil if the bundle was loaded before.
    func begin(_ id: String, _ createTime: Timestamp) throws -> BundleLoad? {
        let isNew = try file.read { try self.isNew(id, createTime: createTime, transaction: $0) }
        guard isNew else { return nil }
        let whole = try file.write(.loadBundle) { try newLoadingTarget($0) }
        nextLoad += 1
        loads[nextLoad] = LoadingTargets(whole: whole)
        return BundleLoad(number: nextLoad, id: id, createTime: createTime)
    }

    private func isNew(
        _ id: String, createTime: Timestamp, transaction: StoreTransaction
    ) throws -> Bool {
        let known = try transaction.rows(
            "SELECT createTime FROM syncBundle WHERE id = ?", [.blob(Array(id.utf8))])
        return try known.first.map { try $0.integer(0) < createTime.microseconds } ?? true
    }

    /// Makes a target that no query uses. It counts as abandoned until it is adopted.
    private func newLoadingTarget(_ transaction: StoreTransaction) throws -> Int32 {
        let id = table.takeID()
        try transaction.execute(
            "INSERT INTO syncCondemned VALUES (?, ?)",
            [.integer(Int64(id)), .integer(table.nextSequence)])
        return id
    }

    /// - Returns: The changed documents in their current state.
    func store(_ documents: [BundledDocument], of load: BundleLoad) throws -> [LocalDocument] {
        guard var targets = loads[load.number] else { throw SyncError.userChanged }
        let changed = try file.write(.loadBundle) { transaction -> [LocalQueue.Change] in
            var changed: [LocalQueue.Change] = []
            for document in documents {
                changed += try remote.merge(
                    [document.remote], readTime: document.readTime, isHeld: { _, _ in false },
                    transaction: transaction)
                guard document.document != nil else { continue }
                try rows.add(document.path, of: targets.whole, transaction)
                for name in document.queries {
                    let target = try target(of: name, &targets, transaction)
                    try rows.add(document.path, of: target, transaction)
                }
            }
            try LooseDocuments.touch(
                documents.lazy.map(\.path), at: table.nextSequence, transaction)
            return changed
        }
        loads[load.number] = targets
        table.countUse()
        return queue.views(of: changed)
    }

    private func target(
        of name: String, _ targets: inout LoadingTargets, _ transaction: StoreTransaction
    ) throws -> Int32 {
        let name = Array(name.utf8)
        if let known = targets.ids[name] { return known }
        guard targets.ids.count < BundleLoad.maxQueries else {
            throw SyncError.invalidArgument(
                "The bundle has more than \(BundleLoad.maxQueries) named queries.")
        }
        let new = try newLoadingTarget(transaction)
        targets.ids[name] = new
        return new
    }

    /// Completes the bundle: its targets become those of its queries.
    func finish(_ load: BundleLoad) throws {
        guard var targets = loads[load.number] else { throw SyncError.userChanged }
        try file.write(.loadBundle) { transaction in
            guard try isNew(load.id, createTime: load.createTime, transaction: transaction) else {
                return
            }
            try adopt(
                targets.whole, as: QueryKey(bundle: load.id), readTime: .epoch,
                transaction: transaction)
            for named in load.queries {
                try transaction.execute(
                    "INSERT OR REPLACE INTO syncNamedQuery VALUES (?, ?)",
                    [.blob(Array(named.name.utf8)), .blob(named.source)])
                let id = try target(of: named.name, &targets, transaction)
                try adopt(
                    id, as: QueryKey(named.query.wireForm), readTime: named.readTime,
                    transaction: transaction)
            }
            try transaction.execute(
                "INSERT OR REPLACE INTO syncBundle VALUES (?, ?)",
                [.blob(Array(load.id.utf8)), .integer(load.createTime.microseconds)])
        }
        loads[load.number] = nil
        table.countUse()
    }

    /// - Parameter readTime: The time as of which the target has all rows of the query, from which
    ///   a listen continues. The epoch if they are not a query's result.
    private func adopt(
        _ id: Int32, as key: QueryKey, readTime: Timestamp, transaction: StoreTransaction
    ) throws {
        // A current listen has newer data.
        if table.inUse(key) != nil { return }
        let known = try table.storedTarget(key, transaction)?.target
        if let known {
            if readTime != .epoch, readTime <= known.snapshotVersion { return }
            let old = SQLValue.integer(Int64(known.id))
            try transaction.execute("DELETE FROM syncTarget WHERE id = ?", [old])
            table.forgetRecent()
            try transaction.execute(
                "INSERT OR REPLACE INTO syncCondemned VALUES (?, ?)",
                [old, .integer(known.sequence)])
        }
        try transaction.execute(
            "DELETE FROM syncCondemned WHERE target = ?", [.integer(Int64(id))])
        var target = LocalTarget(id: id, key: key, sequence: table.nextSequence)
        target.snapshotVersion = readTime
        if readTime != .epoch { target.confirmed = max(readTime, known?.confirmed ?? readTime) }
        try table.save(target, transaction)
    }

    /// Abandons an incomplete bundle.
    func abandon(_ load: BundleLoad) { loads[load.number] = nil }

    func namedQuery(_ name: String) throws -> [UInt8]? {
        try file.read { transaction in
            try transaction.rows(
                "SELECT source FROM syncNamedQuery WHERE name = ?", [.blob(Array(name.utf8))]
            ).first?.blob(0)
        }
    }

    /// Returns a target whose rows must be removed, except those of a bundle that is being loaded,
    /// and of a cache that is being taken over.
    func condemned(_ transaction: StoreTransaction) throws -> SQLRow? {
        let loading = Set((loads.values.flatMap(\.all) + takeOver.loading).map(Int64.init))
        return try transaction.rows(
            "SELECT target, sequence FROM syncCondemned LIMIT ?",
            [.integer(Int64(loading.count + 1))]
        ).first { try !loading.contains($0.integer(0)) }
    }
}
