import Testing
import TidemarkModel

/// The recorded answers of production to odd queries. Source: server-production-facts 2.
struct QueryFactTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
        try server.commit(
            set("c/null", ["v": .null]), set("c/nan", ["v": .double(.nan)]),
            set("c/one", ["v": .integer(1)]), set("c/text", ["v": .string("x")]),
            set("c/list", ["v": .array([.integer(1), .null, .double(.nan)])]),
            set("c/none", [:]), set("c/one/sub/deep", ["v": .integer(1)]))
    }

    private static let v = FieldPath(unchecked: ["v"])

    private func ids(_ filter: Filter) throws -> [String] {
        var query = collection("c")
        query.filter = filter
        return try server.ids(query)
    }

    @Test(arguments: [
        Filter.field(v, .equal, .null), .field(v, .equal, .double(.nan)),
        .field(v, .notEqual, .null), .field(v, .lessThan, .double(.nan)),
        .field(v, .notIn, .array([.null, .integer(7)])), .field(v, .arrayContains, .null),
        .field(v, .arrayContains, .double(.nan)), .field(v, .arrayContains, .array([.integer(1)])),
        .field(v, .isIn, .array([.null])), .field(v, .isIn, .array([.double(.nan)])),
    ])
    func `a comparison with null or NaN finds nothing`(filter: Filter) throws {
        #expect(try ids(filter).isEmpty)
    }

    @Test func `unary filters find null and NaN`() throws {
        #expect(try ids(.unary(Self.v, .isNull)) == ["null"])
        #expect(try ids(.unary(Self.v, .isNaN)) == ["nan"])
        #expect(try ids(.unary(Self.v, .isNotNull)) == ["nan", "one", "text", "list"])
        #expect(try ids(.unary(Self.v, .isNotNaN)) == ["one", "text", "list"])
    }

    @Test func `a query without a collection reads every document`() throws {
        let query = Query(collectionID: nil, allDescendants: true)
        #expect(
            try server.query(query).compactMap(\.document?.path.text) == [
                "c/list", "c/nan", "c/none", "c/null", "c/one", "c/one/sub/deep", "c/text",
            ])
    }

    @Test func `an empty collection id reads the collections right below the parent`() throws {
        #expect(
            try server.ids(Query(collectionID: nil))
                == ["list", "nan", "none", "null", "one", "text"])
        #expect(try server.ids(Query(parent: path("c/one"), collectionID: nil)) == ["deep"])
    }

    @Test func `an empty composite filter is no filter`() throws {
        #expect(try ids(.and([])).count == 6)
        #expect(try ids(.or([])).count == 6)
    }

    @Test func `a cursor of another type than the values is on one side of them all`() throws {
        var query = collection("c")
        query.orders = [Order(Self.v)]
        query.filter = .field(Self.v, .greaterThanOrEqual, .integer(0))
        query.start = Cursor(values: [.string("")], before: true)
        #expect(try server.ids(query).isEmpty)
        query.start = Cursor(values: [.null], before: true)
        #expect(try server.ids(query) == ["one"])
        query.start = nil
        query.end = Cursor(values: [.string("")], before: true)
        #expect(try server.ids(query) == ["one"])
    }

    @Test func `a cursor without values is at the beginning`() throws {
        var query = collection("c")
        query.orders = [Order(Self.v)]
        query.start = Cursor(values: [], before: true)
        #expect(try server.ids(query) == ["null", "nan", "one", "text", "list"])
    }

    @Test func `a cursor may name what does not exist, or lies elsewhere`() throws {
        var query = collection("c")
        func start(_ name: String) throws -> [String] {
            let reference = ReferenceValue(database: server.database, path: path(name))
            query.start = Cursor(values: [.reference(reference)], before: true)
            return try server.ids(query)
        }
        #expect(try start("c/o") == ["one", "text"])
        #expect(try start("a/b").count == 6)
        #expect(try start("d/b").isEmpty)
        #expect(try start("c/__id-9223372036854775808__").count == 6)
    }

    @Test func `a limit of nothing is one reply with a read time`() throws {
        var query = collection("c")
        query.limit = .first(0)
        let replies = try server.query(query)
        #expect(replies.count == 1)
        #expect(replies[0].document == nil && replies[0].readTime != nil)
    }

    @Test func `a group below a document is served in the order of names`() throws {
        let below = Query(parent: path("c/one"), collectionID: "sub", allDescendants: true)
        #expect(try server.ids(below) == ["deep"])
        var ordered = below
        ordered.orders = [Order(Self.v)]
        #expect(
            refusal { _ = try server.query(ordered) }
                == .invalidArgument("collection group queries are only allowed at the root parent"))
    }

    @Test func `a reserved name in a read's mask is refused`() throws {
        let mask = [FieldPath(unchecked: ["a", "__x__"])]
        let refused = RPCStatus.invalidArgument("Invalid reserved name in field path __x__")
        let reads: [Request] = [
            .getDocument(GetDocumentRequest(path: path("c/one"), mask: mask)),
            .batchGetDocuments(BatchGetDocumentsRequest(paths: [path("c/one")], mask: mask)),
            .listDocuments(ListDocumentsRequest(collectionID: "c", mask: mask)),
            .createDocument(
                CreateDocumentRequest(
                    collection: path("c/one").parent, documentID: "new", fields: [:], mask: mask)),
            .updateDocument(
                UpdateDocumentRequest(path: path("c/new"), fields: [:], mask: mask)),
        ]
        for read in reads { #expect(refusal { _ = try server.replies(read) } == refused) }
        // The refused calls wrote no document.
        #expect(refusal { _ = try server.get("c/new") }?.code == .notFound)
        let name = GetDocumentRequest(path: path("c/one"), mask: [.documentID])
        guard case .document(let document)? = try server.replies(.getDocument(name)).first else {
            Issue.record("no document")
            return
        }
        #expect(document.fields == [:])
    }

    @Test func `a time long past is an invalid argument, for reads and for transactions`() throws {
        let past = Timestamp(seconds: 1, nanoseconds: 0)
        let begin = Request.beginTransaction(.readOnly(at: past))
        #expect(refusal { _ = try server.replies(begin) }?.code == .invalidArgument)
        #expect(
            refusal { _ = try server.query(collection("c"), at: .at(past)) }?.code
                == .invalidArgument)
    }
}
