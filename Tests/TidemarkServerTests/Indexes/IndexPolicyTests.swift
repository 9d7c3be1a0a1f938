import Foundation
import Synchronization
import Testing
import TidemarkModel

@testable import TidemarkServer

struct IndexPolicyTests {
    static let unindexed = Query(
        collectionID: "c", filter: equal("a", .string("secret")), orders: [order("n DESC")])
    static let text =
        "The query requires an index. You can create it here: "
        + "https://console.firebase.google.com/v1/r/project/test/firestore/indexes?create_composite="

    private func server(
        _ policy: IndexPolicy, indexes: [String] = [], path: String? = nil
    ) throws -> TestServer {
        let configuration = try IndexConfiguration(json: PlanCase.json(indexes))
        let server = try TestServer(
            indexes: IndexSettings(configuration, policy: policy, path: path))
        try server.commit(
            set("c/x", ["a": .string("secret"), "n": .integer(1)]),
            set("c/y", ["a": .string("secret"), "n": .integer(2)]))
        return server
    }

    @Test func `without indexes nothing is enforced`() throws {
        let server = try TestServer()
        #expect(try server.ids(Self.unindexed).isEmpty)
        #expect(server.server.indexReport() == IndexReport(policy: nil, missing: [], used: []))
    }

    @Test func `strict refuses as production does`() throws {
        let server = try server(.strict)
        let status = refusal { _ = try server.query(Self.unindexed) }
        #expect(status?.code == .failedPrecondition)
        #expect(status?.message.hasPrefix(Self.text) == true)
        #expect(server.reads("unlabelled") == 0, "what is refused is not billed")
        #expect(try server.ids(collection("c")) == ["x", "y"])
        let sum = RunAggregationQueryRequest(
            query: Query(collectionID: "c", filter: equal("a")),
            aggregations: [Aggregation(alias: "", .sum(field("n")))])
        let refused = refusal { _ = try server.replies(.runAggregationQuery(sum)) }
        #expect(refused?.message.hasPrefix(Self.text) == true)
        let list = ListDocumentsRequest(
            collectionID: "c", orders: [order("a"), order("n")])
        let unlisted = refusal { _ = try server.replies(.listDocuments(list)) }
        #expect(unlisted?.message.hasPrefix(Self.text) == true)
        #expect(server.machine.log.isEmpty)
    }

    @Test func `strict serves what is declared`() throws {
        let server = try server(.strict, indexes: ["a ASC, n DESC"])
        #expect(try server.ids(Self.unindexed) == ["y", "x"])
        let report = server.server.indexReport()
        #expect(report.missing.isEmpty)
        #expect(report.used.map(\.properties) == ["(a ASC, n DESC, __name__ DESC)"])
        #expect(report.used.map(\.queries) == [1])
    }

    @Test func `a listen is told ADD, then REMOVE with the reason, and the stream lives`() throws {
        let server = try server(.strict)
        let listen = server.listen()
        let heard = listen.add(target(1, Self.unindexed))
        #expect(brief(heard) == ["ADD 1", "REMOVE 1 cause 9"])
        guard case .targetChange(let removal)? = heard.last else {
            Issue.record("no removal")
            return
        }
        #expect(removal.cause?.message.hasPrefix(Self.text) == true)
        #expect(brief(listen.add(target(2, collection("c")))).last == "|")
        try server.commit(set("c/z", [:]))
        #expect(brief(listen.take()) == ["z+2", "|"])
    }

    @Test func `warn runs the query and says each index once, without values`() throws {
        let server = try server(.warn)
        for _ in 0..<3 { #expect(try server.ids(Self.unindexed) == ["y", "x"]) }
        #expect(
            server.machine.log
                == ["index missing: Collection c (a ASC, n DESC, __name__ DESC)"])
        let report = server.server.indexReport()
        #expect(report.policy == .warn)
        #expect(report.missing.map(\.queries) == [3])
        #expect(report.missing.map(\.collectionGroup) == ["c"])
        let missing = try #require(server.server.missingIndexes())
        #expect(missing.composites.map { spoken($0.use) } == ["(a ASC, n DESC, __name__ DESC)"])
        #expect(!String(decoding: missing.json, as: UTF8.self).contains("secret"))
    }

