import Foundation
import TidemarkModel

/// A document in a query's order, with the values it is ordered by taken out once.
///
/// A class, so that moving rows of a sorted array moves one word each; immutable.
final class ViewRow: Sendable {
    let document: ViewDocument
    fileprivate let sortKey: [Value]
    /// Rows that differ in it are in its order.
    fileprivate let leadingBits: UInt64

    init(_ document: ViewDocument, _ fields: some FieldSource, _ order: RowOrder) {
        self.document = document
        sortKey = order.sortKey(fields)
        leadingBits = order.leadingBits(document.path, sortKey)
    }

    /// Of a document that is found.
    convenience init(_ document: LocalDocument, _ order: RowOrder) {
        self.init(document.shown, document.contents, order)
    }

    var path: DocumentPath { document.path }
}

extension ViewRow: Equatable {
    static func == (left: ViewRow, right: ViewRow) -> Bool {
        left === right || left.document == right.document
    }
}

/// The order of a query's rows.
struct RowOrder: Equatable, Sendable {
    let orders: [Order]
    /// Of the orders that are not by name: those that a row is looked up by.
    private let fields: [FieldPath]
    /// The place of the name among the orders, which is their last that decides anything.
    private let namePlace: Int
    /// Whether all rows are of one collection, so that their ids are in the order of their paths.
    private let isOfOneCollection: Bool

    init(_ query: Query) {
        orders = query.normalizedOrders
        namePlace = orders.firstIndex { $0.field.isDocumentID }!
        fields = orders[..<namePlace].map(\.field)
        isOfOneCollection = query.collection != nil
    }

    fileprivate func sortKey(_ source: some FieldSource) -> [Value] {
        var values: [Value] = []
        if fields.isEmpty { return values }
        values.reserveCapacity(fields.count)
        for field in fields { values.append(source[field] ?? .null) }
        return values
    }

    fileprivate func leadingBits(_ path: DocumentPath, _ sortKey: [Value]) -> UInt64 {
        guard let first = orders.first else { return 0 }
        let bits: UInt64
        if namePlace == 0 {
            bits = isOfOneCollection ? path.leadingIDBits : 0
        } else {
            bits = sortKey[0].leadingBits
        }
        return first.direction == .ascending ? bits : ~bits
    }

    /// Never equal for two paths: the orders end with the document's name.
    func precedes(_ left: ViewRow, _ right: ViewRow) -> Bool {
        if left.leadingBits != right.leadingBits { return left.leadingBits < right.leadingBits }
        for index in 0..<namePlace {
            let result = Value.compare(left.sortKey[index], right.sortKey[index])
            guard result != .equal else { continue }
            return (result == .ascending) == (orders[index].direction == .ascending)
        }
        let result = DocumentPath.compare(left.path, right.path)
        let wanted: Comparison =
            orders[namePlace].direction == .ascending ? .ascending : .descending
        return result == wanted
    }
}

/// Rows in a query's order, to be shown: what the cache found, or what a view keeps and changes.
enum ShownRows: Equatable, Sendable {
    /// All of them found.
    case found([LocalDocument])
    case kept([ViewRow])

    var count: Int {
        switch self {
        case .found(let documents): documents.count
        case .kept(let rows): rows.count
        }
    }

    /// Costs a pass over the rows.
    var documents: [ViewDocument] {
        switch self {
        case .found(let documents): documents.map { $0.shown }
        case .kept(let rows): rows.map(\.document)
        }
    }

    /// Likewise, and making each row where none is kept yet.
    func rows(_ order: RowOrder) -> [ViewRow] {
        switch self {
        case .found(let documents): documents.map { ViewRow($0, order) }
        case .kept(let rows): rows
        }
    }

    static func == (left: ShownRows, right: ShownRows) -> Bool {
        if case .kept(let left) = left, case .kept(let right) = right { return left == right }
        return left.count == right.count && left.documents == right.documents
    }
}

/// Rows in a query's order, found by path too. Insertion and removal cost a binary search and
/// moving two words a row; many insertions at once move each word once.
struct DocumentSet: Sendable {
    let order: RowOrder
    /// What a query of the cache found, as it was read, until somebody looks for a row or changes one.
    /// Many listens never do, and making a row of each document was a third of their first answer.
    private var found: [LocalDocument] = []
    private(set) var rows: [ViewRow] = []
    /// Of each row: a search goes through these words and not through the rows.
    private var leadingBits: [UInt64] = []
    private var byPath: [DocumentPath: ViewRow] = [:]

    init(_ order: RowOrder) { self.order = order }

