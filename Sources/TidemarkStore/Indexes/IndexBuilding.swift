import TidemarkModel

/// The requested indexes that do not exist yet.
final class IndexingState {
    struct Wish: Hashable {
        let database: Int64
        let definition: IndexDefinition
    }

    private(set) var wishes: [Wish] = []
    /// The number of documents that queries of this transaction visited.
    var scanned = 0
    /// True if the file may contain an unfinished index, until that was checked.
    var mayBeUnfinished = true
    /// The current batch of the index that is being filled.
    var batch: EntryBatch?
    /// True if requested indexes are built.
    var isAutomatic = true
    /// The number of pages that slices have added to the log since the last move.
    var pagesLogged = 0

    /// The maximum number of pending requests. Later requests return with the next query.
    private static let maxWishes = 32
    /// The maximum number of indexes created on demand for one collection id, and for one database.
    static let maxPerGroup = 16
    static let maxPerDatabase = 200

    func wish(_ wish: Wish) {
        guard isAutomatic else { return }
        if wishes.count < Self.maxWishes, !wishes.contains(wish) { wishes.append(wish) }
    }

    func takeWishes() -> [Wish] {
        defer { wishes = [] }
        return wishes
    }

    /// Omits a document whose entries are in the file now. After too many changes, the batch is
    /// replaced.
    func leaveOut(_ row: Int64) {
        if batch?.leaveOut(row) == false { batch = nil }
    }

    func forget() {
        wishes = []
        scanned = 0
        mayBeUnfinished = true
        batch = nil
    }
}

/// Builds the requested indexes in slices, and then the figures of blocks.
struct IndexBuilder {
    let connection: Connection

    /// The minimum number of steps after a transaction while an index is unfinished.
    private static let slice = 1_000

    /// Builds requested indexes after a transaction, with three steps for each document that its
    /// queries visited. This suffices for one index over those documents, and delays the caller in
    /// proportion to the scan.
    ///
    /// An index is optional, so an error such as a full disk is left to the next transaction that
    /// meets it.
    func settle() {
        let scanned = connection.indexing.scanned
        connection.indexing.scanned = 0
        guard connection.indexing.mayBeUnfinished || !connection.indexing.wishes.isEmpty else {
            return
        }
        _ = try? build(steps: max(Self.slice, 3 * scanned))
    }

    var isWanted: Bool { lacksIndexes || connection.figures.isWanted }

    private var lacksIndexes: Bool {
        if !connection.indexing.wishes.isEmpty { return true }
        if connection.indexing.mayBeUnfinished {
            // An index may be unfinished from an earlier run. A store that cannot be read has
            // nothing to fill.
            do throws(StoreError) {
                try connection.requireOpen()
                connection.indexing.mayBeUnfinished = try isUnfinished()
            } catch { return false }
        }
        return connection.indexing.mayBeUnfinished
    }

    /// The number of pages that slices leave in the log before the next slice moves it; and the
    /// number left by other transactions, whose pages are not part of building an index.
    private static let (logOfSlices, logOfOthers) = (250, 500)
    /// The number of steps between two checks of the time.
    private static let stepsBetweenLooks = 100

    /// Performs one slice: a part of an index, or moving the log that other transactions have
    /// filled. When all indexes are built, a part of the block figures.
    func buildSlice(steps: Int, isOver: @escaping () -> Bool) throws(StoreError) -> Bool {
        guard lacksIndexes else {
            return try FigureFiller(connection: connection).fill(
                ScanBudget(rows: steps, isOver: isOver))
        }
        let before = connection.pagesInLog
        let isLong =
            connection.indexing.pagesLogged >= Self.logOfSlices || before >= Self.logOfOthers
        if isLong {
            connection.moveLog()
            connection.indexing.pagesLogged = 0
            return true
        }
        connection.movesLog = false
        defer {
            connection.movesLog = true
            connection.indexing.pagesLogged += max(0, connection.pagesInLog - before)
        }
        return try build(steps: steps, isOver: isOver) || connection.figures.isWanted
    }

    /// Fills unfinished indexes, in a separate transaction.
    ///
    /// - Returns: True if there is more work.
    func build(
        steps: Int, isOver: () -> Bool = { false }
    ) throws(StoreError) -> Bool {
        guard connection.indexing.mayBeUnfinished || !connection.indexing.wishes.isEmpty else {
            return false
        }
        let wishes = connection.indexing.takeWishes()
        try connection.begin(synced: false)
        do throws(StoreError) {
            for wish in wishes { try create(wish) }
            let filler = IndexFiller(connection: connection)
            var left = steps
            var unfinished = try unfinishedGroup()
            while left > 0, let group = unfinished {
                let before = min(left, Self.stepsBetweenLooks)
                var budget = before
                try filler.fill(group, &budget)
                left -= before - budget
                if group.indexes.allSatisfy(\.isReady) { unfinished = try unfinishedGroup() }
                if isOver() { break }
            }
            if unfinished == nil { try fillWords(left, isOver) }
            let isMore = try isUnfinished()
            try connection.commit()
            connection.indexing.mayBeUnfinished = isMore
            return isMore
        } catch {
            // A failed commit has already rolled back.
            if connection.isWriting { connection.rollback() }
            connection.indexing.mayBeUnfinished = false
            throw error
        }
    }

    /// Fills word indexes, when all other indexes are ready.
    private func fillWords(_ steps: Int, _ isOver: () -> Bool) throws(StoreError) {
        let filler = WordFiller(connection: connection)
        var left = steps
        while left > 0, !isOver(), let group = try filler.unfinished() {
            let before = min(left, Self.stepsBetweenLooks)
            var budget = before
            try filler.fill(group, &budget)
            left -= before - budget
        }
    }

    private func isUnfinished() throws(StoreError) -> Bool {
        if try unfinishedGroup() != nil { return true }
        return try WordFiller(connection: connection).unfinished() != nil
    }

    private func create(_ wish: IndexingState.Wish) throws(StoreError) {
        let definition = wish.definition
        let group = try connection.catalog.group(
            definition.collectionID, in: wish.database, connection)
        if group.indexes.contains(where: { $0.definition == definition }) { return }
        let count = try connection.statement(.countIndexes)
        defer { count.release() }
        count.bind(1, definition.collectionID)
        count.bind(2, wish.database)
        guard try count.step(), count.integer(0) < IndexingState.maxPerDatabase,
            count.integer(1) < IndexingState.maxPerGroup
        else { return }
        group.indexes.append(
            try FieldIndex.insert(
                definition, database: wish.database, isDeclared: false, connection))
    }

    private func unfinishedGroup() throws(StoreError) -> CollectionGroup? {
        let statement = try connection.statement(.unfinishedIndexes)
        defer { statement.release() }
        guard try statement.step() else { return nil }
        return try connection.catalog.group(statement.text(1), in: statement.integer(0), connection)
    }
}
