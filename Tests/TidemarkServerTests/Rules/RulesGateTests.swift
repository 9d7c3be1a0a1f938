import Foundation
import Testing
import TidemarkModel
import TidemarkRules
import TidemarkServer

struct `A server with rules` {
    private static let file = """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{database}/documents {
            match /notes/{id} {
              allow read: if resource.data.owner == request.auth.uid;
              allow create: if request.resource.data.owner == request.auth.uid
                && existsAfter(/databases/$(database)/documents/users/$(request.auth.uid));
              allow update: if request.resource.data.diff(resource.data).affectedKeys()
                .hasOnly(['text', 'count', 'at']) && request.resource.data.at == request.time;
              allow delete: if resource.data.owner == request.auth.uid;
            }
            match /users/{uid} { allow write: if uid == request.auth.uid; }
          }
        }
        """

    private func server(errors: RulesSettings.Errors = .explained) throws -> TestServer {
        let server = try TestServer()
        try server.commit(note("mine", owner: "ann"), note("other", owner: "bob"))
        server.server.setRules(RulesSettings(try Ruleset(Self.file), errors: errors))
        server.machine.run()
        return server
    }

    private func note(_ id: String, owner: String) throws -> Mutation {
        Mutation(
            path: try DocumentPath("notes/" + id), .set(["owner": .string(owner)]))
    }

    /// Returns an unsigned token, as test libraries make it.
    static func token(_ uid: String) -> String {
        func part(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacing("=", with: "")
                .replacing("+", with: "-").replacing("/", with: "_")
        }
        return part(#"{"alg":"none"}"#) + "." + part(#"{"sub":"\#(uid)","admin":true}"#) + "."
    }

    private func send(
        _ request: Request, as token: String?, to server: TestServer
    ) -> (replies: [Reply], status: RPCStatus?) {
        let heard = Heard<Reply>()
        let context = CallContext(database: server.database, token: token)
        _ = server.server.call(request, context) { heard.receive($0) }
        server.machine.run()
        return (heard.messages, heard.status)
    }

    private func code(
        _ request: Request, as uid: String?, _ server: TestServer
    ) -> RPCStatus.Code? {
        send(request, as: uid.map(Self.token), to: server).status?.code
    }

    private func get(_ path: String) throws -> Request {
        .getDocument(GetDocumentRequest(path: try DocumentPath(path), consistency: .latest))
    }

    private func commit(_ mutations: Mutation...) -> Request {
        .commit(CommitRequest(mutations: mutations, transaction: nil))
    }

    @Test func `lets in whom they let in`() throws {
        let server = try server()
        #expect(try code(get("notes/mine"), as: "ann", server) == .ok)
        #expect(try code(get("notes/other"), as: "ann", server) == .permissionDenied)
        #expect(try code(get("notes/mine"), as: nil, server) == .permissionDenied)
        #expect(try code(get("elsewhere/1"), as: "ann", server) == .permissionDenied)
        #expect(try send(get("notes/other"), as: "owner", to: server).status?.code == .ok)
        let other = try send(get("notes/other"), as: "nonsense", to: server).status
        #expect(other?.code == .invalidArgument)
    }

    @Test func `says why, or what production says`() throws {
        let sentence = "Missing or insufficient permissions."
        let explained = try send(get("notes/other"), as: Self.token("ann"), to: server()).status
        #expect(
            explained?.message
                == sentence
                + " False for 'get' at L5: resource.data.owner == request.auth.uid. At L5:22: resource.data.owner is 'bob', request.auth.uid is 'ann'."
        )
        let plain = try send(
            get("notes/other"), as: Self.token("ann"), to: server(errors: .production)
        ).status
        #expect(plain?.message == sentence)
    }

    @Test func `proves queries`() throws {
        let server = try server()
        func query(_ filter: Filter?) -> Request {
            .runQuery(
                RunQueryRequest(
                    query: Query(collectionID: "notes", filter: filter), consistency: .latest))
        }
        let mine = Filter.field(
            try FieldPath(segments: ["owner"]), .equal, .string("ann"))
        #expect(code(query(mine), as: "ann", server) == .ok)
        #expect(code(query(mine), as: "bob", server) == .permissionDenied)
        let all = send(query(nil), as: Self.token("ann"), to: server).status
        #expect(all?.code == .permissionDenied)
        #expect(all?.message.contains(#"Add .whereField("owner", isEqualTo: "ann")."#) == true)
    }

    @Test func `looks at a commit as a whole, and at each write`() throws {
        let server = try server()
        let mine = try note("new", owner: "ann")
        let profile = Mutation(
            path: try DocumentPath("users/ann"), .set(["name": .string("Ann")]))
        #expect(code(commit(mine), as: "ann", server) == .permissionDenied)
        #expect(code(commit(mine, profile), as: "bob", server) == .permissionDenied)
        #expect(
            try code(get("notes/new"), as: "ann", server) == .permissionDenied, "all or nothing")
        #expect(code(commit(mine, profile), as: "ann", server) == .ok)
        #expect(try code(get("notes/new"), as: "ann", server) == .ok)
        // The second write of the same document is an update.
        let twice = try note("twice", owner: "ann")
        #expect(code(commit(twice, twice), as: "ann", server) == .permissionDenied)
    }

    @Test func `ends listens that new rules refuse`() throws {
        let machine = try server()
        let server = machine.server
        let heard = Heard<ListenResponse>()
        let context = CallContext(database: machine.database, token: Self.token("ann"))
        let stream = server.listen(context) { heard.receive($0) }
        let kind = ListenTarget.Kind.documents([path("notes/mine")])
        stream.send(.add(ListenTarget(id: 2, kind), labels: [:]))
        machine.machine.run()
        #expect(!Self.hasRefusal(heard.take()))
        let rules = try Ruleset("service cloud.firestore { }")
        server.setRules(RulesSettings(rules))
        machine.machine.run()
        #expect(Self.hasRefusal(heard.take()))
        stream.send(.add(ListenTarget(id: 4, kind), labels: [:]))
        machine.machine.run()
        #expect(Self.hasRefusal(heard.take()), "a new one is refused at once")
        #expect(heard.status == nil, "the stream goes on")
    }

    private static func hasRefusal(_ responses: [ListenResponse]) -> Bool {
        responses.contains { response in
            guard case .targetChange(let change) = response else { return false }
            return change.kind == .remove && change.cause?.code == .permissionDenied
        }
    }

    @Test func `bills what the rules read, apart`() throws {
        let server = try server()
        let profile = Mutation(
            path: try DocumentPath("users/ann"), .set(["name": .string("Ann")]))
        #expect(code(commit(profile), as: "ann", server) == .ok)
        #expect(try code(commit(note("new", owner: "ann")), as: "ann", server) == .ok)
        let rows = server.server.meter(by: [.target]).filter { $0.target == "(rules)" }
        #expect(rows.map(\.reads) == [1])
    }
}
