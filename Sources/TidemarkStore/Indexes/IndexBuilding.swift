import TidemarkModel

/// The indexes that queries wished for and are not there yet.
final class IndexingState {
    struct Wish: Hashable {
        let database: Int64
        let definition: IndexDefinition
    }

    private(set) var wishes: [Wish] = []
    /// Documents that queries of this transaction looked at.
    var scanned = 0
    /// Whether an index may be unfinished in the file: true until that was looked up.
    var mayBeUnfinished = true
    /// Of the index that is being filled.
    var batch: EntryBatch?
    /// Whether what queries wish for is made.
    var isAutomatic = true
    /// What slices have added to the log since one of them moved it.
    var pagesLogged = 0

    /// How many wishes wait; later ones come again with the next query.
    private static let maxWishes = 32
    /// How many indexes are made on demand for one collection id, and for one database.
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

    /// Whose entries are in the file now. Past some changes the batch is given up for a new one.
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

/// Makes the indexes that queries wished for, a slice at a time; then the figures of blocks.
struct IndexBuilder {
    let connection: Connection

    /// Steps that are made after any transaction while there is an unfinished index.
    private static let slice = 1_000

    /// Makes wished indexes after a transaction, in three steps for each document that its queries
    /// looked at: enough for one index over them, and a pause in proportion to the scan.
    ///
    /// An index is never needed, so what stops it (a full disk) is left to the transaction that
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
            // One that is left from before; a store that cannot be read has nothing to fill.
            do throws(StoreError) {
                try connection.requireOpen()
                connection.indexing.mayBeUnfinished = try unfinishedGroup() != nil
            } catch { return false }
        }
        return connection.indexing.mayBeUnfinished
    }

    /// What slices leave in the log for the next one to move; and what they move of others, which else
    /// is no part of making an index.
    private static let (logOfSlices, logOfOthers) = (250, 500)
    /// How many steps are made between two looks at the time.
    private static let stepsBetweenLooks = 100

    /// One slice: a part of an index, or the log that others have made; or, when all indexes are made, of the
    /// figures of their blocks.
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

    /// Fills unfinished indexes, in a transaction of its own.
    ///
    /// - Returns: Whether there is more to do.
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
            try connection.commit()
            connection.indexing.mayBeUnfinished = unfinished != nil
            return unfinished != nil
        } catch {
            // A failed commit has rolled back by itself.
            if connection.isWriting { connection.rollback() }
            connection.indexing.mayBeUnfinished = false
            throw error
        }
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
