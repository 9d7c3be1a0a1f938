import TidemarkModel

/// A sequence of rows that are read on demand.
protocol RowStream: AnyObject {
    func next() throws(StoreError) -> QueryRow?
}

/// A row of a stream.
struct QueryRow {
    let id: Int64
    let document: StoredDocument

    init(_ row: StoredRow) {
        id = row.id
        document = row.document
    }
}

/// Counts the visited rows.
final class ScanMeter {
    var scanned = 0
    /// The maximum number of rows to visit.
    let limit: Int
    /// True if the maximum was reached, so the result is incomplete.
    private(set) var isCut = false

    init(limit: Int = .max) { self.limit = limit }

    /// - Returns: True if another row may be visited.
    func count() -> Bool {
        if scanned >= limit {
            isCut = true
            return false
        }
        scanned += 1
        return true
    }

    func cut() { isCut = true }
}

/// The rows of a statement over one range.
final class RangeStream: RowStream {
    private let connection: Connection
    private let statement: PreparedStatement
    private let meter: ScanMeter

    /// The test of each row on its encoded bytes. A row that fails is never decoded. Nil if every
    /// row matches.
    private let test: (query: CompiledQuery, path: PlannedPath)?

    /// - Parameters:
    ///   - statement: A bound statement, which the stream releases.
    ///   - test: The test of each row; nil if every row matches.
    init(
        _ statement: PreparedStatement, connection: Connection, meter: ScanMeter,
        test: (query: CompiledQuery, path: PlannedPath)?
    ) {
        self.connection = connection
        self.statement = statement
        self.meter = meter
        self.test = test
    }

    deinit { statement.release() }

    func next() throws(StoreError) -> QueryRow? {
        while try statement.step() {
            guard meter.count() else { return nil }
            if let test,
                !(try test.query.passes(statement, path: test.path, connection: connection))
            {
                continue
            }
            return QueryRow(try connection.row(statement))
        }
        return nil
    }
}

/// A stream of at most one row.
final class PointStream: RowStream {
    private var read: (() throws(StoreError) -> StoredRow?)?
    private let meter: ScanMeter

    init(_ meter: ScanMeter, _ read: @escaping () throws(StoreError) -> StoredRow?) {
        self.read = read
        self.meter = meter
    }

    func next() throws(StoreError) -> QueryRow? {
        guard let read else { return nil }
        self.read = nil
        meter.scanned += 1
        guard let row = try read(), row.document.kind == .found else { return nil }
        return QueryRow(row)
    }
}

/// Concatenates streams. Each is opened when it is reached.
final class ChainStream: RowStream {
    private var rest: ArraySlice<Int64>
    private var current: (any RowStream)?
    private let open: (Int64) throws(StoreError) -> any RowStream

    init(
        _ collections: [Int64], _ open: @escaping (Int64) throws(StoreError) -> any RowStream
    ) {
        rest = collections[...]
        self.open = open
    }

    func next() throws(StoreError) -> QueryRow? {
        while true {
            if let row = try current?.next() { return row }
            guard let id = rest.popFirst() else { return nil }
            current = nil
            current = try open(id)
        }
    }
}

/// The rows of a stream that match the query.
final class FilteredStream: RowStream {
    private let source: any RowStream
    private let query: CompiledQuery
    private let filter: CompiledFilter?

    init(_ source: any RowStream, query: CompiledQuery, filter: CompiledFilter?) {
        self.source = source
        self.query = query
        self.filter = filter
    }

    func next() throws(StoreError) -> QueryRow? {
        while let row = try source.next() {
            if query.matches(row.document.path, fields: row.document.contents, filter: filter) {
                return row
            }
        }
        return nil
    }
}
