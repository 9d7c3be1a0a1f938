import TidemarkModel
import TidemarkStore

/// Stores the server's reports in bulk, in one transaction each, and writes only changes.
final class RemoteChanges {
    private let file: LocalFile
    private let targets: TargetTable
    private let queue: LocalQueue
    private let targetRows: TargetRows

    init(_ file: LocalFile, targets: TargetTable, queue: LocalQueue) {
        self.file = file
        self.targets = targets
        self.queue = queue
        targetRows = TargetRows(database: file.database)
    }

    /// - Parameter isHeld: Returns true if the cache surely has this version, unmodified. Then the
    ///   cache is not read.
    /// - Returns: The documents that changed, as they look now.
    func apply(
        _ event: RemoteEvent, isHeld: (DocumentPath, Timestamp) -> Bool
    ) throws -> [LocalDocument] {
        #if TIDEMARK_DEFECTS
            if file.defects.contains(.tokenStoredEarly) { try storeTokensAlone(of: event) }
        #endif
        var update = targets.update(at: event.version)
        let changed = try file.write(.applyRemoteEvent) { transaction in
            let (changed, rows) = try merge(
                event.documents.values, readTime: event.version, isHeld: isHeld,
                added: event.targets.values.map(\.added), transaction: transaction)
            for (id, delta) in event.targets {
                guard let old = targets[id] else { continue }
                try applyRows(delta, of: id, rows: rows, transaction: transaction)
                try targets.add(
                    target(old, after: delta, event), hasChanges: delta.hasChanges,
                    isLost: event.mismatches[id] != nil, to: &update, transaction)
            }
            try LooseDocuments.touch(
                looseDocuments(of: event), at: targets.nextSequence, transaction)
            try targets.finish(&update, hasDocuments: !event.documents.isEmpty, transaction)
            return changed
        }
        targets.adopt(update)
        return queue.views(of: changed)
    }

    /// Returns the documents that left a target, and the documents that came for no stored target,
    /// which are in limbo.
    private func looseDocuments(of event: RemoteEvent) -> [DocumentPath] {
        let deltas = event.targets.filter { targets[$0.key] != nil }.map(\.value)
        let left = deltas.flatMap(\.removed)
        if event.targets.count == deltas.count && !event.documents.isEmpty && !deltas.isEmpty {
            return left
        }
        return left
            + event.documents.keys.filter { path in
                !deltas.contains { $0.added.contains(path) || $0.modified.contains(path) }
            }
    }

    /// Stores the result of a call, and the records of the caller, all or nothing.
    ///
    /// - Parameter all: The names of all rows, if some rows were stored earlier; nil for the names
    ///   of `documents`.
    /// - Parameter keeping: The query whose documents the records are about. These documents stay
    ///   at every size of the cache. Nil if there is no such query.
    /// - Parameter complete: The query whose complete rows the documents are. The cache's other
    ///   documents of the query were deleted or changed. They are forgotten, so the cache does not
    ///   show them later.
    /// - Parameter part: The same as `query`, for a part whose time of confirmation is not needed.
    /// - Parameter followed: A query to which a listener goes on from `readTime`, unless more is
    ///   known about the query already.
    func apply(
        _ documents: [RemoteDocument], among all: [DocumentPath]? = nil, readTime: Timestamp,
        records: [String: [UInt8]] = [:], keeping kept: Query? = nil, complete query: Query? = nil,
        replacing part: Query? = nil, followed: FollowedQuery? = nil,
        isListened: (DocumentPath) -> Bool = { _ in false }
    ) throws -> [LocalDocument] {
        let rows = all ?? documents.map(\.path)
        let changed = try file.write(.storeReplies) { transaction in
            for (name, value) in records { try LocalRecords.set(value, forKey: name, transaction) }
            if let kept {
                try LooseDocuments.keep(kept, transaction)
                // Some rows were stored before their exemption was known.
                if rows.count > documents.count { try LooseDocuments.untouch(rows, transaction) }
            } else {
                try LooseDocuments.touch(
                    documents.map(\.path), at: targets.nextSequence, transaction)
            }
            var changed = try merge(
                documents, readTime: readTime, isHeld: { _, _ in false }, transaction: transaction)
            if let part {
                changed += try forgetOthers(
                    than: rows, in: part, readTime: readTime, isListened: isListened,
                    transaction: transaction)
            }
            if let query {
                try targets.confirm(QueryKey(query.wireForm), at: readTime, transaction)
                changed += try forgetOthers(
                    than: rows, in: query, readTime: readTime, isListened: isListened,
                    transaction: transaction)
            }
            if let followed { try follow(followed, readTime: readTime, transaction: transaction) }
            return changed
        }
        targets.countUse()
        return queue.views(of: changed)
    }

