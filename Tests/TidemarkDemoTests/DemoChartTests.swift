import Foundation
import Testing

@testable import TidemarkDemo

struct DemoChartTests {
    private static let file = """
        {"scenarios": [
          {"name": "open <a> chat", "network": "3g",
           "before": {"reads": 7, "upToDateMs": 3}, "after": {"reads": 1}},
          {"name": "open <a> chat", "network": "healthy",
           "before": {"reads": 1000, "upToDateMs": 3}, "after": {"reads": 50, "text": "no"}},
          {"name": "page 5 times over", "network": "healthy",
           "before": {"MiB by page": [20, 60, 110]}, "after": {"MiB by page": [20, 22, 23]}},
          {"name": "launch", "network": "blackhole",
           "before": {"shown": "nothing"}, "after": {"firstContentMs": 4.5}},
          {"name": "launch", "network": "3g",
           "before": {"firstContentMs": 900}, "after": {"firstContentMs": 4}}
        ]}
        """

    private func charts() throws -> DemoCharts {
        DemoCharts(data: try ChartData(kept: Data(Self.file.utf8)))
    }

    @Test func `each chart has the figures that were measured, in pictures and in words`() throws {
        let all = try charts().all
        #expect(all.map(\.file) == ["reads.svg", "first-content.svg", "memory.svg"])
        let reads = try #require(all.first?.svg)
        #expect(reads.contains("open &lt;a&gt; chat: 1,000 reads before, 50 reads on Tidemark."))
        #expect(!reads.contains("7 reads"), "the good network tells")
        #expect(reads.contains("class=\"before\"") && reads.contains("class=\"after\""))
        #expect(all[1].svg.contains("blackhole: never before, 4.5 ms on Tidemark."))
        #expect(all[1].svg.contains("3g: 900 ms before, 4.0 ms on Tidemark."))
        #expect(
            all[2].svg.contains("From 20 to 110 MiB before, from 20 to 23 MiB on Tidemark."))
    }

    @Test func `a bar is as long as its share`() throws {
        let svg = try #require(try charts().reads)
        let widths = svg.split(separator: "\n").filter { $0.hasPrefix("<rect x=") }
            .compactMap { $0.firstMatch(of: /width="([0-9.]+)"/).flatMap { Double($0.1) } }
        #expect(widths.count == 2)
        #expect(abs((widths.last ?? 0) / (widths.first ?? 1) - 0.05) < 0.001)
    }

    @Test func `a file without figures has no charts, and one of something else is an error`() {
        let empty = try? ChartData(kept: Data("{\"scenarios\": []}".utf8))
        #expect(empty.map { DemoCharts(data: $0).all.isEmpty } == true)
        #expect(throws: DecodingError.self) { try ChartData(kept: Data("{\"a\": 1}".utf8)) }
    }

    /// `make screenshots` draws the pictures again.
    @Test func `the pictures in the documents are drawn from the figures that are kept`() throws {
        let root = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let kept = try Data(contentsOf: root.appending(path: "Benchmarks/Results/demo.json"))
        let charts = DemoCharts(data: try ChartData(kept: kept)).all
        #expect(charts.contains { $0.file == "reads.svg" })
        for (file, svg) in charts {
            let picture = root.appending(path: "Documentation/Pictures/\(file)")
            let drawn = try? String(contentsOf: picture, encoding: .utf8)
            #expect(drawn == svg, "\(file) is of other figures")
        }
    }
}
