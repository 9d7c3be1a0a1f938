import Testing
import TidemarkModel
import TidemarkRules
import TidemarkServer

struct `Listens are judged again` {
    private static let file = """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{db}/documents {
            match /own/{id} { allow read: if resource.data.owner == request.auth.uid; }
            match /team/{id} {
              allow read: if get(/databases/$(db)/documents/roles/$(request.auth.uid)).data.admin;
            }
            match /open/{id} { allow read; }
          }
        }
        """

    private func server(
        errors: RulesSettings.Errors = .explained, history: Duration = .seconds(3_600)
    ) throws -> TestServer {
        let server = try TestServer(history: history)
        try server.commit(
            set("own/a", ["owner": .string("ann"), "text": .string("hers")]),
            set("team/t", ["text": .string("plan")]), set("open/o", ["text": .string("public")]),
            set("roles/ann", ["admin": .boolean(true)]))
        server.server.setRules(RulesSettings(try Ruleset(Self.file), errors: errors))
        server.machine.run()
        return server
    }

    /// Starts a write as an administrator, to whom the rules do not apply. The machine has not run
    /// yet.
    private func begin(_ mutations: [Mutation], on server: TestServer) -> Heard<Reply> {
        let heard = Heard<Reply>()
        let context = CallContext(database: server.database, token: "owner")
        let request = Request.commit(CommitRequest(mutations: mutations, transaction: nil))
        _ = server.server.call(request, context) { heard.receive($0) }
        return heard
    }

    private func write(_ mutations: Mutation..., to server: TestServer) {
        let heard = begin(mutations, on: server)
        server.machine.run()
        #expect(heard.status?.code == .ok)
    }

    /// A user's listen stream.
    private final class Listen {
        let heard = Heard<ListenResponse>()
        let stream: any RequestStream<ListenRequest>
        let server: TestServer

        init(_ uid: String, _ server: TestServer) {
            let heard = heard
            self.server = server
            let context = CallContext(
                database: server.database, label: uid,
                token: `A server with rules`.token(uid), reportsUsage: true)
            stream = server.server.listen(context) { heard.receive($0) }
        }

        func add(_ id: Int32, _ kind: ListenTarget.Kind) -> [ListenResponse] {
            stream.send(.add(ListenTarget(id: id, kind), labels: [:]))
            return take()
        }

        func take() -> [ListenResponse] {
            server.machine.run()
            return heard.take()
        }
    }

    private func texts(_ responses: [ListenResponse]) -> [String] {
        responses.compactMap { response in
            guard case .documentChange(let change) = response,
                case .string(let text)? = change.document.fields["text"]
            else { return nil }
            return text
        }
    }

    /// Returns the targets that ended with `permissionDenied`.
    private func refused(_ responses: [ListenResponse]) -> [Int32] {
        responses.flatMap { response -> [Int32] in
            guard case .targetChange(let change) = response, change.kind == .remove,
                change.cause?.code == .permissionDenied
            else { return [] }
            return change.targetIDs
        }
    }

    private let team = ListenTarget.Kind.query(Query(collectionID: "team"))

    @Test func `a document that is somebody else's now is not sent`() throws {
        let server = try server()
        let ann = Listen("ann", server)
        #expect(texts(ann.add(1, .documents([path("own/a")]))) == ["hers"])
        #expect(texts(ann.add(2, .documents([path("open/o")]))) == ["public"])
        write(set("own/a", ["owner": .string("ann"), "text": .string("still")]), to: server)
        #expect(texts(ann.take()) == ["still"])

        write(
            set("own/a", ["owner": .string("bob"), "text": .string("secret")]),
            set("open/o", ["text": .string("beside")]), to: server)
        let news = ann.take()
        #expect(texts(news) == ["beside"], "the other target goes on")
        #expect(refused(news) == [1])
        write(set("own/a", ["owner": .string("bob"), "text": .string("secret 2")]), to: server)
        #expect(ann.take().isEmpty)
        #expect(ann.heard.status == nil, "the stream goes on")
    }

    @Test func `a document that is deleted is judged too`() throws {
        let server = try server()
        let ann = Listen("ann", server)
        _ = ann.add(1, .documents([path("own/a")]))
        write(Mutation(path: path("own/a"), .delete), to: server)
        #expect(refused(ann.take()) == [1])
    }

