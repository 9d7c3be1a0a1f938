import TidemarkModel

/// The rows of one query as this device knows them, and whether the server has the same rows.
///
/// A view is synced when the target is current and every row is in the target or was written here.
/// Any other row is in limbo: it matches here, and the server did not send it.
struct View: Equatable, Sendable {
    /// The part of a remote event about the view's target.
    struct Target: Equatable, Sendable {
        var delta: TargetDelta
        /// The target is about to be listened to again from scratch; until then no row is in limbo.
        var isPendingReset = false
    }

    enum Event: Equatable, Sendable {
        /// Documents changed, matching or not. `version` is the version of the consistent snapshot,
        /// if the view's target is part of it. `awaiting` is the read time of documents that a call
        /// returned; the target will name them later. `isBehind` is true if the listen stream
        /// reported the documents and the view's target has not reached that version yet.
        case documents(
            [LocalDocument], Target?, version: Timestamp? = nil, awaiting: Timestamp? = nil,
            isBehind: Bool = false)
        /// The query ran again: these are all its rows, in its order.
        case result(
            [LocalDocument], Target?, version: Timestamp? = nil, isBehind: Bool = false)
        case wentOffline
        /// Another cache replaced the previous one: these are all its rows. `synced` has the
        /// documents of its target.
        case exchanged([LocalDocument], synced: Set<DocumentPath>?, hasToken: Bool)

        /// True if the event concerns the target's documents, so they must be known.
        var concernsTarget: Bool {
            switch self {
            case .documents(_, let target?, _, _, _), .result(_, let target?, _, _):
                target.delta.isCurrent || !target.delta.added.isEmpty
                    || !target.delta.removed.isEmpty
            case .documents, .result, .wentOffline, .exchanged: false
            }
        }
    }

    enum Effect: Equatable, Sendable {
        case raise(ViewSnapshot, hasCachedResults: Bool)
        case limbo(DocumentPath)
        case outOfLimbo(DocumentPath)
        /// Rows beyond the limit may have to move up. The event was not applied: run the query, and
        /// step with ``Event/result(_:_:version:)`` instead.
        case needsRefill
    }

    let shape: ViewShape
    private(set) var rows: DocumentSet
    /// The documents of the target, as reported by the server; nil until they are read. A listener
    /// to the cache alone never needs them, and their read takes half as long as the read of the
    /// rows.
    private(set) var synced: Set<DocumentPath>?
    private(set) var limbo: Set<DocumentPath> = []
    private(set) var mutated: Set<DocumentPath> = []
    private(set) var isCurrent = false
    private var isSynced: Bool?
    private(set) var readTime: Timestamp?
    /// The rows that the target will name when it is consistent at that time.
    private var awaited: [DocumentPath: Timestamp] = [:]
    /// Acknowledged writes that are not shown yet, because a listen that is behind will report
    /// them.
    private var held: [DocumentPath: LocalDocument] = [:]
    /// The rows that are not in the target. They are few, and only these rows can be in limbo. Nil
    /// until the target is first current: before that no row is in limbo, and all rows may be
    /// outside the target.
    private var unsynced: Set<DocumentPath>?
    /// True if a row is an acknowledged write that the listen has not reached.
    private var isBehindOwn = false

    /// Returns a view without rows. It sets all parts in one initializer call: an initializer that
    /// sets them separately copies the whole view at its end.
    static func empty(_ shape: ViewShape, synced: Set<DocumentPath>?) -> View {
        View(shape: shape, rows: DocumentSet(shape.order), synced: synced)
    }

    static func empty(
        _ query: Query, in database: DatabaseID, synced: Set<DocumentPath>?
    ) -> View {
        empty(ViewShape(query, in: database), synced: synced)
    }

    var query: Query { shape.query.query }

    /// True if the rows are the server's present state, as of ``readTime``.
    var isFresh: Bool { isSynced == true }
    /// True if the rows are exactly the documents that the server named: no row is known only here,
    /// and no named document is hidden by local knowledge.
    var showsTarget: Bool {
        isFresh && unsynced?.isEmpty == true && rows.count == synced?.count
    }
    /// Returns the row of a document, if the document has one.
    mutating func document(at path: DocumentPath) -> ViewDocument? {
        rows.open()
        return rows[path]?.document
    }
    var documents: [ViewDocument] { rows.shown.documents }
    var hasPendingWrites: Bool { !mutated.isEmpty }

