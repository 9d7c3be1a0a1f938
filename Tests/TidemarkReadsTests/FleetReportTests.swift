import Foundation
import Testing
import TidemarkModel
import TidemarkReads

/// The days of many devices, summed up.
struct FleetReportTests {
    private func day(
        _ day: Int, version: String = "1.0", group: String = "", cached: Int = 0,
        _ rows: (screen: String, reads: Int)...
    ) -> FleetDay {
        let reads = rows.reduce(0) { $0 + $1.reads }
        return FleetDay(
            day: "2026-11-\(10 + day)", version: version, group: group, cached: cached,
            dollars: Double(reads) * 0.06 / 100_000,
            rows: rows.map {
                FleetDay.Row(screen: $0.screen, label: "chat", cause: "listen", reads: $0.reads)
            })
    }

    @Test func `the most expensive screen is first, with its share of the price`() throws {
        let report = FleetReport([
            day(1, cached: 300, ("inbox", 900), ("search", 100)),
            day(2, cached: 100, ("inbox", 500), ("search", 500)),
        ])
        #expect(report.deviceDays == 2 && report.reads == 2_000 && report.cached == 400)
        #expect(report.first == "2026-11-11" && report.last == "2026-11-12")
        #expect(report.screens.map(\.name) == ["inbox", "search"])
        let inbox = try #require(report.screens.first)
        #expect(inbox.reads == 1_400 && inbox.readsADay == 700 && inbox.part == "chat listen")
        #expect(abs(inbox.dollars - 1_400 * 0.06 / 100_000) < 1e-12)
        #expect(inbox.group == nil && inbox.rise == nil)
        #expect(report.text.contains("inbox: 1400 reads, 70 %, $0.00084"))
        #expect(report.text.contains("caches answered 16 %"))
    }

    @Test func `a screen says for whom it costs most`() throws {
        let report = FleetReport([
            day(1, group: "free", ("inbox", 10)), day(1, group: "free", ("inbox", 20)),
            day(1, group: "paying", ("inbox", 90)),
        ])
        let inbox = try #require(report.screens.first)
        #expect(inbox.group?.name == "paying" && inbox.group?.readsADay == 90)
        #expect(report.text.contains("most for paying: 90"))
    }

    @Test func `a screen says since which version it costs more`() throws {
        var days: [FleetDay] = []
        for number in 0..<4 { days.append(day(number, version: "3.9", ("inbox", 100))) }
        for number in 4..<8 { days.append(day(number, version: "3.10", ("inbox", 640))) }
        for number in 8..<12 { days.append(day(number, version: "3.11", ("inbox", 650))) }
        let rise = try #require(FleetReport(days).screens.first?.rise)
        #expect(rise.version == "3.10" && rise.before == "3.9")
        #expect(rise.readsADay == 640 && rise.readsADayBefore == 100)
        #expect(
            FleetReport(days).text.contains("since version 3.10: 640, before 100 with 3.9"))
        for number in 12..<16 { days.append(day(number, version: "3.12", ("inbox", 90))) }
        #expect(FleetReport(days).screens.first?.rise == nil, "a later version mended it")
    }

    @Test func `few days of a version prove nothing`() {
        let days = [
            day(0, version: "1", ("inbox", 10)), day(1, version: "1", ("inbox", 10)),
            day(2, version: "1", ("inbox", 10)), day(3, version: "2", ("inbox", 900)),
        ]
        #expect(FleetReport(days).screens.first?.rise == nil)
    }

    @Test func `versions of one day are in the order of their numbers`() throws {
        var days: [FleetDay] = []
        for _ in 0..<3 {
            days.append(day(1, version: "2.10", ("inbox", 500)))
            days.append(day(1, version: "2.9", ("inbox", 100)))
        }
        #expect(FleetReport(days).screens.first?.rise?.version == "2.10")
    }

    @Test func `the text is that of the article`() throws {
        func day(_ number: Int, _ version: String, _ group: String, inbox: Int) -> FleetDay {
            let reads = inbox + 5
            return FleetDay(
                day: "2026-11-\(20 + number)", version: version, group: group,
                cached: number < 3 ? 115 : 0, dollars: Double(reads) * 0.06 / 100_000,
                rows: [
                    .init(screen: "inbox", label: "chat", cause: "listen", reads: inbox),
                    .init(screen: "search", label: "search", cause: "get", reads: 5),
                ])
        }
        let days =
            (1...4).map { day($0, "3.1", "free", inbox: 90) }
            + (5...8).map { day($0, "3.2", "paying", inbox: 640) }
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Tidemark/Tidemark.docc/WhatYourAppReads.md")
        let article = try String(contentsOf: root, encoding: .utf8)
        let text = FleetReport(days).text
        #expect(article.contains("```\n" + text + "```"), "\(text)")
    }

    @Test func `no days are a sentence`() {
        #expect(FleetReport([]).text == "tidemark reads: there are no days of devices.\n")
    }

    @Test func `JSON has all screens`() throws {
        let data = FleetReport((0..<30).map { day(1, ("screen \($0)", $0 + 1)) }).json
        let object = try #require(
            try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect((object["screens"] as? [Any])?.count == 30 && object["format"] as? Int == 1)
        let text = FleetReport((0..<30).map { day(1, ("screen \($0)", $0 + 1)) }).text
        #expect(text.contains("10 cheaper screens."))
    }

    @Test func `a document that is no day is left out`() {
        let fields: MapValue = [
            "format": .integer(1), "day": .string("2026-11-28"), "version": .string("1"),
            "group": .string(""), "cached": .integer(4), "dollars": .double(0.5),
            "rows": .array([
                .map([
                    "screen": .string("inbox"), "label": .string(""), "cause": .string("get"),
                    "reads": .integer(7),
                ])
            ]),
        ]
        #expect(FleetDay(fields)?.reads == 7 && FleetDay(fields)?.cached == 4)
        func changed(_ name: String, _ value: Value?) -> FleetDay? {
            var other = fields
            other[name] = value
            return FleetDay(other)
        }
        #expect(changed("format", .integer(2)) == nil, "a newer form")
        #expect(changed("rows", .string("")) == nil && changed("day", nil) == nil)
        #expect(changed("rows", .array([.map(["reads": .integer(-1)])])) == nil)
        #expect(changed("dollars", .double(.nan))?.dollars == 0)
    }
}
