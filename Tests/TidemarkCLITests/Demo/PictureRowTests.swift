import Testing

@testable import TidemarkCLI

@Suite struct PictureRowTests {
    /// Figures with which a row holds.
    private func good(_ row: PictureRow) -> [String: Double] {
        var figures = row.exactly.merging(row.most) { exact, _ in exact }
        figures["resumed"] = 1
        return figures
    }

    @Test(arguments: [1, 10])
    func `a row holds at its bar, and no further`(scale: Int) {
        for row in PictureRow.all(scale: scale) {
            #expect(row.complaints(good(row)) == [], "\(row.name)")
            for (name, limit) in row.most {
                var figures = good(row)
                figures[name] = limit * 1.01
                #expect(row.complaints(figures).count == 1, "\(row.name), \(name)")
            }
            for (name, value) in row.exactly {
                var figures = good(row)
                figures[name] = value - 1
                #expect(row.complaints(figures).count == 1, "\(row.name), \(name)")
            }
        }
    }

    @Test func `what was not measured does not hold`() {
        for row in PictureRow.all(scale: 1) {
            #expect(row.complaints([:]).count >= row.most.count + row.exactly.count)
        }
    }

    @Test func `a network that fails without anything resumed shows nothing`() throws {
        let row = try #require(PictureRow.all(scale: 1).first(where: \.isFailing))
        var figures = good(row)
        figures["resumed"] = 0
        #expect(row.complaints(figures) == ["nothing was resumed"])
    }
}