    mutating func step(_ event: Event) -> [Effect] {
        switch event {
        case .documents(let documents, let target, let version, let awaiting, let isBehind):
            rows.open()
            if let version { readTime = version }
            // If the target is known first, its rows need not be stored as outside the target.
            if query.limit == nil { learn(target) }
            let released = release(besides: documents)
            let all = released.isEmpty ? documents : documents + released
            guard let changes = apply(all) else { return [.needsRefill] }
            if query.limit != nil { learn(target) }
            // Other targets are ahead of this target, so the rows do not belong to one time.
            if isBehind, !changes.isEmpty { readTime = nil }
            if let awaiting {
                for document in documents where rows[document.path] != nil {
                    awaited[document.path] = awaiting
                }
            }
            return finish(changes, target: target, version: version)
        case .result(let documents, let target, let version, let isBehind):
            if isBehind { readTime = nil }
            if let version { readTime = version }
            learn(target)
            return finish(replace(with: documents), target: target, version: version)
        case .wentOffline:
            guard isCurrent else { return [] }
            isCurrent = false
            return finish(ChangeSet(), target: nil, version: nil, offline: true)
        case .exchanged(let documents, let synced, let hasToken):
            self.synced = synced
            (limbo, awaited, held, readTime) = ([], [:], [:], nil)
            let delta = TargetDelta(resumeToken: hasToken ? [0] : [])
            return finish(exchange(for: documents), target: Target(delta: delta), version: nil)
        }
    }

    /// Adds the documents that came into the target;
    /// ``finish(_:target:version:offline:)`` removes the others.
    private mutating func learn(_ target: Target?) {
        if let target { synced?.formUnion(target.delta.added) }
    }

    /// - Parameter documents: The documents of the target, as they are stored now.
    mutating func learn(synced documents: Set<DocumentPath>) {
        precondition(synced == nil && !isCurrent)
        synced = documents
    }

    private mutating func finish(
        _ changes: ChangeSet, target: Target?, version: Timestamp?, offline: Bool = false
    ) -> [Effect] {
        if let delta = target?.delta {
            synced?.subtract(delta.removed)
            unsynced?.subtract(delta.added)
            if unsynced != nil, !delta.removed.isEmpty {
                rows.open()
                for path in delta.removed where rows[path] != nil { unsynced!.insert(path) }
            }
            // The documents of a reset target are not known until the server has sent them again.
            isCurrent = delta.isCurrent && target?.isPendingReset == false
        }
        if let version, !awaited.isEmpty { awaited = awaited.filter { $0.value > version } }
        let effects = offline ? [] : updateLimbo()
        let nowSynced = limbo.isEmpty && !isBehindOwn && isCurrent && !lacksRows
        let stateChanged = isSynced != nowSynced
        isSynced = nowSynced
        if changes.isEmpty && !stateChanged { return effects }
        let snapshot = ViewSnapshot(
            shape, rows: rows, changes: changes, isFromCache: !nowSynced,
            hasPendingWrites: hasPendingWrites, syncStateChanged: stateChanged,
            readTime: nowSynced ? readTime : nil, syncedCount: synced?.count ?? 0,
            showsTarget: showsTarget)
        let raise = Effect.raise(
            snapshot, hasCachedResults: target?.delta.resumeToken.isEmpty == false)
        return effects.isEmpty ? [raise] : effects + [raise]
    }

    /// True where a pending write took a row out of a full limit: which row moves up, only the
    /// server knows.
    private var lacksRows: Bool {
        guard let limit = query.limit, let synced else { return false }
        return rows.count < limit.count && synced.count >= limit.count
    }

    private mutating func updateLimbo() -> [Effect] {
        guard isCurrent else { return [] }
        guard let synced else { preconditionFailure("current, and nobody has asked what it holds") }
        rows.open()
        let unsynced = unsynced ?? Set(rows.rows.map(\.path)).subtracting(synced)
        self.unsynced = unsynced
        var now: Set<DocumentPath> = []
        isBehindOwn = false
        for path in unsynced where awaited[path] == nil {
            guard let row = rows[path], !row.document.hasLocalMutations else { continue }
            if isAhead(row.document) { isBehindOwn = true } else { now.insert(path) }
        }
        if now.isEmpty && limbo.isEmpty { return [] }
        let left = limbo.subtracting(now).sorted().map(Effect.outOfLimbo)
        let came = now.subtracting(limbo).sorted().map(Effect.limbo)
        limbo = now
        return left + came
    }

    /// True for an acknowledged write that is newer than the last snapshot of the listen. The next
    /// snapshot names the document, so a request for the document would cost a read for nothing.
    private func isAhead(_ document: ViewDocument) -> Bool {
        guard document.hasCommittedMutations, let readTime else { return false }
        return document.document.updateTime > readTime
    }
}

