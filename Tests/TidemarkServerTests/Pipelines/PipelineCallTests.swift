import Testing
import TidemarkModel
import TidemarkServer

struct PipelineCallTests {
    let server: TestServer

    init() throws {
        server = try TestServer.enterprise()
        try server.commit(
            set("c/a", ["n": .integer(1), "k": .string("x")]),
            set("c/b", ["n": .integer(2), "k": .string("y")]),
            set("c/d", ["n": .integer(3), "k": .string("x")]),
            set("c/a/c/e", ["n": .integer(4)]), set("other/f", ["n": .integer(5)]))
    }

    @Test func `rows have their documents' names, fields and times`() throws {
        let parts = try server.execute(.collection("c"), .sort("n"))
        #expect(parts.ids == ["a", "b", "d"])
        let stored = try server.get("c/a")
        let row = try #require(parts.rows.first)
        #expect(row.path == stored.path && row.fields == stored.fields)
        #expect(row.createTime == stored.createTime && row.updateTime == stored.updateTime)
        #expect(parts.allSatisfy { $0.executionTime != nil && $0.transaction == nil })
    }

    @Test func `every source reads its own documents`() throws {
        func ids(_ stage: Pipeline.Stage) throws -> [String] {
            try server.execute(stage).ids.sorted()
        }
        #expect(try ids(.collection("c")) == ["a", "b", "d"])
        #expect(try ids(.collection("c/a/c")) == ["e"])
        #expect(try ids(.group("c")) == ["a", "b", "d", "e"])
        #expect(try ids(Pipeline.Stage(name: "database")) == ["a", "b", "d", "e", "f"])
        #expect(
            try ids(.documents("c/d", "c/missing", "other/f")) == ["d", "f"])
        #expect(try ids(.collection("nowhere")).isEmpty)
    }

    @Test func `a row that no longer belongs to a document has no name`() throws {
        let parts = try server.execute(.collection("c"), .select("n"), .sort("n"))
        #expect(parts.rows.map(\.fields) == [1, 2, 3].map { ["n": .integer($0)] })
        #expect(parts.rows.allSatisfy { $0.path == nil && $0.updateTime == nil })
    }

    @Test func `an answer without rows has a time`() throws {
        let parts = try server.execute(.collection("c"), .filter(.equal("n", .integer(9))))
        #expect(parts.count == 1 && parts[0].rows.isEmpty && parts[0].executionTime != nil)
    }

    /// Two nested arrays make 10,000 rows for each document.
    private static let long: [Pipeline.Stage] = ["x", "y"].map { name in
        let hundred = (0..<100).map { Pipeline.Expression.constant(.integer($0)) }
        return Pipeline.Stage(name: "unnest", arguments: [.array(hundred), .field(name)])
    }

    @Test func `a pipeline that holds the server for long ends, and others go on`() throws {
        let never = Pipeline.Stage.filter(.equal("n", .integer(9)))
        #expect(try server.execute(.collection("c"), Self.long[0], Self.long[1], never).rows == [])
        // Each look at the clock takes three seconds.
        server.machine.tick = .seconds(3)
        let ended = #expect(throws: RPCStatus.self) {
            try server.execute(.collection("c"), Self.long[0], Self.long[1], never)
        }
        #expect(ended?.code == .deadlineExceeded)
        #expect(ended?.message.hasPrefix("The pipeline ran for 10 seconds") == true)
        let change = #expect(throws: RPCStatus.self) {
            try server.execute(.collection("c"), Self.long[0], Self.long[1], never, .delete)
        }
        #expect(change?.code == .deadlineExceeded)
        #expect(try server.execute(.collection("c")).ids == ["a", "b", "d"])
    }

    @Test func `a pipeline reads at a past time`() throws {
        let then = try #require(server.execute(.collection("c")).first?.executionTime)
        server.machine.advance(.seconds(5))
        try server.commit(
            set("c/a", ["n": .integer(10)]), delete("c/b"), set("c/g", ["n": .integer(0)]))
        #expect(try server.execute(.collection("c"), .sort("n")).ids == ["g", "d", "a"])
        let past = try server.execute(.collection("c"), .sort("n"), at: .at(then))
        #expect(past.ids == ["a", "b", "d"])
        #expect(past.rows.first?.fields["n"] == .integer(1))
        #expect(past.first?.executionTime == then)
        let filtered = try server.execute(
            .collection("c"), .filter(.equal("n", .integer(1))), at: .at(then))
        #expect(filtered.ids == ["a"])
    }

    @Test func `a new transaction is named in the first part, and locks what it read`() throws {
        let parts = try server.execute(
            .collection("c"), .limit(1), at: .newTransaction(.readWrite(retrying: nil)))
        let id = try #require(parts.first?.transaction)
        let blocked = server.startCommit(set("c/z", ["n": .integer(0)]))
        #expect(blocked.status == nil, "the write must wait for the transaction")
        let free = server.startCommit(set("other/z", ["n": .integer(0)]))
        #expect(free.status?.code == .ok)
        try server.commit(set("c/a", ["n": .integer(7)]), transaction: id)
        server.machine.run()
        #expect(blocked.status?.code == .ok)
    }

    @Test func `a pipeline in a transaction sees its time`() throws {
        let id = try server.begin(.readOnly(at: nil))
        server.machine.advance(.seconds(1))
        try server.commit(delete("c/a"))
        #expect(
            try server.execute(.collection("c"), .sort("n"), at: .transaction(id)).ids
                == ["a", "b", "d"])
    }

    @Test func `an optimistic transaction fails if a source has changed`() throws {
        let options = TransactionOptions.readWrite(retrying: nil, concurrency: .optimistic)
        func conflict(_ change: Mutation) throws -> RPCStatus.Code? {
            let parts = try server.execute(.collection("c"), at: .newTransaction(options))
            let id = try #require(parts.first?.transaction)
            server.machine.advance(.seconds(1))
            try server.commit(change)
            return refusal {
                try server.commit(set("other/x", [:]), transaction: id)
            }?.code
        }
        #expect(try conflict(set("other/y", [:])) == nil)
        #expect(try conflict(set("c/y", [:])) == .aborted)
    }

    @Test func `an order to commit needs a transaction`() throws {
        let refused = refusal { _ = try server.execute(.collection("c"), commits: true) }
        #expect(refused?.code == .invalidArgument)
        let id = try server.begin()
        _ = try server.execute(.collection("c"), at: .transaction(id), commits: true)
        #expect(refusal { try server.commit(transaction: id) }?.code != nil, "it has ended")
    }

    @Test func `documents read are billed, at least one`() throws {
        _ = try server.execute(.collection("c"), label: "all")
        #expect(server.reads("all") == 3)
        _ = try server.execute(.collection("nowhere"), label: "none")
        #expect(server.reads("none") == 1)
        _ = try server.execute(
            .collection("c"), options: explaining("explain"), label: "plan")
        #expect(server.reads("plan") == 1)
        let target = server.server.meter(by: [.target]).map(\.target)
        #expect(target.contains("c"))
    }

    @Test func `a plan has no rows, and an analysis has both`() throws {
        let plan = try server.execute(.collection("c"), options: explaining("explain"))
        #expect(plan.rows.isEmpty && plan.count == 1)
        #expect(plan.first?.explanation == "Plan:\n  collection\n")
        let analysis = try server.execute(
            .collection("c"), .filter(.equal("k", .string("x"))), options: explaining("analyze"))
        #expect(analysis.ids.sorted() == ["a", "d"])
        let text = try #require(analysis.last?.explanation)
        #expect(text.hasPrefix("Execution:\n  results returned: 2\n"))
        #expect(text.contains("  where: 2 rows"))
        let json = try server.execute(
            .collection("c"), options: explaining("analyze", as: "json")
        ).last?.explanation
        let value = try JSONValue(Array(try #require(json).utf8))
        guard case .integer(3)? = value.object?["execution"]?.object?["results_returned"] else {
            return #expect(Bool(false), "the rows are missing in \(String(describing: json))")
        }
        guard case .integer(1)? = value.object?["execution"]?.object?["read_units"],
            case .list(let stages)? = value.object?["stages"],
            stages.allSatisfy({ $0.object?["milliseconds"] != nil })
        else { return #expect(Bool(false), "the price or a time is missing in \(json ?? "")") }
        #expect(try server.execute(.collection("c")).last?.explanation == nil)
    }

    @Test(arguments: ["primary", "other"])
    func `only the primary index can be forced`(index: String) throws {
        var stage = Pipeline.Stage.collection("c")
        stage.options = [.init(key: "force_index", value: .constant(.string(index)))]
        let refused = refusal { _ = try server.execute(stage) }
        #expect(refused == (index == "primary" ? nil : .invalidArgument("Invalid index: other")))
    }

    @Test func `an error of a row fails the call without a part of it`() throws {
        let failing = Pipeline.Stage(
            name: "select",
            arguments: [
                .map([
                    .init(
                        key: "x",
                        value: .call("divide", .field("n"), .constant(.integer(0))))
                ])
            ])
        let call = server.start(
            .executePipeline(
                ExecutePipelineRequest(pipeline: Pipeline(stages: [.collection("c"), failing]))))
        #expect(call.replies.isEmpty)
        #expect(call.status?.code == .invalidArgument)
    }
}
