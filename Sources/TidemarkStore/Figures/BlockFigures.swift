import TidemarkModel

/// Figures of blocks of adjacent entries in an index. They give the figures of any range of the
/// index by reading only its two ends, whatever the size of the range.
///
/// Kept in memory for the few indexes that were requested last. Built in slices like an index,
/// updated with every written document, and dropped when a transaction is rolled back.
final class BlockFigures {
    /// The blocks, in the order of their last use.
    private var kept: [FigureBlocks] = []
    private var wishes: [FigureWish] = []

    /// The maximum numbers of kept indexes and of pending requests.
    private static let most = 8, mostWishes = 16

    var isEmpty: Bool { kept.isEmpty }
    var isWanted: Bool { !wishes.isEmpty || kept.contains { !$0.isReady } }

    func forget() {
        kept = []
        wishes = []
    }

    func wish(_ wish: FigureWish) {
        if wishes.count < Self.mostWishes, !wishes.contains(wish) { wishes.append(wish) }
    }

    func takeWish() -> FigureWish? { wishes.isEmpty ? nil : wishes.removeFirst() }

    /// Returns the blocks of a source if they are complete.
    func find(_ source: FigureBlocks.Source, _ fields: [FieldPath]) -> FigureBlocks? {
        guard let place = place(source, fields), kept[place].isReady else { return nil }
        let found = kept.remove(at: place)
        kept.append(found)
        return found
    }

    func make(_ source: FigureBlocks.Source, _ fields: [FieldPath]) {
        if place(source, fields) != nil { return }
        if kept.count >= Self.most { kept.removeFirst() }
        kept.append(FigureBlocks(source, fields))
    }

    /// The next blocks to fill.
    var unfinished: FigureBlocks? { kept.first { !$0.isReady } }

    func drop(_ blocks: FigureBlocks) { kept.removeAll { $0 === blocks } }

    private func place(_ source: FigureBlocks.Source, _ fields: [FieldPath]) -> Int? {
        kept.firstIndex { $0.source == source && $0.fields == fields }
    }
}

/// A query whose figures took a long time.
struct FigureWish: Equatable {
    let database: DatabaseID
    let query: Query
    let fields: [FieldPath]
}

// MARK: - Changes

extension BlockFigures {
    /// Updates the blocks before a row is overwritten or removed.
    func replace(
        _ row: Int64, _ change: DocumentChange, _ connection: Connection
    ) throws(StoreError) {
        let blocks = concerned(change)
        if blocks.isEmpty { return }
        let statement = try connection.statement(.documentByID)
        defer { statement.release() }
        statement.bind(1, row)
        var old: EncodedFields?
        // A document of another kind than found is in no index.
        if try statement.step(), statement.isFound(in: change.collection.id) {
            old = EncodedFields(trusted: statement.blob(4))
        }
        update(blocks, row, change, from: old)
    }

    /// Updates the blocks after a row was inserted.
    func add(_ row: Int64, _ change: DocumentChange) {
        let blocks = concerned(change)
        if !blocks.isEmpty { update(blocks, row, change, from: nil) }
    }

    private typealias Concerned = (FigureBlocks, IndexDefinition?)

    private func concerned(_ change: DocumentChange) -> [Concerned] {
        var found: [Concerned] = []
        for blocks in kept {
            switch blocks.source {
            case .names(let collection):
                if collection == change.collection.id { found.append((blocks, nil)) }
            case .entries(let index, let scope):
                guard scope == 0 || scope == change.collection.id,
                    let known = change.collection.group.indexes.first(where: { $0.id == index })
                else { continue }
                found.append((blocks, known.definition))
            }
        }
        return found
    }

    private func update(
        _ blocks: [Concerned], _ row: Int64, _ change: DocumentChange, from old: EncodedFields?
    ) {
        let indexed = IndexedRow(
            id: row, collection: change.collection, name: change.name, path: change.path)
        for (blocks, definition) in blocks {
            func keys(_ fields: EncodedFields) -> [[UInt8]] {
                definition?.keys(of: fields, indexed) ?? [change.name]
            }
            if let old {
                for key in keys(old) { blocks.remove(key, old) }
            }
            if let new = change.contents {
                for key in keys(new) { blocks.add(key, new) }
            }
            if blocks.isUneven { drop(blocks) }
        }
    }
}
