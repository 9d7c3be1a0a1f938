import TidemarkModel

/// The documents of a collection in file order. A pass over the whole table visits each page once
/// and needs no lookups by name.
final class TableStream: RowStream {
    private let collection: Int64
    private let connection: Connection
    private let statement: PreparedStatement
    private let meter: ScanMeter
    /// The test of each row, as in ``RangeStream``.
    private let test: (query: CompiledQuery, path: PlannedPath)?

    init(
        _ collection: Int64, connection: Connection, meter: ScanMeter,
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
            if let test,
                !(try test.query.passes(statement, path: test.path, connection: connection))
            {
                continue
            }
            if let row = try connection.row(id: statement.integer(0)) { return QueryRow(row) }
        }
        return nil
    }
}

extension PreparedStatement {
    /// Returns true if the row of ``OwnSQL``'s document columns is an existing document of a
    /// collection.
    func isFound(in collection: Int64) -> Bool {
        integer(1) == collection && integer(3) == StoredDocument.Kind.found.rawValue
    }
}

extension CompiledQuery {
    /// Returns true if the document of a row matches the query, tested on its encoded bytes.
    ///
    /// - Parameter statement: Selects the first of ``OwnSQL``'s document columns, including the
    ///   fields.
    func passes(
        _ statement: PreparedStatement, path: PlannedPath, connection: Connection
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
        return matches(try connection.path(statement), fields: fields, filter: filter)
    }
}
