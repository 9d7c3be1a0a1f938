import Foundation

/// The figures of a run, as a table and as JSON.
struct DemoReport: Sendable {
    /// Dollars for 100,000 reads: Firestore's list price that the journeys reckon with.
    static let pricePer100k = 0.36

    let clients: [Tally]
    let seconds: Double

    var table: String {
        let head = [
            "client", "opens", "reads billed", "saved", "missed", "shown twice", "edits missed",
            "deleted shown", "bytes", "first content", "p99", "price",
        ]
        let rows = clients.map(cells)
        let widths = head.indices.map { column in
            ([head] + rows).map { $0[column].count }.max()!
        }
        func line(_ cells: [String]) -> String {
            zip(cells, widths).enumerated().map { index, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return index == 0 ? cell.0 + padding : padding + cell.0
            }.joined(separator: "  ")
        }
        let rule = widths.map { String(repeating: "-", count: $0) }.joined(separator: "  ")
        return ([line(head), rule] + rows.map(line)).joined(separator: "\n")
    }

    private func cells(_ tally: Tally) -> [String] {
        [
            tally.name, "\(tally.opens)", grouped(tally.reads),
            String(format: "%.1f %%", saved(tally) * 100), grouped(tally.missed.count),
            grouped(tally.doubled.count), grouped(tally.outdated.count),
            grouped(tally.deletedShown.count), grouped(tally.bytes),
            String(format: "%.1f ms", tally.firstContentMilliseconds(share: 0.5)),
            String(format: "%.1f ms", tally.firstContentMilliseconds(share: 0.99)),
            String(format: "$%.4f", price(tally)),
        ]
    }

    /// The share of the first client's reads that this one did not make.
    func saved(_ tally: Tally) -> Double {
        guard let before = clients.first, before.reads > 0 else { return 0 }
        return 1 - Double(tally.reads) / Double(before.reads)
    }

    private func price(_ tally: Tally) -> Double {
        Double(tally.reads) / 100_000 * Self.pricePer100k
    }

    private func grouped(_ number: Int) -> String {
        var digits = String(number)
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return ([digits] + groups).joined(separator: ",")
    }

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(
            Figures(
                clients: clients.map { tally in
                    Figures.Client(
                        name: tally.name, opens: tally.opens, reads: tally.reads,
                        missed: tally.missed.count, doubled: tally.doubled.count,
                        editsMissed: tally.outdated.count,
                        deletedShown: tally.deletedShown.count, bytes: tally.bytes,
                        saved: saved(tally), priceDollars: price(tally),
                        firstContentMs: .init(
                            median: tally.firstContentMilliseconds(share: 0.5),
                            p99: tally.firstContentMilliseconds(share: 0.99)))
                }, seconds: seconds))
    }

    private struct Figures: Encodable {
        struct Client: Encodable {
            let name: String
            let opens, reads, missed, doubled, editsMissed, deletedShown, bytes: Int
            let saved, priceDollars: Double
            let firstContentMs: FirstContent
        }

        struct FirstContent: Encodable {
            let median, p99: Double
        }

        let clients: [Client]
        let seconds: Double
    }
}