    @Test func `a query ends when what its rule has read changes`() throws {
        let server = try server()
        let ann = Listen("ann", server)
        #expect(texts(ann.add(1, team)) == ["plan"])
        #expect(server.reads("ann") == 2, "a row, and the role")
        write(set("roles/ann", ["admin": .boolean(true), "since": .integer(1)]), to: server)
        #expect(ann.take().isEmpty)
        #expect(server.reads("ann") == 3, "the role was read again")

        write(set("roles/ann", ["admin": .boolean(false)]), to: server)
        #expect(refused(ann.take()) == [1])
        write(set("team/t", ["text": .string("after")]), to: server)
        #expect(ann.take().isEmpty)
        #expect(server.reads("ann") == 4)
        ann.stream.cancel()
        server.machine.run()
        #expect(ann.heard.status?.billed?.reads == 4, "the stream's own bill has them")
    }

    @Test func `each commit of a turn is judged by what it left`() throws {
        let server = try server()
        let ann = Listen("ann", server)
        _ = ann.add(1, .documents([path("own/a")]))
        _ = ann.add(2, team)
        let commits: [[Mutation]] = [
            [set("own/a", ["owner": .string("ann"), "text": .string("one")])],
            [set("team/t", ["text": .string("two")])],
            [set("own/a", ["owner": .string("bob"), "text": .string("three")])],
            [set("roles/ann", ["admin": .boolean(false)]), set("team/t", ["text": .string("4")])],
            [set("own/a", ["owner": .string("ann"), "text": .string("five")])],
        ]
        for mutations in commits {
            _ = begin(mutations, on: server)
        }
        let news = ann.take()
        #expect(texts(news) == ["one", "two"])
        #expect(refused(news) == [1, 2])
    }