// MARK: - Documents

extension View {
    /// The first row if the limit keeps the last rows, else the last row; nil unless the limit is
    /// full.
    private var edge: ViewRow? {
        guard let limit = query.limit, rows.count == limit.count else { return nil }
        return switch limit {
        case .first: rows.rows.last
        case .last: rows.rows.first
        }
    }

    /// Returns nil if the query must run again; then nothing has changed.
    private mutating func apply(_ documents: [LocalDocument]) -> ChangeSet? {
        var changes = ChangeSet()
        guard query.limit != nil else {
            applyAll(documents, &changes)
            return changes
        }
        let edge = edge
        if documents.count == 1 {
            // This is checked before a change, because a copy took a fifth of the time from a
            // change to a snapshot.
            let step = step(for: documents[0])
            if opensGap(step, edge) { return nil }
            take(step, of: documents[0], &changes)
            trim(&changes)
            return changes
        }
        // The copy allows a return to the earlier state; it is as small as the limit.
        var copy = self
        for document in documents {
            guard copy.apply(document, changes: &changes, edge: edge) else { return nil }
        }
        copy.trim(&changes)
        self = copy
        return changes
    }

    /// Applies documents without a limit, where rows are independent; new rows are inserted
    /// together.
    private mutating func applyAll(_ documents: [LocalDocument], _ changes: inout ChangeSet) {
        changes.reserveCapacity(documents.count)
        // Each lookup of a path costs a hash, so an empty view makes no lookups.
        let isFirst = rows.count == 0
        var new: [ViewRow] = []
        for document in documents {
            guard isFirst || rows[document.path] == nil, documents.count > 8 else {
                _ = apply(document, changes: &changes, edge: nil)
                continue
            }
            guard let row = row(for: document) else { continue }
            guard changes.addNew(row) else {
                // The document occurs twice in one event, so the second change applies to the row
                // of the first.
                rows.insert(contentsOf: new)
                new = []
                _ = apply(document, changes: &changes, edge: nil)
                continue
            }
            note(row)
            new.append(row)
        }
        rows.insert(contentsOf: new)
    }

    private mutating func replace(with documents: [LocalDocument]) -> ChangeSet {
        if rows.count == 0 { return fill(with: documents) }
        rows.open()
        var changes = ChangeSet()
        let kept = Set(documents.map(\.path))
        for row in rows.rows where !kept.contains(row.path) {
            _ = apply(LocalDocument(unknown: row.path), changes: &changes, edge: nil)
        }
        applyAll(documents, &changes)
        trim(&changes)
        return changes
    }

    /// Fills a view without rows. The rows are not tested or sorted again, and their changes are
    /// not counted one by one. This work took two thirds of a listen's first answer.
    private mutating func fill(with documents: [LocalDocument]) -> ChangeSet {
        let found = documents.allSatisfy(\.isFound) ? documents : documents.filter(\.isFound)
        for document in found {
            if document.hasLocalMutations {
                mutated.insert(document.path)
            } else if !mutated.isEmpty {
                mutated.remove(document.path)
            }
        }
        if unsynced != nil {
            for document in found where !isInTarget(document.path) {
                unsynced!.insert(document.path)
            }
        }
        rows.fill(with: found)
        return found.isEmpty ? ChangeSet() : .everythingIsNew
    }

    /// Exchanges all rows. In contrast to ``replace(with:)``, no part of an earlier row is kept, in
    /// any state.
    private mutating func exchange(for documents: [LocalDocument]) -> ChangeSet {
        rows.open()
        let old = rows
        rows = DocumentSet(old.order)
        (mutated, unsynced) = ([], nil)
        for document in documents {
            if let row = row(for: document) { insert(row) }
        }
        var changes = ChangeSet()
        for row in old.rows where rows[row.path] == nil {
            changes.add(.removed, row, from: row)
        }
        for row in rows.rows {
            guard let before = old[row.path] else {
                changes.add(.added, row, from: nil)
                continue
            }
            if !row.document.hasSameContents(as: before.document) {
                changes.add(.modified, row, from: before)
            } else if row.document.hasPendingWrites != before.document.hasPendingWrites {
                changes.add(.metadata, row, from: before)
            }
        }
        return changes
    }

    /// The effect of a document on the rows.
    private enum Step {
        case nothing
        case added(ViewRow)
        case removed(ViewRow)
        /// The row changed. The kind is nil if the listener sees no change.
        case changed(ViewChange.Kind?, ViewRow, from: ViewRow)
        /// The change is shown later.
        case held
    }

