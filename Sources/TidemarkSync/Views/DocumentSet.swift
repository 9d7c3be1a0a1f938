import Foundation
import TidemarkModel

/// A document in a query's order, with its extracted sort values.
///
/// This is an immutable class, so a move within a sorted array moves one word per row.
final class ViewRow: Sendable {
    let document: ViewDocument
    fileprivate let sortKey: [Value]
    /// The bits order rows: rows with different bits have the same order as their bits.
    fileprivate let leadingBits: UInt64

    init(_ document: ViewDocument, fields: some FieldSource, order: RowOrder) {
        self.document = document
        sortKey = order.sortKey(fields)
        leadingBits = order.leadingBits(document.path, sortKey)
    }

    /// Creates the row of a found document.
    convenience init(_ document: LocalDocument, _ order: RowOrder) {
        self.init(document.shown, fields: document.contents, order: order)
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
    /// The fields of the orders before the name. A row's sort values are the values of these
    /// fields.
    private let fields: [FieldPath]
    /// The index of the name among the orders. The name is the last order with an effect.
    private let namePlace: Int
    /// True if all rows are in one collection, so their ids have the order of their paths.
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

    /// Returns true if `left` comes first. Two paths are never equal, because the orders end with
    /// the document's name.
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

/// Rows in a query's order, for display: the rows that the cache found, or the rows that a view
/// keeps and changes.
enum ShownRows: Equatable, Sendable {
    /// All of the documents are found.
    case found([LocalDocument])
    case kept([ViewRow])

    var count: Int {
        switch self {
        case .found(let documents): documents.count
        case .kept(let rows): rows.count
        }
    }

    /// The documents; this costs a pass over the rows.
    var documents: [ViewDocument] {
        switch self {
        case .found(let documents): documents.map { $0.shown }
        case .kept(let rows): rows.map(\.document)
        }
    }

    /// Returns the rows; this costs a pass over the documents if no rows were made yet.
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

/// Rows in a query's order, with a lookup by path. An insertion or a removal costs a binary search
/// and a move of two words per row. Many insertions together move each word once.
struct DocumentSet: Sendable {
    let order: RowOrder
    /// The result of a query of the cache, in the read form, until a caller looks up or changes a
    /// row. Many listens never do, and the creation of a row for each document took a third of
    /// their first answer.
    private var found: [LocalDocument] = []
    private(set) var rows: [ViewRow] = []
    /// The leading bits of each row. A search reads these words and not the rows.
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

    /// Stores the result of a query in the empty set.
    ///
    /// - Parameter documents: The found documents in the query's order, which is the order of the
    ///   rows.
    mutating func fill(with documents: [LocalDocument]) {
        precondition(count == 0)
        assert(isInOrder(documents.map { ViewRow($0, order) }), "a query out of order")
        found = documents
    }

    /// Makes rows of the found documents; call this before a row is looked up or changed.
    mutating func open() {
        if found.isEmpty { return }
        let new = found.map { ViewRow($0, order) }
        found = []
        // A damaged index on disk may return a wrong order.
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
        // Rows usually arrive in order.
        if let last = rows.last, order.precedes(last, row) {
            rows.append(row)
            leadingBits.append(row.leadingBits)
        } else {
            let index = position(of: row, before: rows.count)
            rows.insert(row, at: index)
            leadingBits.insert(row.leadingBits, at: index)
        }
    }

    /// - Precondition: The rows are absent from the set, and no two have the same path.
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
        // The loop goes from the last row to the first, and finds the position of each among the
        // present rows.
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

    /// Returns the index of the first row that does not come before `row`.
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
    /// Inserts each element before the element at the given position.
    ///
    /// The array's words are moved as raw words. A move as references would change the reference
    /// count of each element twice, which for a large array takes longer than the rest.
    ///
    /// - Precondition: The positions are in ascending order.
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
