import Testing

/// Checks the contents of a server after a kill and after a loss of power, at any moment.
struct ServerPowerLossTests {
    @Test(arguments: DiskSeeds.shares)
    func `what was acknowledged is there, and nothing by halves`(share: Range<UInt64>) throws {
        var (cuts, acknowledged, untold) = (0, 0, 0)
        for seed in share {
            let workload = try ServerWorkload(seed: seed)
            do { try workload.run() } catch { Issue.record("seed \(seed): \(error)") }
            cuts += workload.tally.cuts
            acknowledged += workload.tally.acknowledged
            untold += workload.tally.untold
        }
        let seeds = share.count
        #expect(
            seeds < 10 || cuts > seeds && acknowledged > 10 * seeds && untold > 0,
            "\(cuts) ends in a transaction, \(acknowledged) acknowledged, \(untold) untold")
    }

    private func findings(_ defect: DiskDefect?) -> Int {
        TidemarkDiskTests.findings { try ServerWorkload(seed: $0, defect: defect).run() }
    }

    @Test func `a disk that syncs nothing is found out`() {
        #expect(findings(.syncsNothing) > 0)
        #expect(findings(nil) == 0)
    }

    @Test func `a piece of the log that is kept back over a sync is found out`() {
        #expect(findings(.keepsLastPieceBack) > 0)
    }
}
