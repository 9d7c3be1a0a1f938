import TestSupport
import Testing

@testable import TidemarkSync

/// Random histories of documents with files. `TIDEMARK_FILE_SEEDS` sets the seeds.
@Suite(.ownThread) struct FileWorldTests {
    private static let seeds = SeedRange("TIDEMARK_FILE_SEEDS", 0..<60)

    @Test func `no document is without its file, and no object without its document`() throws {
        var (kills, refusals, completions, deletions, waits) = (0, 0, 0, 0, 0)
        for seed in Self.seeds.all {
            var world = try FileWorld(seed: seed)
            try world.play()
            #expect(world.violations == [], "TIDEMARK_FILE_SEEDS=\(seed)")
            if !world.violations.isEmpty { return }
            kills += world.kills
            refusals += world.refusals
            completions += world.completions
            deletions += world.deletions
            waits += world.waits
        }
        if Self.seeds.isOne { return }
        let count = Self.seeds.all.count
        #expect(kills > count / 2, "the histories must have kills")
        #expect(refusals > count / 4, "the histories must have refused documents")
        #expect(completions > count / 2, "the histories must have documents that are sent first")
        #expect(deletions > count / 4, "the histories must have deleted documents with files")
        #expect(waits > count / 2, "the histories must have files that wait for a network")
        print(
            """
            \(count) histories of files: \(kills) kills, \(refusals) refusals, \(completions) \
            completions, \(deletions) deletions, \(waits) turns with a file that waits for a network
            """)
    }

    #if TIDEMARK_DEFECTS
        /// Each defect is planted in seeds that pass without it.
        @Test(arguments: FileDefect.allCases)
        func `planted defects are found`(_ defect: FileDefect) throws {
            let finding: [FileDefect: String] = [
                .sentWithoutFile: "was committed without",
                .completionKept: "completes a document that was refused",
                .removedBeforeDocument: "is deleted, and its document is not",
                .removalForgotten: "stays, and its document was deleted",
            ]
            let sought = try #require(finding[defect])
            for seed in UInt64(0)..<60 {
                var world = try FileWorld(seed: seed, planted: defect)
                try world.play()
                if world.violations.contains(where: { $0.contains(sought) }) { return }
            }
            Issue.record("no seed finds \(defect)")
        }

        @Test func `lanes that ignore networks are found`() throws {
            for seed in UInt64(0)..<60 {
                var world = try FileWorld(seed: seed, ignoresNetworks: true)
                try world.play()
                if world.violations.contains(where: { $0.contains("that it excludes") }) { return }
            }
            Issue.record("no seed finds them")
        }
    #endif
}