    var count: Int { found.count + rows.count }
    var shown: ShownRows { found.isEmpty ? .kept(rows) : .found(found) }

    /// - Precondition: The rows were opened.
    subscript(path: DocumentPath) -> ViewRow? {
        precondition(found.isEmpty, "a look for a row before there are any")
        return byPath[path]
    }

    /// Puts what a query found into the empty set.
    ///
    /// - Parameter documents: In the order of the query, which is that of the rows; all found.
    mutating func fill(with documents: [LocalDocument]) {
        precondition(count == 0)
        assert(isInOrder(documents.map { ViewRow($0, order) }), "a query out of order")
        found = documents
    }

    /// Makes rows of what was found: to be called before one is looked for or changed.
    mutating func open() {
        if found.isEmpty { return }
        let new = found.map { ViewRow($0, order) }
        found = []
        // An index that the disk has damaged may be out of order.
        guard isInOrder(new) else {
            for row in new { insert(row) }
            return
        }
        byPath.reserveCapacity(new.count)
        for row in new { byPath[row.path] = row }
        rows = new
        leadingBits = new.map(\.leadingBits)
    }

    private func isInOrder(_ rows: [ViewRow]) -> Bool {
        zip(rows, rows.dropFirst()).allSatisfy(order.precedes)
    }

    mutating func insert(_ row: ViewRow) {
        if let old = byPath.updateValue(row, forKey: row.path) { removeFromRows(old) }
        // Rows mostly come in order.
        if let last = rows.last, order.precedes(last, row) {
            rows.append(row)
            leadingBits.append(row.leadingBits)
        } else {
            let index = position(of: row, before: rows.count)
            rows.insert(row, at: index)
            leadingBits.insert(row.leadingBits, at: index)
        }
    }

    /// - Precondition: None of them is there, and no two have one path.
    mutating func insert(contentsOf new: [ViewRow]) {
        guard new.count > 8 else {
            for row in new { insert(row) }
            return
        }
        for row in new {
            let old = byPath.updateValue(row, forKey: row.path)
            precondition(old == nil, "a row that is there already")
        }
        let sorted = new.sorted(by: order.precedes)
        // From the last to the first: where each goes among the rows that are there.
        var positions: [Int] = []
        positions.reserveCapacity(sorted.count)
        var end = rows.count
        for row in sorted.reversed() {
            end = position(of: row, before: end)
            positions.append(end)
        }
        positions.reverse()
        rows.insertWords(sorted, before: positions)
        leadingBits.insertWords(sorted.map(\.leadingBits), before: positions)
    }

    mutating func remove(_ path: DocumentPath) {
        guard let row = byPath.removeValue(forKey: path) else { return }
        removeFromRows(row)
    }

    private mutating func removeFromRows(_ row: ViewRow) {
        let index = position(of: row, before: rows.count)
        precondition(rows[index] === row, "the rows are out of order")
        rows.remove(at: index)
        leadingBits.remove(at: index)
    }

    /// Of the first row that does not come before `row`.
    private func position(of row: ViewRow, before end: Int) -> Int {
        var low = 0
        var high = end
        while low < high {
            let middle = (low + high) / 2
            let bits = leadingBits[middle]
            let precedes =
                bits == row.leadingBits
                ? order.precedes(rows[middle], row) : bits < row.leadingBits
            if precedes { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension DocumentSet: Equatable {
    static func == (left: DocumentSet, right: DocumentSet) -> Bool {
        left.order == right.order && left.shown == right.shown
    }
}

extension Array {
    /// Inserts each element before the one that has its position now.
    ///
    /// The words of the array are moved as words: moving them as references would count each twice, which
    /// for a large array takes longer than all else.
    ///
    /// - Precondition: The positions rise.
    fileprivate mutating func insertWords(_ new: [Element], before positions: [Int]) {
        let count = count
        append(contentsOf: new)
        withUnsafeMutableBufferPointer { buffer in
            guard let base = UnsafeMutableRawPointer(buffer.baseAddress) else { return }
            let width = MemoryLayout<Element>.stride
            func address(_ index: Int) -> UnsafeMutableRawPointer { base + index * width }
            let added = UnsafeMutableRawPointer.allocate(
                byteCount: new.count * width, alignment: MemoryLayout<Element>.alignment)
            defer { added.deallocate() }
            added.copyMemory(from: address(count), byteCount: new.count * width)
            var end = count
            for (index, position) in positions.enumerated().reversed() {
                let gap = index + 1
                memmove(address(position + gap), address(position), (end - position) * width)
                address(position + index).copyMemory(from: added + index * width, byteCount: width)
                end = position
            }
        }
    }
}
