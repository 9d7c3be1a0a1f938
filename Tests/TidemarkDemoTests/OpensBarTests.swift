import Testing

@testable import TidemarkDemo

@Suite struct `The bar of the three clients` {
    private let whole = OpensBar(events: 8_648, writes: 8_863, opens: 120)

    @Test func `is ten thousand reads and ninety seconds for the whole history`() {
        #expect(whole.reads == 10_000 && whole.seconds == 90)
        #expect(whole.complaints(reads: 10_000, seconds: 90, isRelease: true) == [])
        #expect(whole.complaints(reads: 10_001, seconds: 90, isRelease: true).count == 1)
        #expect(whole.complaints(reads: 10_000, seconds: 90.1, isRelease: true).count == 1)
        #expect(whole.complaints(reads: 20_000, seconds: 100, isRelease: true).count == 2)
    }

    @Test func `says what was measured and what is the most`() {
        let complaints = whole.complaints(reads: 10_001, seconds: 95.5, isRelease: true)
        #expect(complaints[0].contains("10001") && complaints[0].contains("10000"))
        #expect(complaints[1].contains("95.5") && complaints[1].contains("90"))
    }

    @Test func `takes no count for none`() {
        #expect(whole.complaints(reads: 0, seconds: 1, isRelease: true).count == 1)
    }

    @Test func `is of reads alone in a debug build`() {
        #expect(whole.complaints(reads: 10_000, seconds: 1_000, isRelease: false) == [])
        #expect(whole.complaints(reads: 10_001, seconds: 1_000, isRelease: false).count == 1)
    }

    @Test func `goes with the size of the history`() {
        let small = OpensBar(events: 500, writes: 512, opens: 24)
        #expect(small.reads == 578 && small.seconds == 90)
        let often = OpensBar(events: 500, writes: 512, opens: 1_000)
        #expect(often.reads == 1_512)
        let long = OpensBar(events: 86_480, writes: 88_630, opens: 120)
        #expect(long.reads == 100_000 && long.seconds == 900)
    }

    @Test func `is a reason for the demo to fail`() {
        func report(reads: Int) -> DemoReport {
            var tally = Tally(name: "tidemark")
            tally.reads = reads
            return DemoReport(clients: [tally], bar: whole, seconds: 1)
        }
        #expect(DemoFigures(clients: report(reads: 9_000)).complaints == [])
        #expect(DemoFigures(clients: report(reads: 11_000)).complaints.count == 1)
    }
}
