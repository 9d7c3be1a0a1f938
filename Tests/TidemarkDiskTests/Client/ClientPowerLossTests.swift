import Testing

/// What a client's store holds after a kill and after a loss of power, at any moment.
@Suite struct ClientPowerLossTests {
    @Test(arguments: DiskSeeds.shares)
    func `what was journalled is there, and nothing by halves`(share: Range<UInt64>) throws {
        var (losses, cuts, logs) = (0, 0, 0)
        for seed in share {
            let workload = try ClientWorkload(seed: seed)
            do { try workload.run() } catch { Issue.record("seed \(seed): \(error)") }
            losses += workload.tally.losses
            cuts += workload.tally.cuts
            logs += workload.tally.logs
        }
        // Of 150 lives in a share of 50 seeds.
        let seeds = share.count
        #expect(
            seeds < 10 || losses > seeds / 5 && cuts > seeds && logs > seeds,
            "\(losses) losses, \(cuts) ends in a transaction, \(logs) logs left")
    }

    /// The seeds of a few that find something, which none of them does without the defect.
    private func findings(_ defect: DiskDefect?, promisesAll: Bool = false) -> Int {
        TidemarkDiskTests.findings {
            try ClientWorkload(seed: $0, defect: defect, promisesAll: promisesAll).run()
        }
    }

    @Test func `a disk that syncs nothing is found out`() {
        #expect(findings(.syncsNothing) > 0)
        #expect(findings(nil) == 0)
    }

    @Test func `a piece of the log that is kept back over a sync is found out`() {
        #expect(findings(.keepsLastPieceBack) > 0)
    }

    @Test func `a transaction that is not synced, taken for one that is, is found out`() {
        #expect(findings(nil, promisesAll: true) > 0)
    }
}
