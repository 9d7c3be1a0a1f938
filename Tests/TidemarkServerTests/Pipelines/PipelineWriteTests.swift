import Testing
import TidemarkModel
import TidemarkServer

/// Pipelines that change documents.
struct PipelineWriteTests {
    let server: TestServer

    init() throws {
        server = try TestServer.enterprise()
        try server.commit(
            set("c/a", ["n": .integer(1)]), set("c/b", ["n": .integer(2)]),
            set("c/d", ["n": .integer(3)]))
    }

    private static let few = Pipeline.Stage.filter(
        .call("less_than", .field("n"), .constant(.integer(3))))

    private static func adding(_ value: Int64) -> Pipeline.Stage {
        Pipeline.Stage(
            name: "update",
            arguments: [.map([.init(key: "m", value: .constant(.integer(value)))])])
    }

    @Test func `a delete removes what it finds, and says how much`() throws {
        let parts = try server.execute(.collection("c"), Self.few, .delete, label: "deleter")
        #expect(parts.rows.map(\.fields) == [["documents_modified": .integer(2)]])
        #expect(parts.rows.first?.path == nil)
        #expect(try server.ids(collection("c")) == ["d"])
        let row = try #require(server.server.meter().first { $0.label == "deleter" })
        #expect(row.deletes == 2 && row.reads >= 2)
    }

    @Test func `listeners hear of the changes in one commit`() throws {
        let listen = server.listen()
        _ = listen.add(ListenTarget(id: 2, .query(collection("c"))))
        _ = try server.execute(.collection("c"), Self.few, .delete)
        let changes = listen.take()
        let deletes = changes.filter { if case .documentDelete = $0 { true } else { false } }
        #expect(deletes.count == 2)
    }

    @Test func `an update replaces the rows' documents`() throws {
        _ = try server.execute(.collection("c"), Self.few, Self.adding(9))
        #expect(try server.get("c/a").fields == ["n": .integer(1), "m": .integer(9)])
        #expect(try server.get("c/d").fields == ["n": .integer(3)])
    }

    @Test func `a transaction of its own, or an open one, is committed with the changes`() throws {
        _ = try server.execute(
            .documents("c/a"), .delete, at: .newTransaction(.readWrite(retrying: nil)),
            commits: true)
        let id = try server.begin()
        _ = try server.get("c/b", at: .transaction(id))
        _ = try server.execute(.documents("c/b"), .delete, at: .transaction(id), commits: true)
        #expect(try server.ids(collection("c")) == ["d"])
        #expect(refusal { try server.commit(transaction: id) } != nil, "it has ended")
    }

    @Test func `changes wait for the locks of others`() throws {
        let id = try server.begin()
        _ = try server.get("c/a", at: .transaction(id))
        let request = ExecutePipelineRequest(
            pipeline: Pipeline(stages: [.collection("c"), Self.adding(1)]))
        let call = server.start(.executePipeline(request))
        #expect(call.status == nil)
        try server.commit(set("c/a", ["n": .integer(50)]), transaction: id)
        server.machine.run()
        #expect(call.status?.code == .ok)
        #expect(try server.get("c/a").fields == ["n": .integer(50), "m": .integer(1)])
    }

    @Test func `nothing is changed at a past time, read-only, or without a commit`() throws {
        let id = try server.begin()
        let moments: [ReadConsistency] = [
            .at(server.machine.now), .transaction(id), .newTransaction(.readWrite(retrying: nil)),
            .newTransaction(.readOnly(at: nil)),
        ]
        for moment in moments {
            let refused = refusal { _ = try server.execute(.collection("c"), .delete, at: moment) }
            #expect(refused?.code == .invalidArgument, "\(moment)")
        }
        #expect(try server.ids(collection("c")) == ["a", "b", "d"])
    }

    @Test func `a plan changes nothing`() throws {
        let parts = try server.execute(
            .collection("c"), .delete, options: explaining("explain"))
        #expect(parts.rows.isEmpty && parts.first?.explanation?.contains("delete") == true)
        #expect(try server.ids(collection("c")) == ["a", "b", "d"])
    }
}
