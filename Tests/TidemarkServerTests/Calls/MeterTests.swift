import Testing
import TidemarkModel
import TidemarkServer

struct MeterTests {
    let server: TestServer

    init() throws { server = try TestServer.withThree() }

    /// Returns the number of reads that were billed to one caller while `body` ran.
    private func billed(_ body: (String) throws -> Void) rethrows -> Int {
        let label = "caller"
        let before = server.reads(label)
        try body(label)
        return server.reads(label) - before
    }

    @Test func `a document looked up is one read, missing or not`() throws {
        #expect(try billed { _ = try server.get("c/a", label: $0) } == 1)
        #expect(billed { label in _ = refusal { _ = try server.get("c/no", label: label) } } == 1)
        let request = BatchGetDocumentsRequest(paths: [path("c/a"), path("c/a"), path("c/no")])
        #expect(
            try billed { _ = try server.replies(.batchGetDocuments(request), label: $0) } == 2)
    }

    @Test func `a query is one read a document and a skipped one, at least one`() throws {
        #expect(try billed { _ = try server.query(collection("c"), label: $0) } == 3)
        #expect(try billed { _ = try server.query(collection("no"), label: $0) } == 1)
        var query = collection("c")
        query.offset = 2
        #expect(try billed { _ = try server.query(query, label: $0) } == 3)
        query.offset = 0
        query.limit = .first(1)
        #expect(try billed { _ = try server.query(query, label: $0) } == 1)
    }

    @Test func `lists and collection ids`() throws {
        let list = ListDocumentsRequest(collectionID: "c")
        #expect(try billed { _ = try server.replies(.listDocuments(list), label: $0) } == 3)
        let ids = ListCollectionIDsRequest()
        #expect(try billed { _ = try server.replies(.listCollectionIDs(ids), label: $0) } == 1)
    }

    @Test func `an aggregation is one read a thousand entries begun`() throws {
        let sum = RunAggregationQueryRequest(
            query: collection("many"),
            aggregations: [Aggregation(alias: "s", .sum(FieldPath(unchecked: ["n"])))])
        #expect(try billed { _ = try server.replies(.runAggregationQuery(sum), label: $0) } == 1)
        let writes = (0..<1_500).map { set("many/\($0)", ["n": .integer(1)]) }
        _ = try server.replies(.commit(CommitRequest(mutations: writes)))
        #expect(try billed { _ = try server.replies(.runAggregationQuery(sum), label: $0) } == 2)
    }

    @Test func `a count is billed by the entries that match, whatever had to be looked at`() throws
    {
        let writes = (0..<2_500).map { set("many/\($0)", ["n": .integer(Int64($0))]) }
        _ = try server.replies(.commit(CommitRequest(mutations: writes)))
        var few = collection("many")
        few.filter = .field(FieldPath(unchecked: ["n"]), .greaterThanOrEqual, .integer(2_000))
        let count = RunAggregationQueryRequest(
            query: few, aggregations: [Aggregation(alias: "c", .count(upTo: nil))])
        #expect(try billed { _ = try server.replies(.runAggregationQuery(count), label: $0) } == 1)
        few.offset = 100
        let rest = RunAggregationQueryRequest(
            query: few, aggregations: [Aggregation(alias: "c", .count(upTo: nil))])
        #expect(try billed { _ = try server.replies(.runAggregationQuery(rest), label: $0) } == 1)
    }

    @Test func `a listen is billed as a query, then by change, and not for deletes`() throws {
        let caller = "listener"
        let listen = server.listen(label: caller)
        _ = listen.add(target(1, collection("c")))
        #expect(server.reads(caller) == 3)
        try server.commit(set("c/a", ["n": .integer(7)]), set("c/e", [:]))
        #expect(server.reads(caller) == 5)
        try server.commit(delete("c/e"))
        #expect(server.reads(caller) == 5)
        _ = listen.add(target(2, collection("none")))
        #expect(server.reads(caller) == 6)
        var small = collection("c")
        small.filter = .field(FieldPath(unchecked: ["n"]), .lessThan, .integer(3))
        _ = listen.remove(1)
        _ = listen.add(target(3, small))
        #expect(server.reads(caller) == 7)
        // The document leaves the target because of a change, which is billed as a read.
        try server.commit(set("c/b", ["n": .integer(30)]))
        #expect(server.reads(caller) == 8)
    }

    @Test func `a resume is billed for the changes, and after 30 minutes for the whole`() throws {
        let first = server.listen(label: "first")
        let token = token(first.add(target(1, collection("c"))))
        first.cancel()
        func resume(_ label: String) -> [String] {
            let listen = server.listen(label: label)
            defer { listen.cancel() }
            return brief(listen.add(target(1, collection("c"), from: .token(token))))
        }
        server.machine.advance(.seconds(29 * 60))
        _ = resume("unchanged")
        #expect(server.reads("unchanged") == 0)
        try server.commit(set("c/a", ["n": .integer(9)]), delete("c/b"))
        let told = ["ADD 1", "|", "a+1", "b deleted-1", "CURRENT 1", "|"]
        #expect(resume("soon") == told)
        #expect(server.reads("soon") == 1)
        server.machine.advance(.seconds(61))
        #expect(resume("late") == told)
        #expect(server.reads("late") == 2)
    }

    @Test func `what Google does not say of an unchanged resume is an option`() throws {
        var billing = Billing()
        billing.unchangedResumeReads = 1
        let other = try TestServer(billing: billing)
        try other.commit(set("c/a", [:]))
        let mark = token(other.listen().add(target(1, collection("c"))))
        _ = other.listen(label: "caller").add(target(1, collection("c"), from: .token(mark)))
        #expect(other.reads("caller") == 1)
    }

    @Test func `writes and deletes are counted, those that fail are not`() throws {
        try server.commit(
            set("c/a", [:]), set("c/a", [:]), delete("c/b"),
            Mutation(path: path("c/d"), .verify), label: "writer")
        _ = refusal { try server.commit(set("c/a", [:], .exists(false)), label: "writer") }
        let row = try #require(server.server.meter().first { $0.label == "writer" })
        #expect(row.writes == 2)
        #expect(row.deletes == 1)
        #expect(row.reads == 0)
    }

    @Test func `reads are counted by method too, and without a label as unlabelled`() throws {
        _ = try server.get("c/a")
        _ = try server.query(collection("c"))
        let row = try #require(server.server.meter().first { $0.label == "unlabelled" })
        #expect(row.readsByMethod == ["GetDocument": 1, "RunQuery": 3])
        #expect(row.reads == 4)
        #expect(row.writes == 3)
    }
}
