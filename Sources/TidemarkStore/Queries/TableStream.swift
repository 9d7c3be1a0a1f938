import TidemarkModel

/// The documents of a collection as they lie in the file, with the others between them: one pass over the
/// table touches each page once, and looks nothing up by name.
final class TableStream: RowStream {
    private let collection: Int64
    private let connection: Connection
    private let statement: PreparedStatement
    private let meter: ScanMeter
    /// As of ``RangeStream``.
    private let test: (query: CompiledQuery, path: PlannedPath)?

    init(
        _ collection: Int64, _ connection: Connection, _ meter: ScanMeter,
        test: (query: CompiledQuery, path: PlannedPath)?
    ) throws(StoreError) {
        self.collection = collection
        self.connection = connection
        self.meter = meter
        self.test = test
        statement = try connection.statement(.rowsOfTable)
        statement.bind(1, Int64.min)
    }

    deinit { statement.release() }

    func next() throws(StoreError) -> QueryRow? {
        while try statement.step() {
            guard statement.isFound(in: collection) else { continue }
            guard meter.count() else { return nil }
            if let test, !(try test.query.passes(statement, test.path, connection)) { continue }
            if let row = try connection.row(id: statement.integer(0)) { return QueryRow(row) }
        }
        return nil
    }
}

extension PreparedStatement {
    /// Of a row that begins with ``OwnSQL``'s document columns: whether it is a document of a collection, and
    /// not one that is known to be missing.
    func isFound(in collection: Int64) -> Bool {
        integer(1) == collection && integer(3) == StoredDocument.Kind.found.rawValue
    }
}

extension CompiledQuery {
    /// Whether the document of a row is one of this query's, looked at where it lies.
    ///
    /// - Parameter statement: Selects what ``OwnSQL``'s document columns begin with, the fields too.
    func passes(
        _ statement: PreparedStatement, _ path: PlannedPath, _ connection: Connection
    ) throws(StoreError) -> Bool {
        let fields = FieldsInPlace(statement.bytes(4))
        if let text = path.neededText, text.isMissing(in: fields) { return false }
        let filter = path.test
        if isOfOneCollection {
            let collection = try connection.catalog.collection(
                id: statement.integer(1), connection)
            return matches(
                inside: collection.document(named: statement.bytes(2))
                    ?? DocumentPath(unchecked: ""), fields, filter)
        }
        return matches(try connection.path(statement), fields, filter)
    }
}
