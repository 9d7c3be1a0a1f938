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
            if let test, !(try connection.passes(statement, test.query, test.path)) { continue }
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

extension Connection {
    /// Whether the document of a row is one of the query, looked at where it lies.
    ///
    /// - Parameter statement: Selects what ``OwnSQL``'s document columns begin with, the fields too.
    func passes(
        _ statement: PreparedStatement, _ query: CompiledQuery, _ path: PlannedPath
    ) throws(StoreError) -> Bool {
        let fields = FieldsInPlace(statement.bytes(4))
        if let text = path.neededText, text.isMissing(in: fields) { return false }
        let filter = path.test
        if query.isOfOneCollection {
            let collection = try catalog.collection(id: statement.integer(1), self)
            return query.matches(
                inside: collection.document(named: statement.bytes(2))
                    ?? DocumentPath(unchecked: ""), fields, filter)
        }
        return query.matches(try self.path(statement), fields, filter)
    }
}

extension DocumentTable {
    /// A collection with fewer documents is read by their names, whatever else the table holds.
    private static let fewDocuments = 256
    /// At how many places of the table it is looked whose documents lie there.
    private static let places: Int64 = 32

    /// Whether at least half of all documents are of this collection, by a look at some of them: a pass over
    /// the table is then the fastest way to see them all.
    func fillsTable(_ collection: Int64) throws(StoreError) -> Bool {
        guard try holds(moreThan: Self.fewDocuments, in: collection) else { return false }
        let last = try lastRow()
        guard last > Self.places else { return false }
        let probe = try connection.statement(.collectionAtRow)
        defer { probe.release() }
        var own: Int64 = 0
        for place in 0..<Self.places {
            probe.bind(1, last / Self.places * place)
            if try probe.step(), probe.integer(0) == collection { own += 1 }
            probe.reset()
        }
        return 2 * own >= Self.places
    }

    /// Whether a collection has more documents than this, those that are known to be missing too.
    func holds(moreThan count: Int, in collection: Int64) throws(StoreError) -> Bool {
        let statement = try connection.statement(.nameAtOffset)
        defer { statement.release() }
        statement.bind(1, collection)
        statement.bind(2, count)
        return try statement.step()
    }

    /// The greatest number of a row; 0 without any.
    private func lastRow() throws(StoreError) -> Int64 {
        let statement = try connection.statement(.lastRow)
        defer { statement.release() }
        return try statement.step() ? statement.integer(0) : 0
    }
}
