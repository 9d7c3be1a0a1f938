import Foundation
import Testing

@testable import TidemarkHealth

struct `A chart` {
    private let chart = HealthChart(
        title: "steps & <more>", unit: "count",
        bars: [
            HealthChart.Bar(label: "8", value: 50), HealthChart.Bar(label: "9", value: nil),
            HealthChart.Bar(label: "10", value: 100), HealthChart.Bar(label: "11", value: 0),
        ])

    @Test func `is drawn in characters`() {
        #expect(
            chart.terminal(width: 8) == """
                steps & <more> (count)
                 8 ████ 50
                 9 ·
                10 ████████ 100
                11  0
                """)
    }

    @Test func `is drawn as a picture that XML readers can read`() throws {
        let parser = XMLElements()
        #expect(parser.read(chart.svg))
        // There is one background, and one bar for each known day.
        #expect(parser.counts["rect"] == 4)
        #expect(parser.counts["text"] == 6)
        #expect(chart.svg.contains("steps &amp; &lt;more&gt;"))
    }

    @Test func `of a week names its days`() async throws {
        let scratch = try Scratch()
        let (bytes, truth) = generated(HealthGenerator(days: 9, seed: 1))
        let store = try scratch.store()
        _ = try await HealthImport(into: store).run(try scratch.write(bytes))
        let last = try #require(HealthDay("2026-05-09"))
        let week = try store.read { try HealthChart.week(.steps, to: last, in: $0) }
        #expect(week.bars.map(\.label).first == "Sun 05-03")
        #expect(week.bars.count == 7)
        #expect(week.bars.last?.value == truth.totals[.steps]?[last]?.sum)
        let day = try store.read { try HealthChart.day(.heartRate, last, in: $0) }
        #expect(day.bars.count == 24)
    }
}

/// Reads only the XML that a picture needs: tags that nest and close.
private final class XMLElements {
    var counts: [String: Int] = [:]

    func read(_ text: String) -> Bool {
        var open: [Substring] = []
        var rest = Substring(text)
        while let start = rest.firstIndex(of: "<") {
            rest = rest[rest.index(after: start)...]
            guard let end = rest.firstIndex(of: ">") else { return false }
            let tag = rest[..<end]
            let name = tag.drop { $0 == "/" }.prefix { $0.isLetter }
            if tag.hasPrefix("/") {
                guard open.popLast() == name else { return false }
            } else {
                counts[String(name), default: 0] += 1
                if !tag.hasSuffix("/") { open.append(name) }
            }
            rest = rest[rest.index(after: end)...]
        }
        return open.isEmpty
    }
}
