import Foundation
import Testing

@testable import TidemarkReads

struct `A file of reads` {
    private let lines = [
        KeptLine(
            ReadKey(
                label: "tests/test_feed.py::test_open[\"é\"]", call: "RunQuery",
                target: "rooms/*/messages", query: "where n >= ? order by n desc"),
            least: 20, most: 20, limit: 20),
        KeptLine(
            ReadKey(label: "client js", call: "Listen", target: "users", query: ""), least: 3,
            most: 9, reason: "Two tabs \\ race.", calls: 4, resumed: 2),
    ]

    private func file(_ text: String) throws -> ReadsFile {
        try ReadsFile(Data(text.utf8), name: "reads.json")
    }

    private func message(_ text: String) -> String {
        do {
            _ = try file(text)
            return "accepted"
        } catch let error as ReadsFileError { return error.message } catch { return "\(error)" }
    }

    private func message(line: String) -> String {
        message("{\"format\": 1, \"lines\": [\(line)]}")
    }

    @Test func `is read as it was written`() throws {
        let file = ReadsFile(lines)
        #expect(try ReadsFile(file.data, name: "reads.json") == file)
        #expect(try ReadsFile(ReadsFile([]).data, name: "reads.json").lines.isEmpty)
    }

    @Test func `has a line for each entry, in one order`() {
        let text = String(decoding: ReadsFile(lines).data, as: UTF8.self)
        #expect(ReadsFile(lines.reversed()).data == ReadsFile(lines).data)
        #expect(
            text == #"""
                {
                  "format": 1,
                  "lines": [
                    {"label": "client js", "call": "Listen", "target": "users", "calls": 4, "resumed": 2, "reads": {"least": 3, "most": 9}, "reason": "Two tabs \\ race."},
                    {"label": "tests/test_feed.py::test_open[\"é\"]", "call": "RunQuery", "target": "rooms/*/messages", "query": "where n >= ? order by n desc", "limit": 20, "calls": 1, "reads": 20}
                  ]
                }

                """#)
    }

    @Test(arguments: ["", "{", "[]", "<<<<<<< HEAD\n{\"format\": 1}", "null", "\u{0}"])
    func `that is no JSON object is refused`(text: String) {
        #expect(message(text).hasPrefix("reads.json is not valid JSON. Restore it"))
    }

    @Test func `of a newer format, or of none, is refused with what to do`() {
        #expect(
            message(#"{"format": 3, "rows": []}"#) == """
                reads.json has format 3, and this version of tidemark reads formats up to 2. \
                Install the version that wrote it, or a newer one.
                """)
        #expect(message("{}") == #"reads.json has no "format": it is not a file of reads."#)
        #expect(message(#"{"format": 1}"#).contains("damaged"))
        #expect(message(#"{"format": 0, "lines": []}"#).contains("damaged"))
    }

    @Test(arguments: [
        ("3", "is not an object"), ("{}", #"has no "label" that is a text"#),
        (#"{"label": 1}"#, #"has no "label" that is a text"#),
        (#"{"label": "a", "call": "b", "target": "c"}"#, #"has no "reads""#),
        (#"{"label": "a", "call": "b", "target": "c", "reads": -1}"#, "whole number"),
        (#"{"label": "a", "call": "b", "target": "c", "reads": 1.5}"#, "whole number"),
        (#"{"label": "a", "call": "b", "target": "c", "reads": true}"#, "whole number"),
        (#"{"label": "a", "call": "b", "target": "c", "reads": 1e300}"#, "whole number"),
        (
            #"{"label": "a", "call": "b", "target": "c", "reads": {"least": 3, "most": 2}}"#,
            "not less"
        ),
        (#"{"label": "a", "call": "b", "target": "c", "reads": 1, "raeson": "d"}"#, "\"raeson\""),
        (#"{"label": "a", "call": "b", "target": "c", "reads": 1, "reason": 2}"#, "\"reason\""),
    ])
    func `names the place of a fault`(line: String, part: String) {
        let text = message(line: line)
        #expect(text.hasPrefix("reads.json, line 1 of \"lines\"") && text.contains(part), "\(text)")
    }

    @Test func `has each line once`() {
        let line = #"{"label": "a", "call": "b", "target": "c", "reads": 1}"#
        #expect(message(line: line) == "accepted")
        #expect(message(line: "\(line), \(line)").hasSuffix("b c occurs twice."))
    }

    @Test func `with damage is read, or refused with a sentence`() {
        let whole = Array(ReadsFile(lines).data)
        var random = SystemRandomNumberGenerator()
        var refused = 0
        for _ in 0..<2_000 {
            var bytes = whole
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[place] = .random(in: 0...255, using: &random)
            case 1: bytes.removeSubrange(place...)
            default: bytes.insert(.random(in: 0...255, using: &random), at: place)
            }
            do throws(ReadsFileError) { _ = try ReadsFile(Data(bytes), name: "reads.json") } catch {
                refused += 1
                #expect(error.message.hasPrefix("reads.json"))
            }
        }
        #expect(refused > 500)
    }
}

struct `A report of reads` {
    private let grown = ReadsReport(
        ReadsComparison(
            ReadsFile([
                KeptLine(
                    ReadKey(
                        label: "test_open", call: "RunQuery", target: "messages",
                        query: "order by time desc"),
                    least: 20, most: 20, limit: 20),
                KeptLine(
                    ReadKey(label: "test_close", call: "Listen", target: "users", query: ""),
                    least: 9, most: 9),
            ]),
            [
                RunLine(
                    ReadKey(
                        label: "test_open", call: "RunQuery", target: "messages",
                        query: "order by time desc"),
                    reads: 500, example: "messages order by time desc",
                    indexes: ["Collection (time DESC, __name__ DESC)"]),
                RunLine(
                    ReadKey(label: "test_close", call: "Listen", target: "users", query: ""),
                    reads: 4),
            ]), file: "reads.json")

    @Test func `names the call, its query, the index and what to do`() {
        #expect(
            grown.text == """
                tidemark reads: 1 line grew: 504 reads, 29 recorded.

                +480  test_open  RunQuery messages order by time desc
                    20 → 500 reads, 1 → 1 call
                    largest call: messages order by time desc
                    index: Collection (time DESC, __name__ DESC)
                    The query had a limit of 20, and now has none. Add the limit again, and read \
                older documents in pages.

                -5  test_close  Listen users: 9 → 4 reads, 1 → 1 call

                If the new reads are wanted, run the command with 'tidemark reads record', and \
                commit reads.json.

                """)
    }

    @Test func `is a table on GitHub, in which names have no effect`() {
        let text = grown.markdown
        #expect(text.contains("| +480 | test\\_open | <code>RunQuery messages order by time desc"))
        #expect(text.contains("Lines that shrank:"))
        let evil = ReadsReport(
            ReadsComparison(
                ReadsFile([]),
                [
                    RunLine(
                        ReadKey(
                            label: "a|b\n# c <img src=x> @team", call: "Listen", target: "`x`",
                            query: ""), reads: 1)
                ]), file: "reads.json")
        #expect(evil.markdown.contains("a\\|b \\# c &lt;img src=x&gt; \\@team"))
        #expect(evil.markdown.contains("<code>Listen \\`x\\`</code>"))
        #expect(evil.text.contains("a|b # c <img src=x> @team"), "on one line")
    }

    @Test func `has all lines as JSON`() throws {
        let object = try #require(
            try JSONSerialization.jsonObject(with: grown.json) as? [String: Any])
        #expect(object["verdict"] as? String == "grew" && object["reads"] as? Int == 504)
        let lines = try #require(object["grown"] as? [[String: Any]])
        #expect(lines[0]["change"] as? Int == 480)
        #expect((lines[0]["before"] as? [String: Any])?["limit"] as? Int == 20)
        #expect((lines[0]["advice"] as? [String])?.count == 1)
    }

    @Test func `shows at most 50 lines, and says how many there are`() {
        let seen = (0..<60).map {
            RunLine(ReadKey(label: "l", call: "Listen", target: "c\($0)", query: ""), reads: 1)
        }
        let report = ReadsReport(ReadsComparison(ReadsFile([]), seen), file: "reads.json")
        #expect(report.text.contains("10 more lines grew."))
        #expect(report.markdown.contains("and 10 more"))
        #expect(report.headline == "60 lines grew: 60 reads, 0 recorded.")
    }
}
