import TidemarkModel

/// Figures of blocks of adjacent entries in an index. They give the figures of any range of the
/// index by reading only its two ends, whatever the size of the range.
///
/// The blocks of the few indexes that were requested last are in memory. They are built in slices
/// like an index, updated with every written document, and dropped when a transaction is rolled
/// back.
final class BlockFigures {
    /// The blocks, in the order of their last use.
    private var kept: [FigureBlocks] = []
    private var wishes: [FigureWish] = []
    /// The figures that scans have found of ranges without blocks, oldest first.
    private var ranges: [RangeFigures] = []

    /// The maximum numbers of indexes with blocks, and of requests that wait. The maximum number of
    /// ranges is that of indexes.
    private static let most = 8, mostWishes = 16

    var isEmpty: Bool { kept.isEmpty && ranges.isEmpty }
    var isWanted: Bool { !wishes.isEmpty || kept.contains { !$0.isReady } }

    func forget() {
        kept = []
        wishes = []
        ranges = []
    }

    /// Keeps the figures that a scan has found of a range. The oldest range makes room for it.
    func keep(_ found: RangeFigures) {
        ranges.removeAll {
            $0.answers(found.source, range: found.range, fields: found.figures.fields)
        }
        if ranges.count >= Self.most { ranges.removeFirst() }
        ranges.append(found)
    }

    /// Returns the figures that a scan has found of a range; nil if no scan has read the range, or
    /// if blocks have replaced them.
    func found(
        _ source: FigureBlocks.Source, range: KeyRange, fields: [FieldPath]
    ) -> Figures? {
        ranges.first { $0.answers(source, range: range, fields: fields) }?.figures
    }

    /// Removes the figures of ranges that these complete blocks replace.
    func haveFilled(_ blocks: FigureBlocks) {
        ranges.removeAll { $0.source == blocks.source && $0.figures.fields == blocks.fields }
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
        _ row: Int64, change: DocumentChange, connection: Connection
    ) throws(StoreError) {
        let concerned = concerned(change)
        if concerned.isEmpty { return }
        let statement = try connection.statement(.documentByID)
        defer { statement.release() }
        statement.bind(1, row)
        var old: EncodedFields?
        // Only an existing document has keys in an index.
        if try statement.step(), statement.isFound(in: change.collection.id) {
            old = EncodedFields(trusted: statement.blob(4))
        }
        update(concerned, row: row, change: change, from: old)
    }

    /// Updates the blocks after a row was inserted.
    func add(_ row: Int64, _ change: DocumentChange) {
        let concerned = concerned(change)
        if !concerned.isEmpty { update(concerned, row: row, change: change, from: nil) }
    }

    /// The keys of a document in a source.
    private enum Keys {
        case name
        case index(IndexDefinition)

        func of(_ fields: EncodedFields, _ row: IndexedRow) -> [[UInt8]] {
            switch self {
            case .name: [row.name]
            case .index(let definition): definition.keys(of: fields, row)
            }
        }
    }

    /// The blocks and ranges that can contain a document.
    private struct Concerned {
        var blocks: [(FigureBlocks, Keys)] = []
        var ranges: [(RangeFigures, Keys)] = []

        var isEmpty: Bool { blocks.isEmpty && ranges.isEmpty }
    }

    private func concerned(_ change: DocumentChange) -> Concerned {
        var found = Concerned()
        for blocks in kept {
            if let keys = Self.keys(of: blocks.source, change) {
                found.blocks.append((blocks, keys))
            }
        }
        for range in ranges {
            if let keys = Self.keys(of: range.source, change) {
                found.ranges.append((range, keys))
            }
        }
        return found
    }

    /// Returns the keys of a document in a source; nil if the source cannot contain the document.
    private static func keys(
        of source: FigureBlocks.Source, _ change: DocumentChange
    ) -> Keys? {
        switch source {
        case .names(let collection):
            return collection == change.collection.id ? .name : nil
        case .entries(let index, let scope):
            guard scope == 0 || scope == change.collection.id else { return nil }
            let known = change.collection.group.indexes.first { $0.id == index }
            return known.map { .index($0.definition) }
        }
    }

    private func update(
        _ concerned: Concerned, row: Int64, change: DocumentChange, from old: EncodedFields?
    ) {
        let indexed = IndexedRow(
            id: row, collection: change.collection, name: change.name, path: change.path)
        for (blocks, keys) in concerned.blocks {
            if let old {
                for key in keys.of(old, indexed) { blocks.remove(key, old) }
            }
            if let new = change.contents {
                for key in keys.of(new, indexed) { blocks.add(key, new) }
            }
            if blocks.isUneven { drop(blocks) }
        }
        for (found, keys) in concerned.ranges {
            if let old, keys.of(old, indexed).contains(where: found.range.contains) {
                found.remove(old)
            }
            if let new = change.contents,
                keys.of(new, indexed).contains(where: found.range.contains)
            {
                found.add(new)
            }
        }
    }
}