    @Test func `auto adds to the file, keeps what is there, and goes on`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/firestore.indexes.json"
        let server = try server(.auto, path: path)
        // The file changes after the server has read it.
        try [UInt8](
            #"{"indexes": [], "mine": 7, "fieldOverrides": []}"#.utf8
        ).write(to: path)
        #expect(try server.ids(Self.unindexed) == ["y", "x"])
        #expect(try server.ids(Self.unindexed) == ["y", "x"])
        let group = Query(collectionID: "c", allDescendants: true, filter: equal("a"))
        #expect(try server.ids(group).isEmpty)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("\"mine\" : 7"))
        let settings = try IndexFile.read(path, policy: .strict)
        #expect(
            settings.configuration.composites.map { spoken($0.use) }
                == ["(a ASC, n DESC, __name__ DESC)"])
        #expect(settings.configuration.overrides.map(\.field) == [field("a")])
        #expect(
            server.machine.log == [
                "index added: Collection c (a ASC, n DESC, __name__ DESC)",
                "index added: Collection group c (a ASC, __name__ ASC)",
            ])
        #expect(server.server.indexReport().used.map(\.queries) == [1])
        let again = try TestServer(indexes: settings)
        #expect(try again.ids(Self.unindexed).isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
    }

    @Test func `what production refuses by itself is refused before indexes are asked for`() throws
    {
        let server = try server(.strict)
        let name = Value.reference(ReferenceValue(database: server.database, path: path("c/x")))
        let query = Query(
            collectionID: "c",
            filter: .and([
                .field(field("x"), .notEqual, .integer(42)), .field(.documentID, .equal, name),
            ]))
        #expect(
            refusal { _ = try server.query(query) }
                == .invalidArgument(
                    "Equality on key is not allowed if there are other inequality fields and key "
                        + "does not appear in inequalities."))
        var ranged = query
        ranged.filter = .and([
            .field(field("x"), .equal, .integer(42)), .field(.documentID, .equal, name),
        ])
        #expect(try server.ids(ranged).isEmpty, "a key beside an equality is served")
    }

    /// The query searches the field by its elements. The sum needs the field itself in the same
    /// index.
    @Test func `an index that names a field twice is written, read and served`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/firestore.indexes.json"
        let query = Query(
            collectionID: "c",
            filter: .field(field("r"), .arrayContainsAny, .array([.integer(1), .integer(2)])))
        let request = RunAggregationQueryRequest(
            query: query,
            aggregations: [
                Aggregation(alias: "r", .sum(field("r"))),
                Aggregation(alias: "p", .sum(field("p"))),
            ])
        let rows = [
            set("c/x", ["r": .array([.integer(1)]), "p": .integer(3)]),
            set("c/y", ["r": .array([.integer(7)]), "p": .integer(4)]),
        ]
        let strict = try server(.strict)
        let asked = refusal { _ = try strict.replies(.runAggregationQuery(request)) }
        #expect(asked?.message.hasPrefix(Self.text) == true)

        let auto = try server(.auto, path: path)
        for row in rows { try auto.commit(row) }
        #expect(try auto.aggregate(request).values?["p"] == .integer(3))
        let log = auto.machine.log
        #expect(log.count == 1 && log[0].hasPrefix("index added: Collection c (r CONTAINS"))
        #expect(log[0].contains("r ASC"))
        let settings = try IndexFile.read(path, policy: .strict)
        let again = try TestServer(indexes: settings)
        for row in rows { try again.commit(row) }
        #expect(try again.aggregate(request).values?["p"] == .integer(3))
        #expect(again.server.indexReport().used.map(\.queries) == [1])
    }

    @Test func `a file that cannot be written is said, and the query runs`() throws {
        let server = try server(.auto, path: "/nowhere/at/all.json")
        #expect(try server.ids(Self.unindexed) == ["y", "x"])
        #expect(
            server.machine.log.last == "index not added: /nowhere/at/all.json cannot be written.")
    }

    @Test func `a file is read by its policy`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/i.json"
        for policy in [IndexPolicy.strict, .warn] {
            let error = #expect(throws: IndexFileError.self) {
                try IndexFile.read(path, policy: policy)
            }
            #expect(error?.message == "There is no file \(path).")
        }
        #expect(try IndexFile.read(path, policy: .auto).configuration == IndexConfiguration())
        try [UInt8]("// why\n{\"indexes\": []}".utf8).write(to: path)
        _ = try IndexFile.read(path, policy: .strict)
        let error = #expect(throws: IndexFileError.self) {
            try IndexFile.read(path, policy: .auto)
        }
        #expect(error?.message.contains("would lose its comments") == true)
        try [UInt8]("{\"indexes\": 1}".utf8).write(to: path)
        let wrong = #expect(throws: IndexFileError.self) {
            try IndexFile.read(path, policy: .warn)
        }
        #expect(wrong?.message == "\(path): indexes: This must be a list.")
    }

    @Test func `what is counted is bounded`() throws {
        var register = IndexRegister(IndexSettings(IndexConfiguration(), policy: .warn))
        let database = try DatabaseID(project: "test")
        for number in 0...IndexRegister.capacity {
            let query = Query(
                collectionID: "c", filter: equal("f\(number)"), orders: [order("o")])
            _ = register.admit(query, register.requirement(query, []), in: database)
        }
        #expect(register.report(of: .others).missing.count == IndexRegister.capacity)
        #expect(register.missingConfiguration?.composites.count == 1_000)
    }

    @Test func `what is counted is bounded in bytes too`() throws {
        var register = IndexRegister(IndexSettings(IndexConfiguration(), policy: .warn))
        let database = try DatabaseID(project: "test")
        let long = String(repeating: "f", count: 1_400)
        for number in 0..<2_000 {
            // The queries have 10 fields with long names: 28 MB of names in total.
            let orders = (0..<10).map { order("\(long)\($0)x\(number)") }
            let query = Query(collectionID: "c", orders: orders)
            _ = register.admit(query, register.requirement(query, []), in: database)
            let ordinary = Query(collectionID: "c", orders: [order("\(long)\(number)")])
            _ = register.admit(ordinary, register.requirement(ordinary, []), in: database)
            _ = register.takeNotices()
        }
        let report = register.report(of: .others)
        #expect((1..<2_000).contains(report.missing.count))
        for rows in [report.missing, report.used] {
            let bytes = rows.reduce(0) { $0 + $1.properties.utf8.count }
            #expect(bytes <= IndexRegister.maxNameBytes)
        }
    }
}
