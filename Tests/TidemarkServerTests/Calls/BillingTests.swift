import Testing
import TidemarkModel

@testable import TidemarkServer

/// The bill contains more than one read per document in some cases. The examples are Google's.
struct BillingTests {
    private func field(_ name: String) -> FieldPath { FieldPath(unchecked: [name]) }

    private func query(_ filters: Filter..., by orders: Order...) -> Query {
        Query(collectionID: "c", filter: .and(filters), orders: orders)
    }

    private func range(_ name: String) -> Filter {
        .field(field(name), .greaterThan, .integer(0))
    }

    @Test func `entries are billed where more than one field is a range`() {
        let name = Filter.field(.documentID, .equal, .string("a"))
        #expect(!query(range("a")).hasSeveralRangeFields)
        #expect(query(range("a"), range("b")).hasSeveralRangeFields)
        #expect(!query(range("a"), range("a")).hasSeveralRangeFields)
        #expect(!query(range("a"), by: Order(field("a"))).hasSeveralRangeFields)
        #expect(query(range("a"), by: Order(field("a")), Order(field("b"))).hasSeveralRangeFields)
        let equal = Filter.field(field("b"), .equal, .integer(1))
        #expect(!query(equal, by: Order(field("a")), Order(field("d"))).hasSeveralRangeFields)
        #expect(!query(range("a"), equal).hasSeveralRangeFields)
        // Every client adds the name as the last order.
        #expect(
            !query(range("a"), by: Order(field("a")), Order(.documentID)).hasSeveralRangeFields)
        #expect(query(range("a"), name).hasSeveralRangeFields)
        #expect(query(name, by: Order(field("a"))).hasSeveralRangeFields)
        #expect(query(range("a"), .unary(field("b"), .isNotNull)).hasSeveralRangeFields)
        #expect(!query(range("a"), .unary(field("b"), .isNull)).hasSeveralRangeFields)
        #expect(query(.or([range("a"), range("b")])).hasSeveralRangeFields)
    }

    @Test func `entries are a read a thousand begun, beside the documents`() {
        let several = query(range("a"), range("b"))
        func reads(_ query: Query, _ returned: Int, _ entries: Int) -> Int {
            Billing.reads(of: query, returned: returned, skipped: 0, entriesScanned: entries)
        }
        #expect(reads(several, 5, 1_001) == 7)
        #expect(reads(several, 5, 1_000) == 6)
        #expect(reads(several, 0, 0) == 1)
        #expect(reads(query(range("a")), 5, 1_001) == 5)
    }

    @Test func `aggregations and vectors as in the documentation's examples`() {
        #expect(Billing.aggregation(entries: 0) == 1)
        #expect(Billing.aggregation(entries: 1_000) == 1)
        #expect(Billing.aggregation(entries: 1_500) == 2)
        #expect(Billing.nearest(vectorEntries: 1_550, returned: 5) == 21)
    }

    @Test func `a query over two ranges pays for what it looked at`() throws {
        let server = try TestServer()
        for start in stride(from: 0, to: 1_200, by: 400) {
            let writes = (start..<start + 400).map {
                set("c/\($0)", ["a": .integer(1), "b": .integer($0 == 7 ? 1 : 0)])
            }
            _ = try server.replies(.commit(CommitRequest(mutations: writes)))
        }
        _ = try server.query(query(range("a"), range("b")), label: "two")
        // The bill contains one document and 1,200 entries of the first range.
        #expect(server.reads("two") == 3)
        _ = try server.query(query(range("b")), label: "one")
        #expect(server.reads("one") == 1)
    }

    @Test func `what is not documented is an option`() throws {
        var billing = Billing()
        billing.missingDocumentReads = 0
        billing.repeatedLookupReads = 1
        billing.verifyReads = 1
        let server = try TestServer(billing: billing)
        try server.commit(set("c/a", [:]))
        _ = refusal { _ = try server.get("c/no", label: "x") }
        #expect(server.reads("x") == 0)
        let batch = BatchGetDocumentsRequest(paths: [path("c/a"), path("c/a"), path("c/no")])
        _ = try server.replies(.batchGetDocuments(batch), label: "x")
        #expect(server.reads("x") == 2)
        try server.commit(Mutation(path: path("c/a"), .verify), label: "x")
        #expect(server.reads("x") == 3)
    }

    @Test func `half an hour counts from when the listener was cut`() throws {
        let server = try TestServer()
        try server.commit(set("c/a", [:]))
        try server.commit(set("c/b", [:]))
        let listen = server.listen(label: "first")
        let mark = token(listen.add(target(1, collection("c"))))
        // The client listens for two hours without a change.
        server.machine.advance(.seconds(7_200))
        listen.cancel()
        server.machine.advance(.seconds(29 * 60))
        let second = server.listen(label: "soon")
        _ = second.add(target(1, collection("c"), from: .token(mark)))
        #expect(server.reads("soon") == 0)
        second.cancel()
        server.machine.advance(.seconds(31 * 60))
        _ = server.listen(label: "late").add(target(1, collection("c"), from: .token(mark)))
        #expect(server.reads("late") == 2)
    }
}
