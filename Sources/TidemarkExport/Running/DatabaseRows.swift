import TidemarkModel

/// The documents of a database in the order of their names, as of a single time.
///
/// The documents are read in pages. So a connection receives at most a page ahead of its reader,
/// and the memory of a call is free after its end. Each page after the first is read at the read
/// time of the first: a server must keep that time for the duration of the export.
struct DatabaseRows {
    private let transport: any Transport
    private let context: CallContext
    private let pageSize: Int
    private var page: PacedRows?
    private var taken = 0
    private var last: DocumentPath?
    private var readTime: Timestamp?

    init(_ transport: any Transport, _ context: CallContext, pageSize: Int) {
        self.transport = transport
        self.context = context
        self.pageSize = pageSize
    }

    /// Returns the next document; nil at the end.
    ///
    /// - Throws: The status at the end of a call, unless it is ok; `cancelled` if the task is
    ///   cancelled.
    mutating func next() async throws(RPCStatus) -> Document? {
        while true {
            let page = page ?? PacedRows(transport, context, query: query, at: consistency)
            self.page = page
            if let document = try await page.next() {
                taken += 1
                last = document.path
                return document
            }
            guard taken == pageSize else { return nil }
            readTime = readTime ?? page.readTime
            guard readTime != nil else {
                throw RPCStatus(.internal, "The server's response has no read time.")
            }
            taken = 0
            self.page = nil
        }
    }

    private var query: Query {
        var query = Query(collectionID: nil, allDescendants: true, orders: [Order(.documentID)])
        query.limit = .first(pageSize)
        query.start = last.map { last in
            let name = ReferenceValue(database: context.database, path: last)
            return Cursor(values: [.reference(name)], before: false)
        }
        return query
    }

    private var consistency: ReadConsistency { readTime.map { .at($0) } ?? .latest }
}
