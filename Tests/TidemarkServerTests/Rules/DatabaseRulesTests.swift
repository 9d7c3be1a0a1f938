import Foundation
import Testing
import TidemarkModel
import TidemarkRules
import TidemarkServer

/// Rules and indexes of single databases. The ids are those of every project.
struct `A database with settings of its own` {
    private let open = "service cloud.firestore { match /{all=**} { allow read; } }"
    private let closed = "service cloud.firestore { }"
    private let server: TestServer

    init() throws { server = try TestServer() }

    private func context(_ database: String, project: String = "test") throws -> CallContext {
        CallContext(
            database: try DatabaseID(project: project, database: database),
            token: `A server with rules`.token("ann"))
    }

    private func ask(
        _ request: Request, _ database: String, project: String = "test"
    ) throws -> RPCStatus.Code? {
        let heard = Heard<Reply>()
        _ = server.server.call(request, try context(database, project: project)) {
            heard.receive($0)
        }
        server.machine.run()
        return heard.status?.code
    }

    private func read(_ database: String, project: String = "test") throws -> RPCStatus.Code? {
        try ask(.getDocument(GetDocumentRequest(path: path("c/a"))), database, project: project)
    }

    private func write(
        _ mutation: Mutation, _ database: String
    ) throws -> RPCStatus.Code? {
        try ask(.commit(CommitRequest(mutations: [mutation])), database)
    }

    private func settings(_ text: String) throws -> RulesSettings {
        RulesSettings(try Ruleset(text))
    }

    // MARK: Rules

    @Test func `is judged by its rules, and others by theirs`() throws {
        try server.server.setRules(settings(closed), of: .others)
        try server.server.setRules(settings(open), of: .database("second"))
        try server.server.setRules(nil, of: .database("third"))
        #expect(try read("(default)") == .permissionDenied)
        #expect(try read("second") == .notFound)
        #expect(try read("second", project: "another") == .notFound)
        #expect(try write(set("c/a", [:]), "second") == .permissionDenied)
        #expect(try write(set("c/a", [:]), "third") == .ok, "no rules allow everything")
        #expect(try read("fourth") == .permissionDenied, "nobody has set its rules")
        #expect(server.server.rules(of: nil, database: "second")?.rules.source.text == open)
        #expect(server.server.rules(of: nil, database: "third") == nil)
        #expect(server.server.rules?.rules.source.text == closed)
    }

    @Test func `has a coverage of its own`() throws {
        try server.server.setRules(settings(closed), of: .others)
        try server.server.setRules(settings(open), of: .database("second"))
        for _ in 0..<3 { _ = try read("second") }
        _ = try read("(default)")
        let own = server.server.rulesCoverage(database: "second")?.report
        #expect(own?.map(\.answers.allowed) == [3])
        #expect(server.server.rulesCoverage()?.report.isEmpty == true)
        server.server.clearRulesRecord()
        let cleared = server.server.rulesCoverage(database: "second")?.report
        #expect(cleared?.map(\.answers.asked) == [0])
    }

    @Test func `tries other rules on its own requests`() throws {
        try server.server.setRules(settings(closed), of: .others)
        try server.server.setRules(settings(open), of: .database("second"))
        _ = try read("second")
        _ = try read("(default)")
        func flipped(_ text: String, _ database: String?) throws -> [String] {
            try server.server.flips(under: try Ruleset(text), database: database)
                .map(\.request.database.database)
        }
        #expect(try flipped(open, nil) == ["(default)"])
        #expect(try flipped(closed, "second") == ["second"])
        #expect(try flipped(open, "second").isEmpty)
        #expect(try flipped(open, "elsewhere") == ["(default)"], "it has the rules of the others")
    }

    @Test func `loses its rules to those of a project, and of all`() throws {
        try server.server.setRules(settings(open), of: .database("second"))
        try server.server.setRules(settings(closed), of: "test")
        #expect(try read("second") == .permissionDenied)
        #expect(try read("second", project: "another") == .notFound)
        try server.server.setRules(settings(open), of: .database("second"))
        #expect(try read("second") == .notFound, "a new file replaces rules that a test has set")
        server.server.setRules(try settings(closed))
        #expect(try read("second") == .permissionDenied)
    }

