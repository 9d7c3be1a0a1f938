import Foundation
import Testing
import TidemarkModel
import TidemarkRules

@testable import TidemarkServer

struct `The record of rules` {
    private let file = """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{database}/documents {
            match /notes/{id} {
              allow get: if resource.data.owner == request.auth.uid;
              allow write: if exists(/databases/$(database)/documents/users/$(request.auth.uid));
            }
          }
        }
        """

    private func server(
        _ settings: (inout RulesSettings) throws -> Void = { _ in }
    ) throws -> TestServer {
        let server = try TestServer()
        try server.commit(set("notes/a", ["owner": .string("ann")]), set("users/bob", [:]))
        var rules = RulesSettings(try Ruleset(file))
        try settings(&rules)
        server.server.setRules(rules)
        server.machine.run()
        return server
    }

    private func get(_ server: TestServer, as uid: String) {
        send(
            .getDocument(GetDocumentRequest(path: path("notes/a"), consistency: .latest)), uid,
            server)
    }

    private func send(_ request: Request, _ uid: String, _ server: TestServer) {
        let token = `A server with rules`.token(uid)
        _ = server.server.call(
            request, CallContext(database: server.database, label: "test", token: token)
        ) { _ in }
        server.machine.run()
    }

    @Test func `has who asked for what, and why not`() throws {
        let server = try server()
        get(server, as: "ann")
        get(server, as: "bob")
        let requests = server.server.judgedRequests()
        #expect(requests.map(\.uid) == ["ann", "bob"])
        #expect(requests.map(\.isAllowed) == [true, false])
        #expect(requests.map(\.number) == [1, 2])
        #expect(requests[1].reason.contains("resource.data.owner is 'ann'"))
        #expect(requests[1].lines == [5])
        #expect(requests[0].label == "test" && requests[0].path == "notes/a")
        let answers = server.server.rulesCoverage()?.report.first?.answers
        #expect(answers?.allowed == 1 && answers?.denied == 1)
        server.server.clearRulesRecord()
        #expect(server.server.judgedRequests().isEmpty)
        #expect(server.server.rulesCoverage()?.report.first?.answers.asked == 0)
    }

    @Test func `has a bound in bytes, and the oldest leave`() throws {
        let caller = RulesCaller(
            uid: "ann", claims: MapValue([("text", .string(String(repeating: "c", count: 40_000)))])
        )
        let source = try Ruleset(file)
        var record = RulesRecord()
        let context = CallContext(database: try DatabaseID(project: "test"))
        for number in 1...500 {
            var judge = RulesJudge(source, as: caller, at: .epoch, of: NoDocuments())
            let judgement = try judge.judge(get: path("notes/\(number)"))
            _ = record.note(judgement, context: context, at: .epoch, source: source.source)
            #expect(record.bytes <= RulesRecord.maxBytes)
        }
        let kept = record.latest.map(\.number)
        #expect((200..<500).contains(kept.count), "\(kept.count)")
        #expect(kept == Array((1...500).suffix(kept.count)))
        record.clear()
        #expect(record.bytes == 0 && record.latest.isEmpty)
    }

    private struct NoDocuments: RulesDatabase {
        func fields(of document: DocumentPath) throws -> MapValue? { nil }
    }

    @Test func `says which requests other rules decide otherwise`() throws {
        let server = try server()
        get(server, as: "ann")
        get(server, as: "bob")
        let commit = CommitRequest(mutations: [set("notes/b", [:])], transaction: nil)
        send(.commit(commit), "bob", server)
        send(.commit(commit), "ann", server)
        // The document that the rules read is deleted now. Its recorded content still counts.
        let gone = Mutation(path: path("users/bob"), .delete)
        let admin = CallContext(database: server.database, token: "owner")
        let request = Request.commit(CommitRequest(mutations: [gone], transaction: nil))
        _ = server.server.call(request, admin) { _ in }
        server.machine.run()
        #expect(try server.server.flips(under: Ruleset(file)).isEmpty)
        let open = try Ruleset(
            file.replacing("allow get: if", with: "allow get: if request.auth != null || "))
        let flips = try server.server.flips(under: open)
        #expect(flips.map(\.request.number) == [2])
        #expect(flips.first?.isAllowed == true)
        let closed = try server.server.flips(under: Ruleset("service cloud.firestore { }"))
        #expect(closed.map(\.request.number) == [1, 3])
        #expect(closed.allSatisfy { !$0.isAllowed && !$0.reason.isEmpty })
    }

    @Test func `is bounded in number and in bytes`() throws {
        let server = try server()
        for _ in 0..<620 { get(server, as: "ann") }
        let requests = server.server.judgedRequests()
        #expect(requests.count == 500)
        #expect(requests.last?.number == 620)
        let large = String(repeating: "x", count: 100_000)
        send(
            .commit(
                CommitRequest(
                    mutations: [set("notes/b", ["t": .string(large)])], transaction: nil)),
            "bob", server)
        #expect(server.server.judgedRequests().last?.judgement == nil)
    }

    @Test func `logs what the rules debug`() throws {
        let server = try server {
            $0.rules = try Ruleset(
                file.replacing("== request.auth.uid", with: "== debug(request.auth.uid)"))
        }
        get(server, as: "bob")
        #expect(server.machine.log == ["rules: 5:44 debug(request.auth.uid) → 'bob'"])
    }

    @Test func `is not kept where nobody wants it`() throws {
        let server = try server { $0.isRecorded = false }
        get(server, as: "bob")
        #expect(server.server.judgedRequests().isEmpty)
        #expect(server.server.rulesCoverage() == nil)
    }

    @Test func `answers questions, and does nothing`() throws {
        let server = try server()
        server.server.resetMeter()
        let bob = RulesCaller(uid: "bob")
        let write = RulesQuestion.write([set("notes/b", [:])])
        let answer = try server.server.judge(write, as: bob, in: server.database)
        #expect(answer.isAllowed && answer.reads == 1 && !answer.trace.isEmpty)
        let refused = try server.server.judge(write, as: nil, in: server.database)
        #expect(!refused.isAllowed && !refused.reason.isEmpty)
        #expect(server.server.judgedRequests().isEmpty)
        #expect(server.server.meter().allSatisfy { $0.reads == 0 && $0.writes == 0 })
        let none = try TestServer()
        #expect(try none.server.judge(write, as: nil, in: none.database).isAllowed)
    }

    @Test func `is asked before what else is wrong with a commit is told`() throws {
        let server = try server()
        let update = Mutation(
            path: path("notes/missing"), .patch([:], mask: []), precondition: .exists(true))
        func code(_ uid: String) -> RPCStatus.Code? {
            let heard = Heard<Reply>()
            let context = CallContext(
                database: server.database, token: `A server with rules`.token(uid))
            let request = Request.commit(CommitRequest(mutations: [update], transaction: nil))
            _ = server.server.call(request, context) { heard.receive($0) }
            server.machine.run()
            return heard.status?.code
        }
        #expect(code("ann") == .permissionDenied, "whether it is there is nobody's business")
        #expect(code("bob") == .notFound)
    }
}