    /// Stores a query's target with its rows as of a read time, from which a listen goes on.
    private func follow(
        _ followed: FollowedQuery, readTime: Timestamp, transaction: StoreTransaction
    ) throws {
        let key = QueryKey(followed.query.wireForm)
        guard let id = try targets.add(key, asOf: readTime, transaction) else { return }
        for path in followed.rows { try targetRows.add(path, of: id, transaction) }
    }

    private func forgetOthers(
        than rows: [DocumentPath], in query: Query, readTime: Timestamp,
        isListened: (DocumentPath) -> Bool, transaction: StoreTransaction
    ) throws -> [LocalQueue.Change] {
        guard query.offset == 0, query.limit.map({ rows.count < $0.count }) ?? true else {
            return []
        }
        let kept = Set(rows)
        let table = transaction.documents(of: file.database)
        let others = try table.run(query).documents.filter { document in
            !kept.contains(document.path) && document.updateTime <= readTime
                && (!document.hasCommittedMutations || document.readTime <= readTime)
                && !isListened(document.path)
        }
        for document in others { try targetRows.forget(document.path, transaction) }
        return others.map { ($0.path, nil) }
    }

    func merge(
        _ documents: some Collection<RemoteDocument>, readTime: Timestamp,
        isHeld: (DocumentPath, Timestamp) -> Bool, transaction: StoreTransaction
    ) throws -> [LocalQueue.Change] {
        try merge(
            documents, readTime: readTime, isHeld: isHeld, added: [], transaction: transaction
        ).changed
    }

    /// A document that was looked up, and the number of its row.
    private typealias Row = (path: DocumentPath, row: Int64)

    /// - Parameter added: The documents that came into a target. Most are new to the cache too.
    private func merge(
        _ documents: some Collection<RemoteDocument>, readTime: Timestamp,
        isHeld: (DocumentPath, Timestamp) -> Bool, added: [Set<DocumentPath>],
        transaction: StoreTransaction
    ) throws -> (changed: [LocalQueue.Change], rows: [Row]) {
        let table = transaction.documents(of: file.database)
        var changed: [LocalQueue.Change] = []
        var rows: [Row] = []
        changed.reserveCapacity(documents.count)
        rows.reserveCapacity(documents.count)
        var entries = NewEntries()
        let areMany = documents.count >= NewEntries.fewest
        for document in areMany ? Self.inOrder(documents) : Array(documents) {
            let path = document.path
            if case .found(let found) = document {
                if isHeld(path, found.updateTime) { continue }
                if added.contains(where: { $0.contains(path) }) {
                    let new = document.stored(readTime: readTime)
                    let inserted =
                        areMany
                        ? try table.insert(ifNew: new, &entries) : try table.insert(ifNew: new)
                    if let row = inserted {
                        changed.append((path, new))
                        rows.append((path, row))
                        continue
                    }
                }
            }
            let old = try table.version(at: path)
            if case .missing(_, .min) = document {
                guard old != nil else { continue }
                try targetRows.forget(path, transaction)
                changed.append((path, nil))
                continue
            }
            guard document.isNewer(than: old) else {
                if let old { rows.append((path, old.row)) }
                continue
            }
            let new = document.stored(readTime: readTime)
            rows.append((path, try table.put(new, inPlaceOf: old)))
            changed.append((path, new))
        }
        try table.write(&entries)
        return (changed, rows)
    }

