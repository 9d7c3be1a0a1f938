import TidemarkModel

/// A document in a query's order, with the values it is ordered by taken out once.
///
/// A class, so that moving rows of a sorted array moves one word each; immutable.
final class ViewRow: Sendable {
    let document: ViewDocument
    fileprivate let sortKey: [Value]

    init(_ document: ViewDocument, _ fields: MapValue, _ order: RowOrder) {
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
/// moving a word a row.
struct DocumentSet: Equatable, Sendable {
    let order: RowOrder
    private(set) var rows: [ViewRow] = []
    private var byPath: [DocumentPath: ViewRow] = [:]

    init(_ order: RowOrder) { self.order = order }

    var count: Int { rows.count }
    subscript(path: DocumentPath) -> ViewRow? { byPath[path] }

    mutating func insert(_ row: ViewRow) {
        remove(row.path)
        byPath[row.path] = row
        // Rows mostly come in order.
        if let last = rows.last, order.precedes(last, row) {
            rows.append(row)
        } else {
            rows.insert(row, at: position(of: row))
        }
    }

    mutating func remove(_ path: DocumentPath) {
        guard let row = byPath.removeValue(forKey: path) else { return }
        let index = position(of: row)
        precondition(rows[index] === row, "the rows are out of order")
        rows.remove(at: index)
    }

    /// Of the first row that does not come before `row`.
    private func position(of row: ViewRow) -> Int {
        var low = 0
        var high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if order.precedes(rows[middle], row) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
