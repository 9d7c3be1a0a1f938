import Foundation
import TidemarkModel

/// A document in a query's order, with the values it is ordered by taken out once.
///
/// A class, so that moving rows of a sorted array moves one word each; immutable.
final class ViewRow: Sendable {
    let document: ViewDocument
    fileprivate let sortKey: [Value]

    init(_ document: ViewDocument, _ fields: some FieldSource, _ order: RowOrder) {
        self.document = document
        sortKey = order.orders.map { $0.field.isDocumentID ? .null : fields[$0.field] ?? .null }
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

    init(_ query: Query) { orders = query.normalizedOrders }

    /// Never equal for two paths: the orders end with the document's name.
    func precedes(_ left: ViewRow, _ right: ViewRow) -> Bool {
        for (index, order) in orders.enumerated() {
            let result =
                order.field.isDocumentID
                ? DocumentPath.compare(left.path, right.path)
                : Value.compare(left.sortKey[index], right.sortKey[index])
            guard result != .equal else { continue }
            return (result == .ascending) == (order.direction == .ascending)
        }
        return false
    }
}

/// Rows in a query's order, found by path too. Insertion and removal cost a binary search and
/// moving a word a row; many insertions at once move each word once.
struct DocumentSet: Equatable, Sendable {
    let order: RowOrder
    private(set) var rows: [ViewRow] = []
    private var byPath: [DocumentPath: ViewRow] = [:]

    init(_ order: RowOrder) { self.order = order }

    var count: Int { rows.count }
    subscript(path: DocumentPath) -> ViewRow? { byPath[path] }

    mutating func insert(_ row: ViewRow) {
        if let old = byPath.updateValue(row, forKey: row.path) { removeFromRows(old) }
        // Rows mostly come in order.
        if let last = rows.last, order.precedes(last, row) {
            rows.append(row)
        } else {
            rows.insert(row, at: position(of: row, before: rows.count))
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
        rows.insert(sorted, before: positions.reversed())
    }

    mutating func remove(_ path: DocumentPath) {
        guard let row = byPath.removeValue(forKey: path) else { return }
        removeFromRows(row)
    }

    private mutating func removeFromRows(_ row: ViewRow) {
        let index = position(of: row, before: rows.count)
        precondition(rows[index] === row, "the rows are out of order")
        rows.remove(at: index)
    }

    /// Of the first row that does not come before `row`.
    private func position(of row: ViewRow, before end: Int) -> Int {
        var low = 0
        var high = end
        while low < high {
            let middle = (low + high) / 2
            if order.precedes(rows[middle], row) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension [ViewRow] {
    /// Inserts each element before the one that has its position now.
    ///
    /// The words of the array are moved as words: moving them as references would count each twice, which
    /// for a large array takes longer than all else.
    ///
    /// - Precondition: The positions rise.
    fileprivate mutating func insert(_ new: [ViewRow], before positions: [Int]) {
        let count = count
        append(contentsOf: new)
        withUnsafeMutableBufferPointer { buffer in
            guard let base = UnsafeMutableRawPointer(buffer.baseAddress) else { return }
            let width = MemoryLayout<ViewRow>.stride
            func address(_ index: Int) -> UnsafeMutableRawPointer { base + index * width }
            let added = UnsafeMutableRawPointer.allocate(
                byteCount: new.count * width, alignment: MemoryLayout<ViewRow>.alignment)
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
