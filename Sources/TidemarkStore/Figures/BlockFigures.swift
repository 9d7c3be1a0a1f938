import TidemarkModel

/// Figures of blocks of neighbours in an index: with them those of any range of it are known by two looks at
/// its ends, however much lies between.
///
/// In memory, for few indexes at a time: those that were asked for last. Made in slices like an index, kept
/// with every document that is written, and forgotten where a transaction is undone.
final class BlockFigures {
    /// In the order of their last use.
    private var kept: [FigureBlocks] = []
    private var wishes: [FigureWish] = []

    /// How many there are at most; and how many wait to be made.
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

    /// Those of a source, if they are whole.
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

    /// The next that is to be filled.
    var unfinished: FigureBlocks? { kept.first { !$0.isReady } }

    func drop(_ blocks: FigureBlocks) { kept.removeAll { $0 === blocks } }

    private func place(_ source: FigureBlocks.Source, _ fields: [FieldPath]) -> Int? {
        kept.firstIndex { $0.source == source && $0.fields == fields }
    }
}

/// A query whose figures took long.
struct FigureWish: Equatable {
    let database: DatabaseID
    let query: Query
    let fields: [FieldPath]
}

// MARK: - Changes

extension BlockFigures {
    /// Before a row is written over or removed.
    func replace(
        _ row: Int64, _ change: DocumentChange, _ connection: Connection
    ) throws(StoreError) {
        let blocks = concerned(change)
        if blocks.isEmpty { return }
        let statement = try connection.statement(.documentByID)
        defer { statement.release() }
        statement.bind(1, row)
        var old: EncodedFields?
        // A document that is not found is in no index.
        if try statement.step(), statement.isFound(in: change.collection.id) {
            old = EncodedFields(trusted: statement.blob(4))
        }
        update(blocks, row, change, from: old)
    }

    /// After a row was inserted.
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
