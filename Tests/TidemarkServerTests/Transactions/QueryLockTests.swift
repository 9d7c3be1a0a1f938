import Testing
import TidemarkModel
import TidemarkServer

/// A query inside a transaction locks every document that it can ever return.
struct QueryLockTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
        try server.commit(
            set("c/a", ["n": .integer(1)]), set("c/b", ["n": .integer(2)]),
            set("c/x", ["n": .integer(50)]))
    }

    private static func query(_ change: (inout Query) -> Void = { _ in }) -> Query {
        var query = collection("c")
        query.filter = .field(FieldPath(unchecked: ["n"]), .lessThan, .integer(10))
        change(&query)
        return query
    }

    /// Runs `read` inside a transaction, and returns which of the writes then wait for its end.
    private func waiting(
        _ read: (ReadConsistency) -> Request, _ mutations: [Mutation]
    ) throws -> [Bool] {
        let id = try server.begin()
        _ = try server.replies(read(.transaction(id)))
        let writes = mutations.map { server.startCommit($0) }
        let result = writes.map { $0.status == nil }
        try server.commit(transaction: id)
        #expect(writes.allSatisfy { $0.status == .ok })
        return result
    }

    private func waiting(_ query: Query, _ mutations: Mutation...) throws -> [Bool] {
        try waiting(
            { .runQuery(RunQueryRequest(query: query, consistency: $0)) }, mutations)
    }

    @Test func `a write into an empty range waits`() throws {
        let empty = Query(
            collectionID: "empty",
            filter: .field(FieldPath(unchecked: ["n"]), .equal, .integer(7)))
        #expect(
            try waiting(
                empty, set("empty/new", ["n": .integer(7)]), set("empty/other", ["n": .integer(8)]),
                set("elsewhere/new", ["n": .integer(7)])) == [true, false, false])
    }

    @Test func `what joins, leaves or changes waits; what stays outside does not`() throws {
        #expect(
            try waiting(
                Self.query(), set("c/new", ["n": .integer(3)]), set("c/a", ["n": .integer(99)]),
                set("c/x", ["n": .integer(60)]), delete("c/b"),
                set("c/y", ["n": .string("text")])) == [true, true, false, true, false])
    }

    @Test func `order, cursors, offset and limit narrow nothing`() throws {
        let narrow = Self.query {
            $0.orders = [Order(FieldPath(unchecked: ["n"]))]
            $0.start = Cursor(values: [.integer(2)], before: true)
            $0.limit = .first(1)
            $0.offset = 1
        }
        #expect(
            try waiting(
                narrow, set("c/a", ["n": .integer(0)]), set("c/new", ["n": .integer(9)]),
                set("c/x", ["n": .integer(51)])) == [true, true, false])
    }

    @Test func `a patch that moves a document into the range waits`() throws {
        let patch = Mutation(
            path: path("c/x"), .patch(["n": .integer(5)], mask: [FieldPath(unchecked: ["n"])]))
        let increment = Mutation(
            path: path("c/x"), .patch([:], mask: []),
            transforms: [FieldTransform(FieldPath(unchecked: ["n"]), .increment(.integer(-45)))])
        #expect(try waiting(Self.query(), patch) == [true])
        try server.commit(set("c/x", ["n": .integer(50)]))
        #expect(try waiting(Self.query(), increment) == [true])
    }

    @Test func `groups and recursive scans lock at every depth`() throws {
        let group = Query(collectionID: "c", allDescendants: true)
        let deep = set("p/1/c/new", [:])
        #expect(try waiting(group, deep, set("p/1/d/new", [:])) == [true, false])
        let below = Query(
            parent: path("p/1"), collectionID: nil, allDescendants: true)
        #expect(try waiting(below, set("p/1/d/new", [:]), set("p/2/d/new", [:])) == [true, false])
    }

    @Test func `aggregations lock`() throws {
        #expect(
            try waiting(
                {
                    .runAggregationQuery(
                        RunAggregationQueryRequest(
                            query: Self.query(),
                            aggregations: [Aggregation(alias: "n", .count(upTo: 1))],
                            consistency: $0))
                }, [set("c/new", ["n": .integer(3)]), set("c/x", ["n": .integer(60)])])
                == [true, false])
    }

    @Test func `lists lock`() throws {
        #expect(
            try waiting(
                {
                    .listDocuments(
                        ListDocumentsRequest(collectionID: "c", pageSize: 1, consistency: $0))
                }, [set("c/zz", [:]), set("d/zz", [:])]) == [true, false])
    }

    @Test func `a query behind a write that would change it waits`() throws {
        let first = try server.begin()
        _ = try server.get("c/a", at: .transaction(first))
        let write = server.startCommit(set("c/a", ["n": .integer(5)]))
        let second = try server.begin()
        func start(_ query: Query) -> TestCall {
            server.start(
                .runQuery(RunQueryRequest(query: query, consistency: .transaction(second))))
        }
        let other = Query(
            collectionID: "c", filter: .field(FieldPath(unchecked: ["n"]), .equal, .integer(50)))
        #expect(start(other).status == .ok)
        let query = start(Self.query())
        #expect(query.status == nil)
        // A write that changes the query's result waits behind the query.
        let later = server.startCommit(set("c/later", ["n": .integer(6)]))
        #expect(later.status == nil)
        try server.commit(transaction: first)
        #expect(write.status == .ok && query.status == .ok && later.status == nil)
        #expect(query.replies.count == 2)
        try server.commit(transaction: second)
        #expect(later.status == .ok)
    }

    @Test func `other databases are not concerned`() throws {
        let id = try server.begin()
        _ = try server.query(collection("c"), at: .transaction(id))
        let heard = Heard<Reply>()
        let context = CallContext(database: try DatabaseID(project: "other"))
        let commit = CommitRequest(mutations: [set("c/a", [:])])
        _ = server.server.call(.commit(commit), context) { heard.receive($0) }
        server.machine.run()
        #expect(heard.status == .ok)
    }
}