    private func step(for document: LocalDocument) -> Step {
        let old = rows[document.path]
        guard let new = row(for: document) else { return old.map(Step.removed) ?? .nothing }
        guard let old else { return .added(new) }
        if isAwaitingListen(document, old.document) { return .held }
        guard new.document.hasSameContents(as: old.document) else {
            return .changed(.modified, new, from: old)
        }
        let isWritten = mutated.contains(document.path)
        return .changed(isWritten == document.hasLocalMutations ? nil : .metadata, new, from: old)
    }

    /// True if a row beyond the limit may have to move up.
    private func opensGap(_ step: Step, _ edge: ViewRow?) -> Bool {
        guard let edge else { return false }
        switch step {
        case .removed: return true
        case .changed(.modified?, let new, _):
            if case .last = query.limit { return rows.order.precedes(new, edge) }
            return rows.order.precedes(edge, new)
        case .nothing, .added, .changed, .held: return false
        }
    }

    private mutating func take(
        _ step: Step, of document: LocalDocument, _ changes: inout ChangeSet
    ) {
        switch step {
        case .nothing: break
        case .added(let new):
            changes.add(.added, new, from: nil)
            insert(new)
        case .removed(let old):
            remove(document.path)
            changes.add(.removed, old, from: old)
        case .changed(let kind, let new, let old):
            if let kind { changes.add(kind, new, from: old) }
            insert(new)
        case .held: held[document.path] = document
        }
    }

    /// - Returns: False if a row beyond the limit may have to move up.
    private mutating func apply(
        _ document: LocalDocument, changes: inout ChangeSet, edge: ViewRow?
    ) -> Bool {
        let step = step(for: document)
        take(step, of: document, &changes)
        return !opensGap(step, edge)
    }

    /// True if an acknowledged write waits for the listen that confirms it. This makes two events
    /// instead of three, without a flicker. An acknowledged write makes a new version. A refused
    /// write makes none, and its effect is removed immediately. A listen that has passed that
    /// version will not report it again.
    private func isAwaitingListen(_ new: LocalDocument, _ old: ViewDocument) -> Bool {
        old.hasLocalMutations && new.hasCommittedMutations && !new.hasLocalMutations
            && new.version > old.document.updateTime
            && (readTime.map { new.version > $0 } ?? true)
    }

    /// Returns the waiting writes that the listen has passed without a report. Another change came
    /// before, so these documents are not rows of the target.
    private mutating func release(besides documents: [LocalDocument]) -> [LocalDocument] {
        guard !held.isEmpty, let readTime else { return [] }
        let due = held.values.filter { $0.version <= readTime }.sorted { $0.path < $1.path }
        for document in due { held[document.path] = nil }
        let told = Set(documents.map(\.path))
        return due.filter { !told.contains($0.path) }
    }

    private mutating func remove(_ path: DocumentPath) {
        rows.remove(path)
        if !held.isEmpty { held[path] = nil }
        if !mutated.isEmpty { mutated.remove(path) }
        if !awaited.isEmpty { awaited[path] = nil }
        unsynced?.remove(path)
    }

    private mutating func insert(_ row: ViewRow) {
        rows.insert(row)
        if !held.isEmpty { held[row.path] = nil }
        note(row)
    }

    private func isInTarget(_ path: DocumentPath) -> Bool {
        guard let synced, !synced.isEmpty else { return false }
        return synced.contains(path)
    }

    /// Updates the other sets with a row.
    private mutating func note(_ row: ViewRow) {
        if unsynced != nil, !isInTarget(row.path) { unsynced!.insert(row.path) }
        if row.document.hasLocalMutations {
            mutated.insert(row.path)
        } else if !mutated.isEmpty {
            mutated.remove(row.path)
        }
    }

    /// Returns nil if the document is not a row of the query.
    private func row(for document: LocalDocument) -> ViewRow? {
        guard document.isFound,
            shape.query.matches(document.path, among: document.contents)
        else { return nil }
        return ViewRow(document, rows.order)
    }

    private mutating func trim(_ changes: inout ChangeSet) {
        guard let limit = query.limit else { return }
        while rows.count > limit.count {
            let row: ViewRow
            switch limit {
            case .first: row = rows.rows[rows.count - 1]
            case .last: row = rows.rows[0]
            }
            remove(row.path)
            changes.add(.removed, row, from: row)
        }
    }
}

extension ViewDocument {
    /// Compares the bytes, because each value has exactly one encoding. Decoding both documents
    /// took a twentieth of the time from a change to a snapshot.
    func hasSameContents(as other: ViewDocument) -> Bool {
        document.contents == other.document.contents
    }
}
