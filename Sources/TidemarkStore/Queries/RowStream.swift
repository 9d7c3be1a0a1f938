import TidemarkModel

/// Rows one by one, looked up as they are asked for.
protocol RowStream: AnyObject {
    func next() throws(StoreError) -> QueryRow?
}

/// A row on its way, with its fields once they were decoded.
struct QueryRow {
    let id: Int64
    let document: StoredDocument
    var fields: MapValue?

    init(_ row: StoredRow) {
        id = row.id
        document = row.document
    }

    mutating func decoded() -> MapValue {
        if let fields { return fields }
        let result = document.contents.decoded
        fields = result
        return result
    }
}

/// How much was looked at.
final class ScanMeter {
    var scanned = 0
}

/// The rows of a statement over one range.
final class RangeStream: RowStream {
    private let connection: Connection
    private let statement: PreparedStatement
    private let meter: ScanMeter

    /// - Parameter statement: Bound, and released with the stream.
    init(_ statement: PreparedStatement, _ connection: Connection, _ meter: ScanMeter) {
        self.connection = connection
        self.statement = statement
        self.meter = meter
    }

    deinit { statement.release() }

    func next() throws(StoreError) -> QueryRow? {
        guard try statement.step() else { return nil }
        meter.scanned += 1
        return QueryRow(try connection.row(statement))
    }
}

/// At most one row.
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

/// One stream after the other, each opened when its turn comes.
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

/// Those that are rows of the query.
final class FilteredStream: RowStream {
    private let source: any RowStream
    private let query: CompiledQuery
    private let filter: CompiledFilter?

    init(_ source: any RowStream, _ query: CompiledQuery, _ filter: CompiledFilter?) {
        self.source = source
        self.query = query
        self.filter = filter
    }

    func next() throws(StoreError) -> QueryRow? {
        while var row = try source.next() {
            if query.matches(row.document.path, row.decoded(), filter) { return row }
        }
        return nil
    }
}
