import Testing
import TidemarkModel
import TidemarkStore
import TidemarkTesting

@testable import TidemarkSync

/// The log of the cache is moved into its file when the engine is idle, and not during a burst.
struct LogTests {
    /// Writes about 250 pages to the log.
    private func write(_ world: Harness, round: Int) throws {
        let text = String(repeating: "x", count: 4_000)
        let documents = (0..<125).map { number in
            RemoteDocument.found(
                doc("rooms/\(round)-\(number)", Int64(round), ["text": .string(text)]))
        }
        _ = try world.engine.core.local.remote.apply(documents, readTime: at(20))
    }

    private func pages(_ world: Harness) -> Int {
        world.engine.core.local.store.pagesInLog
    }

    @Test func `it grows through a burst, and is moved a moment after`() throws {
        let file = TemporaryFile()
        let world = try Harness(cacheFile: file.path)
        var round = 1
        while pages(world) < 500 {
            try write(world, round: round)
            round += 1
        }
        #expect(world.scheduler.pendingTimers.contains(.logMoving))
        let long = pages(world)
        world.scheduler.advance(by: .milliseconds(40))
        try write(world, round: round)
        world.scheduler.advance(by: .milliseconds(40))
        #expect(pages(world) > long)
        world.scheduler.advance(by: .milliseconds(60))
        #expect(pages(world) == 0)
        #expect(!world.scheduler.pendingTimers.contains(.logMoving))
    }

    /// Every page costs 4 KiB of the log, and as much time as the rest of SQLite's work.
    @Test func `a change of a document writes its row and its target's`() throws {
        let file = TemporaryFile()
        let world = try Harness(cacheFile: file.path)
        let listener = world.listen(rooms())
        let documents = ["rooms/a", "rooms/b"].map { doc($0, 10, ["likes": .integer(1)]) }
        world.answer(world.added.last!.id, documents, at: 20)
        let wireID = world.added.last!.id
        for time in [30, 40] as [Int64] {
            let before = pages(world)
            let changed = doc("rooms/a", time, ["likes": .integer(time)])
            let token = [UInt8(time)]
            world.push(
                .documentChange(DocumentChange(changed, targetIDs: [wireID])),
                .targetChange(TargetChange(.noChange, resumeToken: token, readTime: at(time))))
            #expect(pages(world) - before == 2)
        }
        let last = try listener.take().last?.get()
        #expect(last?.documents.first?.document.fields["likes"] == .integer(40))
    }

    @Test func `a burst without a pause moves it at its bound`() throws {
        let file = TemporaryFile()
        let world = try Harness(cacheFile: file.path)
        var longest = 0
        for round in 1...40 {
            try write(world, round: round)
            longest = max(longest, pages(world))
        }
        #expect((3_500..<4_000).contains(longest))
    }
}
