import TestSupport
import Testing

@testable import TidemarkFiles

/// Random histories of uploads. `TIDEMARK_UPLOAD_SEEDS` sets the seeds.
@Suite(.ownThread) struct UploadHistoryTests {
    private static let seeds = SeedRange("TIDEMARK_UPLOAD_SEEDS", 0..<20_000)

    @Test func `no file is lost, doubled or spliced`() {
        var finished = 0
        var kills = 0
        for seed in Self.seeds.all {
            var history = UploadHistory(seed: seed)
            history.play()
            #expect(history.violations == [], "TIDEMARK_UPLOAD_SEEDS=\(seed)")
            if history.outcome == .finished { finished += 1 }
            kills += history.kills
            if !history.violations.isEmpty { return }
        }
        if Self.seeds.isOne { return }
        #expect(finished > Self.seeds.all.count * 8 / 10)
        #expect(kills > Self.seeds.all.count / 2, "the histories must have kills")
    }

    #if TIDEMARK_DEFECTS
        @Test(arguments: [
            UploadDefects.resendsBlindly, .comparesNothing, .finishesUnseen, .copyUnchecked,
            .progressOfSession, .believesPortals,
        ])
        func `a planted defect is found`(defect: UploadDefects) {
            let found = (0..<5_000).first { seed in
                var history = UploadHistory(seed: UInt64(seed), defects: defect)
                history.play()
                return !history.violations.isEmpty
            }
            #expect(found != nil)
        }
    #endif
}
