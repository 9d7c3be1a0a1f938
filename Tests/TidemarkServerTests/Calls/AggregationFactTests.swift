import Testing
import TidemarkModel

/// The recorded answers of production to aggregations. Source: server-production-facts 5.
struct AggregationFactTests {
    let server: TestServer
    private static let d = FieldPath(unchecked: ["d"])
    private static let stock = FieldPath(unchecked: ["stock"])

    init() throws {
        server = try TestServer()
        try server.commit(
            set("c/1", ["d": .integer(.max)]), set("c/2", ["d": .integer(1)]),
            set("c/3", ["d": .integer(-101)]), set("c/4", ["d": .string("no number")]),
            set("c/5", [:]), set("c/6", ["other": .integer(1)]), set("c/1/sub/x", [:]))
    }

    private func run(
        _ query: Query, _ aggregations: [Aggregation], at consistency: ReadConsistency = .latest
    ) throws -> AggregationReply {
        let request = RunAggregationQueryRequest(
            query: query, aggregations: aggregations, consistency: consistency)
        return try server.aggregate(request)
    }

    private func figure(
        _ operation: Aggregation.Operator, of query: Query = collection("c")
    ) throws -> Value? {
        try run(query, [Aggregation(alias: "x", operation)]).values?["x"]
    }

    private func refused(_ aggregations: Aggregation...) -> RPCStatus? {
        refusal { _ = try run(collection("c"), aggregations) }
    }

    @Test func `documents that lack a field that is summed are not counted beside it`() throws {
        let count = Aggregation(alias: "n", .count(upTo: nil))
        #expect(try run(collection("c"), [count]).values == ["n": .integer(6)])
        let both = try run(collection("c"), [count, Aggregation(alias: "s", .sum(Self.d))])
        #expect(both.values?["n"] == .integer(4))
    }

    @Test func `only the final sum must fit an integer`() throws {
        #expect(try figure(.sum(Self.d)) == .integer(.max - 100))
        try server.commit(set("c/7", ["d": .integer(200)]))
        #expect(try figure(.sum(Self.d)) == .double(Double(Int64.max) + 100))
    }

    @Test func `a sum of nothing is 0, an average of nothing is null, NaN spoils both`() throws {
        #expect(try figure(.sum(Self.d), of: collection("none")) == .integer(0))
        #expect(try figure(.average(Self.d), of: collection("none")) == .null)
        #expect(try figure(.sum(FieldPath(unchecked: ["z"]))) == .integer(0))
        try server.commit(set("c/8", ["d": .double(.nan)]))
        #expect(try figure(.sum(Self.d)) == .double(.nan))
        #expect(try figure(.average(Self.d)) == .double(.nan))
    }

    /// Source: server-protocol 1.6, asserted by Google's own suite.
    @Test func `a limit takes the documents with the smallest values of what is summed`() throws {
        for row in 0..<20 {
            try server.commit(set("p/\(row)", ["stock": .integer(row < 15 ? 0 : 1)]))
        }
        for row in 0..<5 { try server.commit(set("p/x\(row)", ["stock": .integer(5)])) }
        var query = collection("p")
        query.limit = .first(17)
        #expect(try figure(.sum(Self.stock), of: query) == .integer(2))
        #expect(try figure(.average(Self.stock), of: query) == .double(2.0 / 17))
        query.orders = [Order(Self.stock, .descending)]
        #expect(try figure(.sum(Self.stock), of: query) == .integer(5 * 5 + 5))
    }

    @Test func `a count up to 0 reads nothing, as of before the epoch`() throws {
        let reply = try run(collection("c"), [Aggregation(alias: "n", .count(upTo: 0))])
        #expect(reply.values == ["n": .integer(0)])
        #expect(reply.readTime == Timestamp(seconds: -1, nanoseconds: 999_999_000))
        let two = try run(
            collection("c"),
            [Aggregation(alias: "n", .count(upTo: 0)), Aggregation(alias: "m", .count(upTo: 2))])
        #expect(two.values == ["n": .integer(0), "m": .integer(2)])
        #expect(two.readTime > Timestamp(seconds: 0, nanoseconds: 0))
    }

    @Test func `a query without a collection counts every document`() throws {
        let everything = Query(collectionID: nil, allDescendants: true)
        #expect(try figure(.count(upTo: nil), of: everything) == .integer(7))
    }

    @Test func `only aggregations without a name are numbered`() throws {
        let reply = try run(
            collection("c"),
            [
                Aggregation(alias: "", .count(upTo: 1)), Aggregation(alias: "x", .count(upTo: 1)),
                Aggregation(alias: "", .count(upTo: 2)),
            ])
        #expect(
            reply.values == ["field_1": .integer(1), "x": .integer(1), "field_2": .integer(2)])
    }

    @Test func `refusals are in production's words`() {
        let count = Aggregation(alias: "", .count(upTo: nil))
        #expect(refused() == .invalidArgument("Aggregations can not be empty."))
        #expect(
            refused(count, count, count, count, count, count)
                == RPCStatus(
                    .invalidArgument,
                    "The maximum number of aggregations allowed in an aggregation query is 5. "
                        + "Received: 6",
                    details: [
                        .errorInfo(
                            reason: "TOO_MANY_AGGREGATIONS", domain: "firestore.googleapis.com",
                            metadata: [:])
                    ]))
        let named = Aggregation(alias: "x", .count(upTo: nil))
        #expect(
            refused(named, named)
                == .invalidArgument("Aggregation aliases contain duplicate alias: x."))
        #expect(
            refused(Aggregation(alias: "x", .count(upTo: -1)))
                == .invalidArgument(
                    "The `up_to` value in a COUNT aggregation must be greater than or equal to "
                        + "zero."))
        let long = String(repeating: "a", count: 1_501)
        #expect(
            refused(Aggregation(alias: long, .count(upTo: nil)))
                == .invalidArgument("The property.name is longer than 1500 bytes."))
        #expect(
            refused(Aggregation(alias: "__x__", .count(upTo: nil)))
                == .invalidArgument("The property.name \"__x__\" is reserved."))
    }

    @Test func `a sum that no index can serve is refused`() throws {
        var query = collection("c")
        query.orders = [Order(.documentID)]
        query.limit = .first(1)
        #expect(
            refusal { _ = try run(query, [Aggregation(alias: "x", .sum(Self.d))]) }
                == .invalidArgument(
                    "This query requires an index with fields [d] after __name__ and Firestore "
                        + "does not currently support such an index. Please try the query again "
                        + "with additional ordering on those fields."))
    }
}
