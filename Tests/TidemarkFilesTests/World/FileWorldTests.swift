import TestSupport
import Testing

/// Random histories of documents with files. `TIDEMARK_FILE_SEEDS` sets the seeds.
@Suite(.ownThread) struct FileWorldTests {
    private static let seeds = SeedRange("TIDEMARK_FILE_SEEDS", 0..<60)

    @Test func `no document is without its file, and no object without its document`() throws {
        var kills = 0
        var refusals = 0
        for seed in Self.seeds.all {
            var world = try FileWorld(seed: seed)
            try world.play()
            #expect(world.violations == [], "TIDEMARK_FILE_SEEDS=\(seed)")
            if !world.violations.isEmpty { return }
            kills += world.kills
            refusals += world.refusals
        }
        if Self.seeds.isOne { return }
        #expect(kills > Self.seeds.all.count / 2, "the histories must have kills")
        #expect(refusals > Self.seeds.all.count / 4, "the histories must have refused documents")
    }
}
