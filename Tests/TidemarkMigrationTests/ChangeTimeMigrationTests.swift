import Foundation
import Testing
import TidemarkModel
import TidemarkServer

@testable import TidemarkMigration

/// Migrates collections of a real server, in this process.
@Suite(.timeLimit(.minutes(2))) struct `A migration of change times` {
    private let server: FirestoreServer
    private let database: DatabaseID
    private let field = FieldPath(name: "updatedAt")

    init() throws {
        server = try FirestoreServer(FirestoreServer.Configuration())
        database = try DatabaseID(project: "demo")
    }

    private func context(_ label: String) -> CallContext {
        CallContext(database: database, label: label, token: "owner")
    }

    private func migration(
        labelField: FieldPath? = nil
    ) -> ChangeTimeMigration<ContinuousClock> {
        ChangeTimeMigration(
            MigrationCalls(
                server, database: database, field: field, labelField: labelField,
                tokens: { _ in "owner" }), clock: ContinuousClock())
    }

    private func set(_ documents: [(String, MapValue)]) async throws {
        for first in stride(from: 0, to: documents.count, by: 400) {
            let part = try documents[first..<min(first + 400, documents.count)].map {
                Mutation(path: try DocumentPath($0.0), .set($0.1))
            }
            _ = try await server.commit(part, context("writer"))
        }
    }

    private func all(_ query: Query) async throws -> [Document] {
        try await server.documents(of: query, context("reader")).documents
    }

    @Test func `fills what is missing, in more than one page, and only that`() async throws {
        let other = Timestamp(seconds: 77, nanoseconds: 0)
        let documents: [(String, MapValue)] = (0..<1_203).map { number in
            let fields: MapValue =
                switch number % 3 {
                case 0: ["n": .integer(Int64(number)), "updatedAt": .timestamp(other)]
                default: ["n": .integer(Int64(number))]
                }
            return ("posts/p\(10_000 + number)", fields)
        }
        try await set(documents + [("posts/wrong", ["updatedAt": .integer(5)])])
        let posts = MigratedCollection.collection(try CollectionPath("posts"))
        let before = Dictionary(
            uniqueKeysWithValues: try await all(posts.query).map { ($0.path, $0) })

        let survey = try await migration().survey(posts)
        #expect(survey.documents == 1_204 && survey.missing == 802 && survey.wrongType == 1)
        #expect(survey.reads == 2 + 1 + 1)

        var saved: [FillProgress] = []
        let (progress, stopped) = await migration().fill(
            posts, from: FillProgress(), value: .updateTime, rate: 100_000
        ) { (progress: FillProgress) throws(RPCStatus) in saved.append(progress) }
        #expect(stopped == nil && progress.isFinished)
        #expect(progress.filled == 802 && progress.present == 401 && progress.open == 1)
        #expect(saved.count == 4, "its start, and three pages")
        for document in try await all(posts.query) {
            let old = try #require(before[document.path])
            var fields = old.fields
            if fields["updatedAt"] == nil { fields["updatedAt"] = .timestamp(old.updateTime) }
            #expect(document.fields == fields, "\(document.path)")
        }
        let row = try #require(server.meter().first { $0.label == MigrationCalls.label })
        #expect(row.reads == survey.reads + progress.reads)
        #expect(row.writes == progress.writes)

        // A check finds the wrong type, and the times that were wrong before.
        let (tally, reads) = try await migration().check(posts, CheckTally())
        #expect(tally.rows["posts"]?.wrongType.count == 1)
        #expect(tally.rows["posts"]?.stale.count == 401)
        #expect(tally.found == 402 && reads == 1_204)
    }

    @Test func `a group's subcollections are all filled, also by the server's time`() async throws {
        try await set([
            ("chats/a/messages/1", ["text": .string("x")]),
            ("chats/b/messages/2", ["text": .string("y")]),
            ("rooms/c/messages/3", ["text": .string("z")]),
            ("messages/4", ["text": .string("top")]), ("chats/a/notes/5", [:]),
        ])
        let group = try MigratedCollection(group: "messages")
        let survey = try await migration().survey(group)
        #expect(survey.documents == 4)
        let (progress, stopped) = await migration().fill(
            group, from: FillProgress(), value: .serverTime, rate: 500
        ) { (_: FillProgress) throws(RPCStatus) in }
        #expect(stopped == nil && progress.filled == 4)
        for document in try await all(group.query) {
            guard case .timestamp(let time)? = document.fields["updatedAt"] else {
                Issue.record("\(document.path)")
                continue
            }
            #expect(document.updateTime.duration(since: time) < .seconds(60))
        }
        let (tally, _) = try await migration().check(group, CheckTally())
        #expect(tally.found == 0)
        #expect(tally.rows.keys.sorted() == ["chats/*/messages", "messages", "rooms/*/messages"])
        let notes = MigratedCollection.collection(try CollectionPath("chats/a/notes"))
        #expect(try await all(notes.query).first?.fields == [:], "no other collection changes")
    }

    @Test func `an empty collection names those beside it`() async throws {
        try await set([("posts/a", [:]), ("users/b", [:])])
        let survey = try await migration().survey(.collection(try CollectionPath("post")))
        #expect(survey.documents == 0 && survey.others == ["posts", "users"])
    }

    @Test func `a field of the document is the label`() async throws {
        let old = Timestamp(seconds: 77, nanoseconds: 0)
        try await set([
            ("posts/a", ["by": .string("functions"), "updatedAt": .timestamp(old)]),
            ("posts/b", ["by": .string("app"), "updatedAt": .timestamp(old)]),
            ("posts/c", ["updatedAt": .timestamp(old)]),
        ])
        let posts = MigratedCollection.collection(try CollectionPath("posts"))
        let (tally, _) = try await migration(labelField: FieldPath(name: "by")).check(
            posts, CheckTally())
        #expect(tally.rows.keys.sorted() == ["(without a label)", "app", "functions"])
        #expect(tally.rows.values.allSatisfy { $0.stale.count == 1 })
    }

    @Test func `a group's id is one`() {
        #expect(throws: InvalidPath.self) { try MigratedCollection(group: "a/b/c") }
        #expect(throws: InvalidPath.self) { try MigratedCollection(group: "") }
    }
}

