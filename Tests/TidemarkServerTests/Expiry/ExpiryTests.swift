import Foundation
import Testing
import TidemarkModel

@testable import TidemarkServer

struct `Time to live` {
    private static let file = """
        {"fieldOverrides": [
            {"collectionGroup": "sessions", "fieldPath": "expireAt", "ttl": true, "indexes": []}]}
        """

    private func server() throws -> TestServer {
        let configuration = try IndexConfiguration(json: Data(Self.file.utf8))
        return try TestServer(indexes: IndexSettings(configuration, policy: .warn))
    }

    private func session(
        _ path: String, _ server: TestServer, endsIn seconds: Int64
    ) -> Mutation {
        let end = server.machine.now.advanced(by: .seconds(seconds))
        return set(path, ["expireAt": .timestamp(end)])
    }

    private let sessions = Query(collectionID: "sessions", allDescendants: true)

    private func usage(_ server: TestServer) -> [MeterRow] {
        server.server.meter().filter { $0.label == Expiry.label }
    }

    @Test func `deletes documents of a group whose time has passed, and no others`() throws {
        let server = try server()
        try server.commit(
            session("sessions/a", server, endsIn: 60), session("sessions/b", server, endsIn: 7_200),
            session("users/u/sessions/c", server, endsIn: 60),
            set("sessions/number", ["expireAt": .integer(5)]), set("sessions/none", [:]),
            set("sessions/null", ["expireAt": .null]),
            session("others/a", server, endsIn: 1), set("sessions/a/parts/x", [:]))
        server.machine.advance(.seconds(55))
        #expect(try server.ids(sessions).count == 6, "until its time, a document is served")
        server.machine.advance(.seconds(16))
        #expect(try Set(server.ids(sessions)) == ["b", "none", "null", "number"])
        #expect(try server.ids(collection("others")) == ["a"])
        let below = Query(collectionID: "parts", allDescendants: true)
        #expect(try server.ids(below) == ["x"], "subcollections stay")
        #expect(usage(server).map(\.deletes) == [2] && usage(server).map(\.reads) == [0])
    }

    @Test func `follows the server's clock at once`() throws {
        let server = try server()
        try server.commit(session("sessions/a", server, endsIn: 86_400))
        let listen = server.listen()
        _ = listen.add(ListenTarget(id: 1, .query(collection("sessions"))))
        try server.server.setClock(server.machine.now.advanced(by: .seconds(86_401)))
        server.machine.run()
        #expect(try server.ids(sessions).isEmpty)
        let told = listen.take().contains {
            if case .documentDelete(let removal) = $0 {
                removal.path.text == "sessions/a"
            } else {
                false
            }
        }
        #expect(told, "a listener hears of the delete")
    }

    @Test func `deletes what is overdue when a policy is added`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("expiry-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let machine = TestMachine()
        let old = try TestServer(directory: folder, machine: machine)
        try old.commit(session("sessions/a", old, endsIn: -5))
        machine.advance(.seconds(60))
        #expect(try old.ids(sessions) == ["a"])
        old.server.close()
        let configuration = try IndexConfiguration(json: Data(Self.file.utf8))
        let new = try TestServer(
            directory: folder, indexes: IndexSettings(configuration), machine: machine)
        machine.run()
        #expect(try new.ids(collection("sessions")).isEmpty)
    }

    @Test func `deletes many documents in parts`() throws {
        let server = try server()
        for part in 0..<5 {
            let mutations = (0..<200).map {
                session("sessions/\(part)-\($0)", server, endsIn: Int64($0 % 7))
            }
            _ = try server.replies(.commit(CommitRequest(mutations: mutations)))
        }
        server.machine.advance(.seconds(20))
        #expect(try server.ids(sessions).isEmpty)
        #expect(usage(server).map(\.deletes) == [1_000])
    }

    @Test func `waits for a transaction that has locked a document`() throws {
        let server = try server()
        try server.commit(
            session("sessions/a", server, endsIn: 5), session("sessions/b", server, endsIn: 5))
        let transaction = try server.begin()
        _ = try server.get("sessions/a", at: .transaction(transaction))
        server.machine.advance(.seconds(30))
        #expect(try server.ids(sessions) == ["a"], "the other one is deleted")
        _ = try server.replies(.rollback(transaction))
        server.machine.advance(.seconds(30))
        #expect(try server.ids(sessions).isEmpty)
    }

    @Test(arguments: [
        (#"{"collectionGroup": "a", "fieldPath": "b", "ttl": "yes"}"#, "true or false"),
        (#"{"collectionGroup": "a", "fieldPath": "*", "ttl": true}"#, "the name of a field"),
        (
            #"""
            {"collectionGroup": "a", "fieldPath": "b", "ttl": true},
            {"collectionGroup": "a", "fieldPath": "c", "ttl": true}
            """#, "in another field already"
        ),
    ])
    func `is refused where the file is wrong`(overrides: String, sentence: String) {
        let json = #"{"fieldOverrides": ["# + overrides + "]}"
        let error = #expect(throws: IndexFileError.self) {
            try IndexConfiguration(json: Data(json.utf8))
        }
        #expect(error?.message.contains(sentence) == true)
    }
}
