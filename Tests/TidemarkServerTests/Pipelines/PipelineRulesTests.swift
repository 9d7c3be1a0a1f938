import Testing
import TidemarkModel
import TidemarkRules
import TidemarkServer

/// Security rules and pipelines: a pipeline is allowed if the rules allow all that it may read.
struct PipelineRulesTests {
    private static let file = """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{database}/documents {
            match /notes/{id} {
              allow get: if resource.data.owner == request.auth.uid;
              allow list: if resource.data.owner == request.auth.uid;
              allow write: if true;
            }
            match /open/{id} { allow read: if true; }
            match /{path=**}/posts/{id} { allow read: if true; }
          }
        }
        """

    let server: TestServer

    init() throws {
        server = try TestServer.enterprise()
        try server.commit(
            set("notes/mine", ["owner": .string("ann"), "n": .integer(1)]),
            set("notes/other", ["owner": .string("bob"), "n": .integer(2)]),
            set("open/o", ["n": .integer(3)]), set("open/o/posts/p", [:]))
        server.server.setRules(RulesSettings(try Ruleset(Self.file), errors: .explained))
        server.machine.run()
    }

    private func run(_ stages: Pipeline.Stage..., uid: String? = "ann") throws -> [String] {
        let request = ExecutePipelineRequest(pipeline: Pipeline(stages: stages))
        let token = uid.map { $0 == "owner" ? $0 : `A server with rules`.token($0) }
        var ids: [String] = []
        for case .executePipeline(let part) in try server.replies(
            .executePipeline(request), token: token)
        {
            ids += part.rows.compactMap(\.path?.id)
        }
        return ids
    }

    private func refused(_ stages: Pipeline.Stage..., uid: String? = "ann") -> RPCStatus? {
        let request = ExecutePipelineRequest(pipeline: Pipeline(stages: stages))
        let token = uid.map { `A server with rules`.token($0) }
        return refusal { _ = try server.replies(.executePipeline(request), token: token) }
    }

    private static let own = Pipeline.Stage.filter(.equal("owner", .string("ann")))

    @Test func `a leading where proves what the rules ask for`() throws {
        #expect(try run(.collection("notes"), Self.own) == ["mine"])
        #expect(try run(.collection("notes"), Self.own, .sort("n"), .limit(5)) == ["mine"])
        // A condition after a limit holds for what is returned.
        #expect(try run(.collection("notes"), .sort("n"), .limit(1), Self.own) == ["mine"])
        #expect(try run(.collection("open")) == ["o"])
        #expect(try run(.group("posts")) == ["p"])
    }

    @Test func `what is not proven is denied, and the reason is said`() throws {
        let without = try #require(refused(.collection("notes")))
        #expect(without.code == .permissionDenied)
        #expect(without.message.contains("owner"))
        let wrong = Pipeline.Stage.filter(.equal("owner", .string("bob")))
        #expect(refused(.collection("notes"), wrong)?.code == .permissionDenied)
        #expect(refused(.collection("notes"), Self.own, uid: nil)?.code == .permissionDenied)
        let computed = Pipeline.Stage.filter(
            .call("equal", .call("to_lower", .field("owner")), .constant(.string("ann"))))
        #expect(refused(.collection("notes"), computed)?.code == .permissionDenied)
        #expect(refused(Pipeline.Stage(name: "database"))?.code == .permissionDenied)
    }

    @Test func `a where after a stage that changes fields proves nothing`() throws {
        let renamed = Pipeline.Stage(
            name: "add_fields",
            arguments: [.map([.init(key: "owner", value: .constant(.string("ann")))])])
        #expect(refused(.collection("notes"), renamed, Self.own)?.code == .permissionDenied)
    }

    @Test func `not equal proves no field`() throws {
        let unequal = Pipeline.Stage.filter(
            .call("not_equal", .field("owner"), .constant(.string("bob"))))
        #expect(refused(.collection("notes"), unequal)?.code == .permissionDenied)
    }

    @Test func `documents by name are judged one by one`() throws {
        #expect(try run(.documents("notes/mine")) == ["mine"])
        #expect(refused(.documents("notes/mine", "notes/other"))?.code == .permissionDenied)
    }

    @Test func `every source of a union is judged as a whole`() throws {
        func union(_ stages: Pipeline.Stage...) -> Pipeline.Stage {
            Pipeline.Stage(name: "union", arguments: [.pipeline(Pipeline(stages: stages))])
        }
        #expect(
            try run(.collection("open"), union(.group("posts"))).sorted() == ["o", "p"])
        #expect(
            refused(.collection("open"), union(.collection("notes")))?.code == .permissionDenied)
    }

    @Test func `literals alone, and every change, are for administrators`() throws {
        let literals = Pipeline.Stage(
            name: "literals",
            arguments: [.map([.init(key: "a", value: .constant(.integer(1)))])])
        #expect(refused(literals)?.code == .permissionDenied)
        let denied = try #require(refused(.collection("notes"), Self.own, .delete))
        #expect(denied.code == .permissionDenied)
        #expect(denied.message.contains("administrators"))
        #expect(try run(.collection("notes"), .sort("n"), uid: "owner") == ["mine", "other"])
        _ = try run(.documents("notes/mine"), .delete, uid: "owner")
    }
}
