import Foundation
import Synchronization
import Testing
import Tidemark

@testable import TidemarkApp

/// Documents that change times hide, and that the audit of a feed finds.
@Suite(.timeLimit(.minutes(2))) struct `Changes that change times hide` {
    private func world(_ body: (FeedWorld, Feed) async throws -> Void) async throws {
        let world = try await FeedWorld()
        do {
            var definition = world.definition
            definition.checksMembership = true
            try await body(world, try Feed(definition))
        } catch {
            await world.end()
            throw error
        }
        await world.end()
    }

    private func commit(_ mutations: [Mutation], _ world: FeedWorld) async throws {
        _ = try await world.server.commit(mutations, world.context)
    }

    @Test func `are told when an audit finds them, and not again`() async throws {
        try await world { world, feed in
            for age in 1...12 { try await world.insert(age: Int64(age)) }
            world.wait(600)
            try await feed.sync()
            #expect(await feed.counters.hidden == 0, "a first read hides nothing")
            let events = await feed.events()

            // Two documents without a change time, and one with it.
            let time = Timestamp(seconds: world.now - 5, nanoseconds: 0)
            for id in ["u1", "u2"] {
                let path = try DocumentPath("messages/\(id)")
                try await commit(
                    [Mutation(path: path, .set(["createdAt": .timestamp(time)]))], world)
            }
            try await world.insert()
            world.wait(1)
            try await feed.sync()
            #expect(await feed.counters.hidden == 2)
            #expect(await feed.items.filter { $0.document.documentID.hasPrefix("u") }.count == 2)

            try await world.insert()
            world.wait(1)
            try await feed.sync()
            #expect(await feed.counters.hidden == 2, "a change with its time is not hidden")

            let deleted = try DocumentPath("messages/\(world.ids[3])")
            try await commit([Mutation(path: deleted, .delete)], world)
            world.wait(1)
            try await feed.sync()
            #expect(await feed.counters.hidden == 3)
            #expect(await feed.items.allSatisfy { $0.document.documentID != world.ids[3] })
            for await event in events {
                guard case .foundByAudit(let count) = event else { continue }
                #expect(count == 2)
                break
            }
        }
    }

    @Test func `are logged once for each collection and field`() {
        let collection = "c-\(UUID().uuidString)"
        let lines = Mutex<[LogLine]>([])
        Firestore.log(to: LogSink { line in lines.withLock { $0.append(line) } })
        defer { Firestore.log(to: .standardError) }
        FeedAdvice.notify(hidden: 2, in: collection, by: "updatedAt")
        FeedAdvice.notify(hidden: 5, in: collection, by: "updatedAt")
        FeedAdvice.notify(hidden: 1, in: collection, by: "changedAt")
        let own = lines.withLock { $0.filter { $0.text.contains(collection) } }
        #expect(own.map(\.level) == [.advice, .advice], "a debug build")
        #expect(own.first?.text.contains("found 2 documents that updatedAt had hidden") == true)
    }
}
