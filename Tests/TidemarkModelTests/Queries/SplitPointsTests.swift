import Testing

@testable import TidemarkModel

struct `Split points` {
    private static func points(_ rows: Int) -> SplitPoints {
        var points = SplitPoints()
        for row in 0..<rows { points.add(DocumentPath(unchecked: "c/\(1_000_000 + row)")) }
        return points
    }

    private static func row(_ path: DocumentPath) -> Int { Int(path.id)! - 1_000_000 }

    @Test(arguments: [(0, 0), (63, 0), (64, 1), (191, 1), (192, 2), (1_000, 8)])
    func `are one for 128 rows, rounded`(rows: Int, count: Int) {
        #expect(Self.points(rows).cuts(upTo: 100).count == count)
    }

    @Test func `are at equal distances`() {
        #expect(Self.points(1_000).cuts(upTo: 3).map(Self.row) == [250, 500, 750])
    }

    /// The number of rows is far larger than the number of kept rows.
    @Test(arguments: [1, 2, 10, 900, 5_000])
    func `are nearly at equal distances where only some rows are kept`(wanted: Int) {
        let rows = 150_000
        let cuts = Self.points(rows).cuts(upTo: wanted).map(Self.row)
        #expect(cuts.count == min(wanted, (rows + 64) / 128))
        for (index, cut) in cuts.enumerated() {
            let exact = (index + 1) * rows / (cuts.count + 1)
            #expect((exact - 3...exact).contains(cut))
        }
    }

    @Test func `are none when none are wanted`() {
        #expect(Self.points(1_000).cuts(upTo: 0).isEmpty)
        #expect(Self.points(1_000).cuts(upTo: -1).isEmpty)
    }
}