    /// Returns the documents ordered by the beginnings of their names. So they are near each other
    /// in the file's indexes, and nearly sorted for views.
    private static func inOrder(_ documents: some Collection<RemoteDocument>) -> [RemoteDocument] {
        let all = Array(documents)
        let places = all.indices.map { (bits: all[$0].path.leadingIDBits, place: $0) }
        return places.sorted { $0.bits < $1.bits }.map { all[$0.place] }
    }

    private func applyRows(
        _ delta: TargetDelta, of target: Int32, rows: [Row], transaction: StoreTransaction
    ) throws {
        for path in delta.removed { try targetRows.remove(path, of: target, transaction) }
        if delta.added.isEmpty { return }
        let added = rows.filter { delta.added.contains($0.path) }
        try targetRows.add(rows: added.map(\.row), of: target, transaction)
        // The other documents were held before, or are absent.
        guard added.count < delta.added.count else { return }
        for path in delta.added.subtracting(added.map(\.path)) {
            try targetRows.add(path, of: target, transaction)
        }
    }

    #if TIDEMARK_DEFECTS
        private func storeTokensAlone(of event: RemoteEvent) throws {
            try file.write(.applyRemoteEvent) { transaction in
                for (id, delta) in event.targets {
                    guard let old = targets[id] else { continue }
                    try targets.save(target(old, after: delta, event), transaction)
                }
            }
        }
    #endif

    private func target(
        _ old: LocalTarget, after delta: TargetDelta, _ event: RemoteEvent
    ) -> LocalTarget {
        var new = old
        if event.mismatches[old.id] != nil {
            new.resumeToken = []
            new.snapshotVersion = .epoch
        } else if !delta.resumeToken.isEmpty {
            new.resumeToken = delta.resumeToken
            new.snapshotVersion = event.version
        } else if delta.hasChanges, !old.resumeToken.isEmpty {
            // This server sends no tokens. The previous token belongs to rows older than these. It
            // does not cover a row that came without a token and leaves before the next one. A time
            // is equally good if the rows are complete.
            new.resumeToken = []
            new.snapshotVersion = delta.isCurrent ? event.version : .epoch
        } else if delta.hasChanges, new.snapshotVersion != .epoch {
            new.snapshotVersion = delta.isCurrent ? event.version : .epoch
        }
        if delta.isCurrent { new.confirmed = event.version }
        return new
    }

    /// Forgets from where a target's listen resumes. Its rows stay until the server reports others.
    func forgetToken(of id: Int32) throws {
        guard var target = targets[id] else { return }
        target.resumeToken = []
        target.snapshotVersion = .epoch
        var update = targets.update(at: targets.lastVersion)
        try file.write(.applyRemoteEvent) { transaction in
            try targets.add(target, hasChanges: false, isLost: true, to: &update, transaction)
        }
        targets.adopt(update)
    }

    /// Forgets documents that are not rows of a query, and notes that the server confirmed all
    /// others.
    ///
    /// - Parameter confirmed: The query in the server's form, if these documents were the last;
    ///   else nil.
    func forget(
        _ paths: [DocumentPath], confirming confirmed: Query?, at time: Timestamp
    ) throws -> [LocalDocument] {
        try file.write(.storeReplies) { transaction in
            for path in paths { try targetRows.forget(path, transaction) }
            if let confirmed { try targets.confirm(QueryKey(confirmed), at: time, transaction) }
        }
        targets.countUse()
        return queue.views(of: paths.map { ($0, nil) })
    }
}

extension RemoteDocument {
    /// True if the document replaces the held one. An acknowledged write of the same version is
    /// replaced, because its contents were computed here.
    fileprivate func isNewer(than old: HeldVersion?) -> Bool {
        guard let old else { return true }
        return version > old.updateTime
            || (version == old.updateTime && (old.hasCommittedMutations || old.kind == .unknown))
    }
}