    @Test func `a reader without room is told nothing that it may not read any more`() throws {
        for history in [Duration.seconds(3_600), .zero] {
            let server = try server(history: history)
            let ann = Listen("ann", server)
            _ = ann.add(1, .documents([path("own/a")]))
            _ = ann.add(2, team)
            ann.stream.pause()
            server.machine.run()
            write(set("own/a", ["owner": .string("bob"), "text": .string("secret")]), to: server)
            write(set("roles/ann", ["admin": .boolean(false)]), to: server)
            write(set("team/t", ["text": .string("secret")]), to: server)
            #expect(ann.take().isEmpty)
            ann.stream.resume()
            let news = ann.take()
            #expect(texts(news).isEmpty)
            if ann.heard.status == nil { #expect(refused(news).sorted() == [1, 2]) }
        }
    }

    @Test func `a limited query is told nothing after it has ended`() throws {
        let server = try server()
        let ann = Listen("ann", server)
        var newest = Query(collectionID: "team")
        newest.limit = .first(1)
        #expect(texts(ann.add(1, .query(newest))) == ["plan"])
        for mutations in [
            [set("roles/ann", ["admin": .boolean(false)])], [set("team/a", ["text": .string("x")])],
        ] {
            _ = begin(mutations, on: server)
        }
        let news = ann.take()
        #expect(texts(news).isEmpty)
        #expect(refused(news) == [1])
    }

    @Test func `a database that is emptied is judged`() async throws {
        let server = try server()
        let ann = Listen("ann", server)
        _ = ann.add(1, .documents([path("own/a")]))
        _ = ann.add(2, .documents([path("open/o")]))
        server.server.clear(server.database) { #expect($0 == nil) }
        #expect(refused(ann.take()) == [1])
    }

    @Test func `an administrator goes on`() throws {
        let server = try server()
        let heard = Heard<ListenResponse>()
        let context = CallContext(database: server.database, token: "owner")
        let stream = server.server.listen(context) { heard.receive($0) }
        stream.send(.add(ListenTarget(id: 1, .documents([path("own/a")])), labels: [:]))
        server.machine.run()
        _ = heard.take()
        write(set("own/a", ["owner": .string("bob"), "text": .string("seen")]), to: server)
        server.machine.run()
        #expect(texts(heard.take()) == ["seen"])
    }

    // MARK: Past times

    private func code(
        _ request: Request, as uid: String, _ server: TestServer
    ) -> RPCStatus.Code? {
        let heard = Heard<Reply>()
        let context = CallContext(
            database: server.database, token: `A server with rules`.token(uid))
        _ = server.server.call(request, context) { heard.receive($0) }
        server.machine.run()
        return heard.status?.code
    }

    @Test func `a read at a past time is judged by what it returns`() throws {
        let server = try server()
        let early = server.machine.now
        server.machine.advance(.seconds(1))
        write(
            set("own/a", ["owner": .string("bob"), "text": .string("his")]),
            set("roles/bob", ["admin": .boolean(true)]), set("roles/ann", [:]), to: server)
        func get(_ consistency: ReadConsistency) -> Request {
            .getDocument(GetDocumentRequest(path: path("own/a"), consistency: consistency))
        }
        func batch(_ consistency: ReadConsistency) -> Request {
            .batchGetDocuments(
                BatchGetDocumentsRequest(paths: [path("own/a")], consistency: consistency))
        }
        func query(_ consistency: ReadConsistency) -> Request {
            .runQuery(
                RunQueryRequest(query: Query(collectionID: "team"), consistency: consistency))
        }
        func count(_ consistency: ReadConsistency) -> Request {
            .runAggregationQuery(
                RunAggregationQueryRequest(
                    query: Query(collectionID: "team"),
                    aggregations: [Aggregation(alias: "n", .count(upTo: nil))],
                    consistency: consistency))
        }
        for read in [get, batch, query, count] {
            #expect(code(read(.at(early)), as: "ann", server) == .ok, "hers then")
            #expect(code(read(.at(early)), as: "bob", server) == .permissionDenied)
            #expect(code(read(.latest), as: "ann", server) == .permissionDenied)
            #expect(code(read(.latest), as: "bob", server) == .ok, "his now")
            for (uid, expected) in [("ann", RPCStatus.Code.ok), ("bob", .permissionDenied)] {
                let token = `A server with rules`.token(uid)
                let old = try server.begin(.readOnly(at: early), token: token)
                #expect(code(read(.transaction(old)), as: uid, server) == expected)
            }
            let new = ReadConsistency.newTransaction(.readOnly(at: early))
            #expect(code(read(new), as: "bob", server) == .permissionDenied)
        }
    }

    // MARK: What refusals say

    @Test func `a refusal says nothing of the document, and the log says why`() throws {
        let server = try server(errors: .production)
        let bob = Listen("bob", server)
        let refusal = bob.add(1, .documents([path("own/a")])).compactMap { response in
            if case .targetChange(let change) = response { change.cause?.message } else { nil }
        }
        #expect(refusal == ["Missing or insufficient permissions."])
        let line = server.machine.log.last ?? ""
        #expect(line.contains("refused get of own/a to 'bob'"))
        #expect(line.contains("resource.data.owner is 'ann'"))
        #expect(server.server.judgedRequests().last?.reason.contains("'ann'") == true)
        for _ in 0..<100 { _ = code(.getDocument(.init(path: path("own/a"))), as: "bob", server) }
        let lines = server.machine.log.count { $0.hasPrefix("rules: refused") }
        #expect(lines == 20, "no more in a second")
        server.machine.advance(.seconds(1))
        _ = code(.getDocument(.init(path: path("own/a"))), as: "bob", server)
        #expect(server.machine.log.contains("rules: 81 more requests were refused."))
    }

    // MARK: Projects

    @Test func `a project may have rules of its own`() throws {
        let server = try server()
        let other = try DatabaseID(project: "other")
        func code(_ database: DatabaseID) -> RPCStatus.Code? {
            let heard = Heard<Reply>()
            let context = CallContext(database: database, token: `A server with rules`.token("ann"))
            let request = GetDocumentRequest(path: path("any/a"), consistency: .latest)
            _ = server.server.call(.getDocument(request), context) { heard.receive($0) }
            server.machine.run()
            return heard.status?.code
        }
        let open = """
            rules_version = '2'; service cloud.firestore { match /{p=**} { allow read; } }
            """
        let rules = RulesSettings(try Ruleset(open))
        try server.server.setRules(rules, of: "other")
        #expect(code(other) == .notFound)
        #expect(code(server.database) == .permissionDenied)
        #expect(server.server.rulesCoverage(of: "other")?.report.first?.answers.asked == 1)
        server.server.setRules(RulesSettings(try Ruleset("service cloud.firestore { }")))
        #expect(code(other) == .permissionDenied, "the file's rules are for all")
    }
}
