import Foundation
import Synchronization
import Testing
import TidemarkModel
import TidemarkServer

struct `A file of indexes` {
    private let folder: TemporaryFolder
    private let server: TestServer
    private let lines = Lines()

    private final class Lines: Sendable {
        private let state = Mutex<[String]>([])
        func say(_ line: String) { state.withLock { $0.append(line) } }
        func take() -> [String] {
            state.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    init() throws {
        folder = try TemporaryFolder()
        server = try TestServer()
    }

    private var path: String { folder.path + "/firestore.indexes.json" }

    private func save(_ indexes: String...) throws {
        try Array(PlanCase.json(indexes)).write(to: path)
    }

    private func watching(_ policy: IndexPolicy = .strict) throws -> IndexFileWatch {
        try IndexFileWatch(path, policy: policy, for: server.server) { [lines] in lines.say($0) }
    }

    private var isServed: Bool { (try? server.ids(IndexPolicyTests.unindexed)) != nil }

    @Test func `is read again when it changes`() throws {
        #expect(throws: IndexFileError.self) { try watching() }
        try save()
        let watch = try watching()
        #expect(!isServed)
        try save("a ASC, n DESC")
        watch.look()
        #expect(isServed)
        #expect(lines.take() == ["\(path): The new indexes are in force."])
        watch.look(always: true)
        #expect(lines.take().isEmpty, "nothing has changed")
    }

    @Test func `that becomes invalid leaves the previous indexes, and is reported once`() throws {
        try save("a ASC, n DESC")
        let watch = try watching()
        try Array("{\"indexes\": 5}".utf8).write(to: path)
        watch.look(always: true)
        watch.look(always: true)
        #expect(isServed && watch.problem != nil)
        let said = lines.take()
        #expect(said.count == 2)
        #expect(said.last == "\(path): The previous indexes stay in force.")
        try save("a ASC, n DESC")
        watch.look(always: true)
        #expect(isServed && watch.problem == nil)
        #expect(lines.take() == ["\(path): The indexes of the file are in force."])
    }

    @Test func `to which the server adds is not reported as new`() throws {
        try save()
        let watch = try watching(.auto)
        #expect(isServed, "the policy runs the query")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("DESCENDING"), "the server has added the index")
        watch.look(always: true)
        #expect(lines.take().isEmpty)
        try save()
        watch.look(always: true)
        #expect(lines.take() == ["\(path): The new indexes are in force."])
        #expect(server.server.indexes() == (try IndexConfiguration(json: PlanCase.json([]))))
    }
}
