import Testing
import TidemarkModel

@testable import TidemarkServer

struct ExplainTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
        try server.commit(
            set("c/a", ["n": .integer(1), "m": .integer(1)]),
            set("c/b", ["n": .integer(2), "m": .integer(1)]),
            set("c/d", ["n": .integer(3)]))
    }

    private func explain(
        _ query: Query, analyze: Bool, label: String = "caller", server: TestServer? = nil
    ) throws -> [RunQueryReply] {
        let request = RunQueryRequest(query: query, explain: ExplainOptions(analyze: analyze))
        return try (server ?? self.server).replies(.runQuery(request), label: label).compactMap {
            if case .runQuery(let reply) = $0 { reply } else { nil }
        }
    }

    private func sum(analyze: Bool, label: String = "caller") throws -> AggregationReply {
        let request = RunAggregationQueryRequest(
            query: collection("c"),
            aggregations: [Aggregation(alias: "s", .sum(field("n")))],
            explain: ExplainOptions(analyze: analyze))
        return try server.aggregate(request, label: label)
    }

    private func billing(_ stats: ExecutionStats?) -> [String: String] {
        guard case .group(let details)? = stats?.debugStats["billing_details"] else { return [:] }
        return details.compactMapValues { if case .text(let text) = $0 { text } else { nil } }
    }

    @Test func `a plan has no documents, no figures of a run, and costs a read`() throws {
        let replies = try explain(
            Query(collectionID: "c", orders: [order("n DESC")]), analyze: false)
        #expect(replies.count == 1)
        #expect(replies[0].document == nil)
        #expect(
            replies[0].explain
                == ExplainMetrics(indexesUsed: [
                    IndexUse(queryScope: "Collection", properties: "(n DESC, __name__ DESC)")
                ]))
        #expect(server.reads("caller") == 1)
    }

    @Test func `an analysis has the documents, and the run's own counters at the end`() throws {
        server.machine.tick = .microseconds(40)
        let query = Query(collectionID: "c", filter: above("n"), offset: 1)
        let replies = try explain(query, analyze: true)
        #expect(replies.compactMap(\.document?.path.id) == ["d"])
        #expect(replies.dropLast().allSatisfy { $0.explain == nil })
        let metrics = try #require(replies.last?.explain)
        #expect(
            metrics.indexesUsed
                == [IndexUse(queryScope: "Collection", properties: "(n ASC, __name__ ASC)")])
        let stats = try #require(metrics.execution)
        #expect(stats.resultsReturned == 1)
        #expect(stats.readOperations == 2)
        #expect(Int(stats.readOperations) == server.reads("caller"))
        #expect(stats.duration == .microseconds(40))
        #expect(
            billing(stats) == [
                "documents_billable": "2", "index_entries_billable": "0", "small_ops": "0",
                "min_query_cost": "0",
            ])
        let plain = try server.query(query, label: "plain")
        #expect(plain.compactMap(\.document) == replies.compactMap(\.document))
    }

    @Test func `what was scanned is what the store looked at`() throws {
        let replies = try explain(collection("c"), analyze: true)
        let stats = try #require(replies.last?.explain?.execution)
        #expect(stats.debugStats["documents_scanned"] == .text("3"))
        #expect(stats.debugStats["index_entries_scanned"] == .text("3"))
    }

    @Test func `an analysis that finds nothing is one reply, and the minimum`() throws {
        let replies = try explain(collection("none"), analyze: true)
        #expect(replies.count == 1)
        #expect(replies[0].readTime != nil)
        let stats = try #require(replies[0].explain?.execution)
        #expect(stats.resultsReturned == 0)
        #expect(stats.readOperations == 1)
        #expect(billing(stats)["min_query_cost"] == "1")
    }

    @Test func `several ranges are billed by their entries, too`() throws {
        let query = Query(collectionID: "c", filter: .and([above("n"), above("m", .integer(0))]))
        let replies = try explain(query, analyze: true)
        let stats = try #require(replies.last?.explain?.execution)
        #expect(stats.resultsReturned == 1)
        #expect(stats.readOperations == 2)
        #expect(Int(stats.readOperations) == server.reads("caller"))
        #expect(billing(stats)["documents_billable"] == "1")
        let scanned = stats.debugStats["index_entries_scanned"]
        #expect(billing(stats)["index_entries_billable"].map { .text($0) } == scanned)
    }

    @Test func `an aggregation`() throws {
        let plan = try sum(analyze: false)
        #expect(plan.values == nil)
        #expect(plan.explain?.indexesUsed.map(\.properties) == ["(n ASC, __name__ ASC)"])
        #expect(plan.explain?.execution == nil)
        #expect(server.reads("caller") == 1)
        let run = try sum(analyze: true, label: "other")
        #expect(run.values?["s"] == .integer(6))
        let stats = try #require(run.explain?.execution)
        #expect(stats.resultsReturned == 1)
        #expect(stats.readOperations == 1)
        #expect(server.reads("other") == 1)
        #expect(billing(stats)["index_entries_billable"] == "3")
    }

    @Test func `a count by an index reads no document`() throws {
        let request = RunAggregationQueryRequest(
            query: collection("c"), aggregations: [Aggregation(alias: "n", .count(upTo: nil))],
            explain: ExplainOptions(analyze: true))
        let reply = try server.aggregate(request)
        #expect(reply.values?["n"] == .integer(3))
        #expect(reply.explain?.execution?.debugStats["documents_scanned"] == .text("0"))
        #expect(reply.explain?.execution?.debugStats["index_entries_scanned"] == .text("3"))
    }

    @Test func `a transaction begins with its own reply, explained or not`() throws {
        let request = RunQueryRequest(
            query: collection("c"), consistency: .newTransaction(.readOnly(at: nil)),
            explain: ExplainOptions(analyze: true))
        let replies = try server.replies(.runQuery(request))
        guard case .runQuery(let first)? = replies.first, case .runQuery(let last)? = replies.last
        else { throw RPCStatus(.internal, "no reply") }
        #expect(first.transaction != nil)
        #expect(last.explain?.execution?.resultsReturned == 3)
    }

    @Test func `without the index a strict server has no plan`() throws {
        let strict = try TestServer(indexes: IndexSettings(IndexConfiguration()))
        let query = Query(collectionID: "c", filter: equal("m"), orders: [order("n")])
        let status = refusal { _ = try explain(query, analyze: false, server: strict) }
        #expect(status == RPCStatus(.failedPrecondition, "no matching index found."))
        let run = refusal { _ = try explain(query, analyze: true, server: strict) }
        #expect(run?.message.hasPrefix("The query requires an index.") == true)
        // If the server enforces no indexes, the plan contains the indexes that production would
        // use.
        let replies = try explain(query, analyze: false)
        #expect(
            replies[0].explain?.indexesUsed.map(\.properties) == ["(m ASC, n ASC, __name__ ASC)"])
    }
}
