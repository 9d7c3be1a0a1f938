import Testing
import TestSupport
import TidemarkModel
@testable import TidemarkServer
import TidemarkStore

/// Documents are created, changed and deleted, and are then read as of every commit.
@Suite(.ownThread) struct HistoryTests {
    /// The documents after a commit.
    private struct Moment {
        let time: Timestamp
        let numbers: [String: Int64]
    }

    private static let names = ["a", "b", "c", "d"]

    /// Commits random changes. Most writes concern one document, which then has more versions than
    /// the server follows one by one.
    private func live(_ server: TestServer, seed: UInt64) throws -> [Moment] {
        var random = SeededRandom(seed: seed)
        var numbers: [String: Int64] = [:]
        var moments: [Moment] = []
        for step in 0..<300 {
            var mutations: [Mutation] = []
            for name in Set([Self.names[0], Self.names[Int(random.next() % 4)]]).sorted() {
                let isHot = name == Self.names[0]
                let kind = random.next() % (isHot ? 100 : 4)
                if kind < 2 {
                    mutations.append(delete("c/\(name)"))
                    numbers[name] = nil
                }
                // A commit can delete a document and create it again.
                if kind > 0 {
                    mutations.append(set("c/\(name)", ["n": .integer(Int64(step))]))
                    numbers[name] = Int64(step)
                }
            }
            let reply = try server.replies(.commit(CommitRequest(mutations: mutations)))
            guard case .commit(let commit)? = reply.first else { continue }
            moments.append(Moment(time: commit.commitTime, numbers: numbers))
            server.machine.advance(.milliseconds(7))
        }
        return moments
    }

    private func check(_ moments: [Moment], _ server: TestServer) throws {
        for (index, moment) in moments.enumerated() {
            // The state does not change until the next commit.
            let next = index + 1 < moments.count ? moments[index + 1].time : moment.time
            let last = max(moment.time, next.advanced(by: .microseconds(-1)))
            for time in [moment.time, last] {
                for name in Self.names {
                    let number = moment.numbers[name]
                    guard let number else {
                        let status = refusal { _ = try server.get("c/\(name)", at: .at(time)) }
                        #expect(status?.code == .notFound, "\(name) after commit \(index)")
                        continue
                    }
                    let fields = try server.get("c/\(name)", at: .at(time)).fields
                    #expect(fields == ["n": .integer(number)], "\(name) after commit \(index)")
                }
            }
            #expect(
                try server.ids(collection("c"), at: .at(last)) == moment.numbers.keys.sorted())
        }
    }

    @Test(arguments: UInt64(1)...4)
    func `each document is found as it was at every moment`(seed: UInt64) throws {
        let server = try TestServer()
        try check(live(server, seed: seed), server)
    }

    @Test func `a log from before removals were marked is read as well`() throws {
        let folder = try TemporaryFolder()
        let machine = TestMachine()
        let old = try TestServer(directory: folder.path, machine: machine)
        let moments = try live(old, seed: 5)
        old.server.close()
        // The file gets the schema of the earlier version.
        let store = try DocumentStore(
            .file(folder.path + "/tidemark-server.sqlite"), migrations: ServerSchema.migrations)
        try store.write { transaction throws in
            for sql in [
                "DROP INDEX removalByPath", "ALTER TABLE change DROP COLUMN removed",
                "CREATE INDEX changeByPath ON change (database, path, commitTime)",
                "DELETE FROM migration WHERE name = 'server 3'",
            ] { try transaction.execute(sql) }
        }
        try store.close()
        let server = try TestServer(directory: folder.path, machine: machine)
        try check(moments, server)
        try server.commit(set("c/a", ["n": .integer(-1)]), delete("c/b"))
        try check(moments, server)
    }
}