    @Test func `ends its listens when its rules refuse them, and no others`() throws {
        try server.server.setRules(settings(open), of: .database("second"))
        let streams = try ["(default)", "second"].map { database in
            let heard = Heard<ListenResponse>()
            let stream = server.server.listen(try context(database)) { heard.receive($0) }
            stream.send(.add(ListenTarget(id: 1, .query(collection("c"))), labels: [:]))
            server.machine.run()
            _ = heard.take()
            return (heard, stream)
        }
        try server.server.setRules(settings(closed), of: .database("second"))
        server.machine.run()
        let refused = streams.map { heard, _ in
            heard.take().contains {
                if case .targetChange(let change) = $0 {
                    change.cause?.code == .permissionDenied
                } else {
                    false
                }
            }
        }
        #expect(refused == [false, true])
    }

    @Test func `is one of at most 1,000`() throws {
        for number in 0..<1_000 {
            try server.server.setRules(nil, of: .database("d\(number)"))
        }
        try server.server.setRules(settings(closed), of: .database("d7"))
        let refused = refusal { try server.server.setRules(nil, of: .database("one-more")) }
        #expect(refused?.code == .resourceExhausted)
    }

    // MARK: Indexes

    private func indexes(_ indexes: String...) throws -> IndexSettings {
        IndexSettings(try IndexConfiguration(json: PlanCase.json(indexes)))
    }

    private func query(_ database: String) throws -> RPCStatus.Code? {
        try ask(.runQuery(RunQueryRequest(query: IndexPolicyTests.unindexed)), database)
    }

    @Test func `needs its own indexes`() throws {
        try server.server.setIndexes(indexes())
        try server.server.setIndexes(indexes("a ASC, n DESC"), of: .database("second"))
        try server.server.setIndexes(nil, of: .database("third"))
        #expect(try query("(default)") == .failedPrecondition)
        #expect(try query("second") == .ok)
        #expect(try query("third") == .ok, "nothing is enforced")
        #expect(try query("fourth") == .failedPrecondition)
        let report = server.server.indexReport()
        #expect(report.missing.map(\.database) == [nil] && report.missing.map(\.queries) == [2])
        #expect(report.used.map(\.database) == ["second"])
        #expect(server.server.missingIndexes(of: .others) != nil)
        #expect(server.server.missingIndexes(of: .database("second")) == nil)
    }

    @Test func `counts an index as missing until it is there`() throws {
        try server.server.setIndexes(indexes(), of: .database("second"))
        #expect(try query("second") == .failedPrecondition)
        #expect(server.server.indexReport().missing.map(\.database) == ["second"])
        try server.server.setIndexes(indexes("a ASC, n DESC"), of: .database("second"))
        #expect(try query("second") == .ok)
        #expect(server.server.indexReport().missing.isEmpty)
    }

    @Test func `has its own time to live`() throws {
        let file = """
            {"fieldOverrides": [
                {"collectionGroup": "c", "fieldPath": "end", "ttl": true, "indexes": []}]}
            """
        let past = Value.timestamp(server.machine.now.advanced(by: .seconds(-1)))
        for database in ["(default)", "second"] {
            #expect(try write(set("c/a", ["end": past]), database) == .ok)
        }
        let settings = IndexSettings(
            try IndexConfiguration(json: Data(file.utf8)), policy: .warn)
        try server.server.setIndexes(settings, of: .database("second"))
        server.machine.run()
        #expect(try read("second") == .notFound)
        #expect(try read("(default)") == .ok)
        try server.server.setIndexes(nil, of: .database("second"))
        #expect(try write(set("c/a", ["end": past]), "second") == .ok)
        server.machine.advance(.seconds(60))
        #expect(try read("second") == .ok, "without a policy nothing expires")
    }
}
