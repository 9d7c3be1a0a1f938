import Foundation
import Testing
import TidemarkModel

@testable import TidemarkReads

/// The units of the Enterprise edition in files, comparisons and reports.
struct `Reads of the Enterprise edition` {
    private let key = ReadKey(
        label: "test_open", call: "Listen", target: "messages", query: "order by time desc")

    private func kept(_ reads: Int, units: Int, updates: Int = 0) -> KeptLine {
        KeptLine(
            key, least: reads, most: reads, readUnits: units...units,
            updateUnits: updates...updates)
    }

    private func seen(_ reads: Int, units: Int, updates: Int = 0) -> RunLine {
        RunLine(key, reads: reads, units: BilledUnits(read: units, realtimeUpdate: updates))
    }

    private func report(_ kept: KeptLine?, _ seen: RunLine) -> ReadsReport {
        let file = ReadsFile(kept.map { [$0] } ?? [], edition: .enterprise)
        return ReadsReport(ReadsComparison(file, [seen]), file: "reads.json")
    }

    @Test func `are written with their edition, and read again`() throws {
        let lines = [
            KeptLine(
                key, least: 3, most: 3, reason: "Two tabs race.", readUnits: 4...5,
                updateUnits: 0...0)
        ]
        let file = ReadsFile(lines, edition: .enterprise)
        #expect(
            String(decoding: file.data, as: UTF8.self) == #"""
                {
                  "format": 2,
                  "edition": "enterprise",
                  "lines": [
                    {"label": "test_open", "call": "Listen", "target": "messages", "query": "order by time desc", "calls": 1, "reads": 3, "readUnits": {"least": 4, "most": 5}, "reason": "Two tabs race."}
                  ]
                }

                """#)
        #expect(try ReadsFile(file.data, name: "reads.json") == file)
        let other = String(decoding: file.data, as: UTF8.self)
        func refusal(_ text: String) -> String? {
            do throws(ReadsFileError) {
                _ = try ReadsFile(Data(text.utf8), name: "reads.json")
                return nil
            } catch { return error.message }
        }
        #expect(refusal(other.replacing("enterprise", with: "gold"))?.contains("neither") == true)
        #expect(refusal(other.replacing("readUnits", with: "limit"))?.contains("limit") == true)
    }

    @Test func `grow by read units and by update units, also with the same documents`() {
        let same = ReadsComparison(
            ReadsFile([kept(5, units: 6, updates: 2)], edition: .enterprise),
            [seen(5, units: 6, updates: 2)])
        #expect(same.verdict == .same)
        let scan = report(kept(5, units: 6), seen(5, units: 40))
        #expect(scan.comparison.verdict == .grew)
        #expect(
            scan.text == """
                tidemark reads: 1 line grew: 40 read units, 6 recorded; 0 update units, 0 recorded; \
                5 reads, 5 recorded.

                +34 read units  test_open  Listen messages order by time desc
                    6 → 40 read units, 0 → 0 update units, 5 → 5 reads, 1 → 1 call
                    The call reads no more documents, but more units of 4 KiB: a document has grown \
                past 4 KiB, or no index serves the query, so that it scans its collection. Declare \
                the index that is named above, and keep large fields in documents of their own.

                If the new reads are wanted, run the command with 'tidemark reads record', and \
                commit reads.json.

                """)
        let updates = report(kept(5, units: 6, updates: 2), seen(5, units: 6, updates: 4))
        #expect(updates.comparison.verdict == .grew)
        #expect(updates.text.contains("+2 update units  test_open"))
        #expect(updates.text.contains("real-time update units: one for each 4 KiB"))
        let markdown = updates.markdown
        #expect(markdown.contains("| call | before (read units, update units, reads) | now |"))
        #expect(markdown.contains("| 6, 2, 5 | 6, 4, 5 |"))
        let fewer = report(kept(5, units: 6, updates: 2), seen(4, units: 5, updates: 2))
        #expect(fewer.comparison.verdict == .shrank)
        #expect(fewer.text.contains("-1 read unit, -1 read  test_open"))
    }

    @Test func `are named in JSON`() throws {
        let json = report(kept(5, units: 6, updates: 2), seen(5, units: 6, updates: 4)).json
        let object = try #require(
            try JSONSerialization.jsonObject(with: json) as? [String: Any])
        #expect(object["edition"] as? String == "enterprise")
        let line = try #require((object["grown"] as? [[String: Any]])?.first)
        #expect(line["updateUnitsChange"] as? Int == 2 && line["readUnitsChange"] == nil)
        #expect((line["after"] as? [String: Any])?["updateUnits"] as? Int == 4)
    }

    @Test func `get a range where the runs differ, and keep none of another edition`() {
        let runs = [[seen(5, units: 6)], [seen(5, units: 8)]]
        let recording = ReadsRecording(
            runs, of: .enterprise, former: ReadsFile([KeptLine(key, least: 1, most: 9)]))
        let line = recording.file.lines[0]
        #expect(line.readUnits == 6...8 && line.amount == "5")
        #expect(line.reason == "Varied: 6, 8 read units in 2 runs.")
        #expect(recording.varied.count == 1)
        let text = recording.summary(of: "reads.json", former: nil)
        #expect(
            text.hasPrefix(
                """
                wrote 8 read units, 0 update units, 5 reads in 1 line to reads.json for the \
                Enterprise edition.
                """))
        let one = ReadsRecording([runs[0]], of: .enterprise, former: recording.file)
        #expect(one.file.lines[0].readUnits == 6...8, "one run proves nothing about a range")
        #expect(ReadsComparison(one.file, runs[1]).verdict == .same)
    }
}
