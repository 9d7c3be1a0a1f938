import Testing

/// Checks the contents of a client's store after a kill and after a loss of power, at any moment.
struct ClientPowerLossTests {
    @Test(arguments: DiskSeeds.shares, AtRest.allCases)
    func `what was journalled is there, and nothing by halves`(
        share: Range<UInt64>, atRest: AtRest
    ) throws {
        var (losses, cuts, logs) = (0, 0, 0)
        for seed in share {
            let workload = try ClientWorkload(seed: seed, atRest)
            do { try workload.run() } catch { Issue.record("seed \(seed): \(error)") }
            losses += workload.tally.losses
            cuts += workload.tally.cuts
            logs += workload.tally.logs
        }
        // A share of 50 seeds has 150 rounds.
        let seeds = share.count
        #expect(
            seeds < 10 || losses > seeds / 5 && cuts > seeds && logs > seeds,
            "\(losses) losses, \(cuts) ends in a transaction, \(logs) logs left")
    }

    /// Returns how many of a few seeds find a violation. Without the defect, none of them does.
    private func findings(
        _ defect: DiskDefect?, _ atRest: AtRest = .plain, promisesAll: Bool = false
    ) -> Int {
        TidemarkDiskTests.findings {
            try ClientWorkload(seed: $0, atRest, defect: defect, promisesAll: promisesAll).run()
        }
    }

    @Test(arguments: AtRest.allCases)
    func `a disk that syncs nothing is found out`(atRest: AtRest) {
        #expect(findings(.syncsNothing, atRest) > 0)
        #expect(findings(nil, atRest) == 0)
    }

    @Test(arguments: AtRest.allCases)
    func `a piece of the log that is kept back over a sync is found out`(atRest: AtRest) {
        #expect(findings(.keepsLastPieceBack, atRest) > 0)
    }

    @Test func `a transaction that is not synced, taken for one that is, is found out`() {
        #expect(findings(nil, promisesAll: true) > 0)
    }
}
