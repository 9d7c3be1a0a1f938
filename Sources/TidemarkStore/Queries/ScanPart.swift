import TidemarkModel

/// Limits how many rows, or how much time, one slice of a scan may use.
package final class ScanBudget {
    private var rows: Int
    private let isOver: () -> Bool
    private var untilLook = ScanBudget.rowsBetweenLooks
    package private(set) var isSpent = false

    private static let rowsBetweenLooks = 64

    /// - Parameters:
    ///   - rows: The maximum number of rows to visit.
    ///   - isOver: Called after every 64 rows; returns true if the slice has taken long enough.
    package init(rows: Int, isOver: @escaping () -> Bool = { false }) {
        precondition(rows > 0)
        self.rows = rows
        self.isOver = isOver
    }

    package func spend(_ count: Int = 1) {
        rows -= count
        untilLook -= count
        if rows <= 0 { isSpent = true }
        guard untilLook <= 0 else { return }
        untilLook = Self.rowsBetweenLooks
        if isOver() { isSpent = true }
    }
}

/// The rows of one path of a plan, read one page at a time. Between two pages no statement is open,
/// so the store can be written.
struct ScanPart {
    enum Source {
        case point(DocumentPath)
        case entries(index: Int64, scope: Int64)
        case names(collection: Int64)
        /// A pass over the table, like ``TableStream``.
        ///
        /// If `isWhole` is true, a statement has all columns of a document.
        case table(collection: Int64, isWhole: Bool)
    }

    let source: Source
    let path: PlannedPath
    /// The unread part of the path's range.
    private var range: KeyRange
    /// The last row read in a pass over the table.
    private var row = Int64.min
    /// The number of the query's rows found in this part.
    var taken = 0

    init(_ source: Source, _ path: PlannedPath) {
        self.source = source
        self.path = path
        range = path.range
    }

    /// True if the index alone answers the query and no document has to be read.
    var isAnsweredByIndex: Bool {
        if case .entries = source { path.isExact } else { false }
    }
}

extension ScanPart {
    /// - Parameters:
    ///   - keysOnly: If true, rows consist of the document's number only. Requires
    ///     ``isAnsweredByIndex``.
    ///   - body: Receives a statement at each row, with ``OwnSQL``'s document columns (only the
    ///     first five in a pass over the table). Returns false to end the part.
    /// - Returns: True if the part is complete.
    mutating func read(
        _ table: DocumentTable, _ budget: ScanBudget, keysOnly: Bool = false,
        _ body: (PreparedStatement) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        let connection = table.connection
        switch source {
        case .point(let path): return try read(path, table, body)
        case .entries(let index, let scope):
            let page: OwnSQL = path.isReversed ? .entryPageReversed : .entryPage
            let statement = try connection.statement(keysOnly ? .entryKeys : page)
            defer { statement.release() }
            statement.bind(1, index)
            statement.bind(2, scope)
            statement.bind(3, range.lower)
            statement.bind(4, range.upper)
            return try read(
                statement, key: keysOnly ? 1 : 9, isReversed: !keysOnly && path.isReversed,
                budget: budget, body: body)
        case .names(let collection):
            let statement = try connection.statement(path.isReversed ? .namesReversed : .names)
            defer { statement.release() }
            statement.bind(1, collection)
            statement.bind(2, range.lower)
            statement.bind(3, range.upper)
            return try read(
                statement, key: 2, isReversed: path.isReversed, budget: budget, body: body)
        case .table(let collection, let isWhole):
            let statement = try connection.statement(isWhole ? .documentsOfTable : .rowsOfTable)
            defer { statement.release() }
            statement.bind(1, row)
            while try statement.step() {
                row = statement.integer(0)
                if statement.isFound(in: collection), !(try body(statement)) { return true }
                budget.spend()
                if budget.isSpent { return false }
            }
            return true
        }
    }

    /// - Parameter key: The column of the range's key.
    private mutating func read(
        _ statement: PreparedStatement, key: Int32, isReversed: Bool, budget: ScanBudget,
        body: (PreparedStatement) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        while try statement.step() {
            guard try body(statement) else { return true }
            budget.spend()
            guard budget.isSpent else { continue }
            if isReversed {
                range.upper = statement.blob(key)
            } else {
                // The range continues at the least key above this one.
                range.lower = statement.blob(key) + [0]
            }
            return false
        }
        return true
    }

    private func read(
        _ document: DocumentPath, _ table: DocumentTable,
        _ body: (PreparedStatement) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        guard let collection = try table.collection(of: document) else { return true }
        let statement = try table.connection.statement(.document)
        defer { statement.release() }
        statement.bind(1, collection.id)
        statement.bind(2, document.nameKey)
        if try statement.step(), statement.isFound(in: collection.id) { _ = try body(statement) }
        return true
    }
}
