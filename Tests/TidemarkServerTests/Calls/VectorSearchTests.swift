import Testing
import TidemarkModel

struct VectorSearchTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
        func row(_ color: String, _ vector: [Double]) -> MapValue {
            ["color": .string(color), "embedding": .vector(VectorValue(vector))]
        }
        try server.commit(
            set("c/a", row("red", [1, 2, 3])), set("c/b", row("red", [3, 4, 5])),
            set("c/d", row("blue", [1, 2, 3])), set("c/e", row("red", [1, 2])),
            set("c/f", ["color": .string("red")]))
    }

    private func search(
        _ change: (inout FindNearest) -> Void = { _ in }
    ) -> Query {
        var search = FindNearest(
            field: FieldPath(unchecked: ["embedding"]), vector: [1, 2, 3], measure: .cosine,
            limit: 10, distanceField: FieldPath(unchecked: ["distance"]))
        change(&search)
        var query = collection("c")
        query.findNearest = search
        return query
    }

    private func refused(_ query: Query) -> RPCStatus? {
        refusal { _ = try server.query(query) }
    }

    @Test func `the nearest rows come first, with their distance, past a filter`() throws {
        var query = search()
        query.filter = .field(FieldPath(unchecked: ["color"]), .equal, .string("red"))
        let rows = try server.query(query).compactMap(\.document)
        #expect(rows.map(\.path.id) == ["a", "b"])
        #expect(rows.map { $0.fields["distance"] } == [.double(0), .double(0.017292370176009153)])
        #expect(rows[0].fields["color"] == .string("red"))
        // Documents with equal distances are sorted by name.
        #expect(try server.ids(search()) == ["a", "d", "b"])
        #expect(try server.ids(search { $0.limit = 2 }) == ["a", "d"])
    }

    @Test func `a projection has the distance where it names it`() throws {
        var query = search()
        query.projection = [FieldPath(unchecked: ["color"]), FieldPath(unchecked: ["distance"])]
        #expect(
            try server.query(query)[0].document?.fields
                == ["color": .string("red"), "distance": .double(0)])
        query.projection = [FieldPath(unchecked: ["color"])]
        #expect(try server.query(query)[0].document?.fields == ["color": .string("red")])
    }

    @Test func `a search reads a past time and in a transaction`() throws {
        let before = try server.get("c/d").updateTime
        try server.commit(delete("c/d"))
        #expect(try server.ids(search(), at: .at(before)) == ["a", "d", "b"])
        #expect(try server.ids(search()) == ["a", "b"])
        #expect(
            try server.ids(search(), at: .newTransaction(.readOnly(at: before)))
                == ["a", "d", "b"])
    }

    @Test func `nothing near is one reply with a read time`() throws {
        let replies = try server.query(search { $0.vector = [1, 2, 3, 4] })
        #expect(replies.count == 1 && replies[0].readTime != nil && replies[0].document == nil)
    }

    @Test func `a hundred vectors looked at are one read`() throws {
        for batch in 0..<3 {
            let request = CommitRequest(
                mutations: (0..<50).map { row in
                    set("v/\(batch * 50 + row)", ["embedding": .vector(VectorValue([1, 1, 1]))])
                })
            _ = try server.replies(.commit(request))
        }
        var query = search { $0.limit = 5 }
        query.collectionID = "v"
        _ = try server.query(query, label: "vectors")
        #expect(server.reads("vectors") == 5 + 2)
    }

    @Test func `a window beside a search is refused in production's words`() throws {
        var query = search()
        query.limit = .first(3)
        #expect(refused(query) == .invalidArgument("A query limit cannot be used with FindNearest"))
        query = search()
        query.offset = 1
        #expect(
            refused(query) == .invalidArgument("A query offset cannot be used with FindNearest"))
        query = search()
        query.end = Cursor(values: [], before: true)
        #expect(refused(query) == .invalidArgument("A cursor cannot be used with FindNearest"))
    }

    @Test func `a search beyond its bounds is refused`() throws {
        #expect(refused(search { $0.limit = 0 })?.code == .invalidArgument)
        #expect(refused(search { $0.limit = 1_000 }) == nil)
        #expect(refused(search { $0.limit = 1_001 })?.code == .invalidArgument)
        #expect(refused(search { $0.vector = [] })?.code == .invalidArgument)
        let dimensions = { Array(repeating: 1.0, count: $0) }
        #expect(refused(search { $0.vector = dimensions(2_048) }) == nil)
        #expect(refused(search { $0.vector = dimensions(2_049) })?.code == .invalidArgument)
        #expect(refused(search { $0.vector = [.nan] })?.code == .invalidArgument)
        #expect(refused(search { $0.threshold = .nan })?.code == .invalidArgument)
        #expect(refused(search { $0.field = .documentID })?.code == .invalidArgument)
        #expect(refused(search { $0.vector = [0, 0, 0] })?.code == .failedPrecondition)
    }

    @Test func `a listen and an aggregation refuse a search`() throws {
        let listen = server.listen()
        let told = listen.add(ListenTarget(id: 2, .query(search())))
        guard case .targetChange(let change)? = told.last else {
            Issue.record("no target change")
            return
        }
        #expect(change.kind == .remove && change.cause?.code == .invalidArgument)
        let count = RunAggregationQueryRequest(
            query: search(), aggregations: [Aggregation(alias: "n", .count(upTo: nil))])
        let refused = refusal { _ = try server.replies(.runAggregationQuery(count)) }
        #expect(refused?.code == .invalidArgument)
    }
}