struct MigrationPriceTests {
    @Test func `a write costs three times a read`() throws {
        let price = MigrationPrice(
            collections: [1_000_000], writes: 100_000,
            tariff: .standard(try ReadPrices.of("nam5")))
        #expect(abs(price.dollars - (0.6 + 0.18)) < 1e-9)
        #expect(price.units == nil)
    }

    @Test func `on the Enterprise edition a page is a scan, and a write has units of 1 KiB`() throws
    {
        let price = MigrationPrice(
            collections: [1_000, 1], writes: 10,
            tariff: .enterprise(try UnitPrices.of("us-central1"), documentBytes: 2_048))
        // Two pages of 500 documents cost 250 units each, an empty page 1, the small collection 1.
        #expect(price.units == BilledUnits(read: 502, write: 30))
        #expect(abs(price.dollars - (502 * 0.05 + 30 * 0.26) / 1_000_000) < 1e-12)
        #expect(price.reads == 1_001 && price.writes == 10)
    }

    /// The price is compared with the server's bill.
    @Test(arguments: [499, 500, 1_203])
    func `equals the bill of a migration on the Enterprise edition`(count: Int) async throws {
        var configuration = FirestoreServer.Configuration()
        configuration.editions = DatabaseEditions(.enterprise)
        configuration.indexes = IndexSettings(
            try IndexConfiguration(
                json: Data(
                    """
                    {"indexes": [{"collectionGroup": "posts", "fields": [
                      {"fieldPath": "updatedAt", "order": "ASCENDING"}]}]}
                    """.utf8)))
        let server = try FirestoreServer(configuration)
        let database = try DatabaseID(project: "demo")
        let fields: MapValue = ["text": .string(String(repeating: "a", count: 1_500))]
        let paths = try (0..<count).map { try DocumentPath("posts/p\(10_000 + $0)") }
        for first in stride(from: 0, to: count, by: 200) {
            _ = try await server.commit(
                paths[first..<min(count, first + 200)].map { Mutation(path: $0, .set(fields)) },
                CallContext(database: database, label: "writer", token: "owner"))
        }
        let migration = ChangeTimeMigration(
            MigrationCalls(
                server, database: database, field: FieldPath(name: "updatedAt"),
                tokens: { _ in "owner" }), clock: ContinuousClock())
        let result = await migration.fill(
            .collection(try CollectionPath("posts")), from: FillProgress(), value: .updateTime,
            rate: 1_000_000
        ) { _ in }
        #expect(result.stopped == nil && result.progress.filled == count)
        let price = MigrationPrice(
            collections: [count], writes: count,
            tariff: .enterprise(
                try UnitPrices.of("us-central1"),
                documentBytes: Document.storageSize(of: fields, at: paths[0])))
        let bill = server.meter().first { $0.label == MigrationCalls.label }
        #expect(bill?.units == price.units)
        server.close()
    }
}
