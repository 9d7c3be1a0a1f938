import Foundation
import Testing

@testable import TidemarkLint

struct ReportTests {
    private static let text = """
        import FirebaseFirestore
        let db = Firestore.firestore()
        func load() {
            db.collection("games").getDocuments { games, error in show(games, error) }
        }
        func send() { db.collection("messages").addDocument(data: ["sentAt": Timestamp(), "é": Date()], completion: told) }

        """

    private static func report(_ linter: Linter = Linter()) -> Report {
        linter.report(on: [(path: "App/Game.swift", text: text)])
    }

    @Test func `shows the line, a caret, why, what to do, and what it reads`() {
        let shown = TextReport(Self.report(), texts: ["App/Game.swift": Self.text]).text
        let lines = shown.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(
            lines[0]
                == "App/Game.swift:4:28: note: This reads every document of `games`. [whole-collection-read]"
        )
        #expect(
            lines[1]
                == "    db.collection(\"games\").getDocuments { games, error in show(games, error) }"
        )
        let caret = lines[2].distance(from: lines[2].startIndex, to: lines[2].firstIndex(of: "^")!)
        #expect(lines[1].dropFirst(caret).hasPrefix("getDocuments"))
        #expect(lines[3].hasPrefix("    why: ") && lines[4].hasPrefix("    do:  "))
        #expect(
            lines[5] == "    est: 1,000 reads × 50 opens × 1,000 users a day: "
                + "1,500,000,000 reads and $899.10 a month")
        #expect(shown.hasSuffix("1 file, 2 calls of Firestore: 3 notes\n"))
    }

    @Test func `estimates are of the app's size and its prices`() throws {
        var linter = Linter()
        linter.scale = Scale(documents: 10, opens: 2, users: 5, sizes: ["games": 40])
        let estimate = try #require(Self.report(linter).findings[0].estimate)
        #expect(estimate.reads == 40 && estimate.readsAMonth == 12_000)
        #expect(estimate.dollarsAMonth == 0, "50,000 reads a day are free")
    }

    @Test func `JSON has all of a report, and is read back`() throws {
        let report = Self.report()
        let back = try JSONDecoder().decode(Report.self, from: report.json)
        #expect(back.findings == report.findings && back.operations == 2)
    }

    @Test func `SARIF names its version, its rules and the places`() throws {
        let tree = try #require(
            try JSONSerialization.jsonObject(with: Self.report().sarif) as? [String: Any])
        #expect(tree["version"] as? String == "2.1.0" && tree["$schema"] != nil)
        let run = try #require((tree["runs"] as? [[String: Any]])?.first)
        let driver = (run["tool"] as? [String: Any])?["driver"] as? [String: Any]
        #expect((driver?["rules"] as? [Any])?.count == FindingID.allCases.count)
        let result = try #require((run["results"] as? [[String: Any]])?.first)
        #expect(result["ruleId"] as? String == "whole-collection-read")
        #expect(result["level"] as? String == "note")
        let location = (result["locations"] as? [[String: Any]])?.first?["physicalLocation"]
        let region = (location as? [String: Any])?["region"] as? [String: Int]
        #expect(region == ["startLine": 4, "startColumn": 28])
    }

    @Test func `one line a finding for Xcode, and one for GitHub with its line ends escaped`() {
        let lines = LineReport(Self.report())
        #expect(lines.xcode.hasPrefix("App/Game.swift:4:28: note: This reads every document"))
        #expect(lines.xcode.split(separator: "\n").count == 3)
        #expect(
            lines.github.hasPrefix(
                "::notice file=App/Game.swift,line=4,col=28,title=whole-collection-read::This reads"
            ))
        #expect(lines.github.contains("%0A") && lines.github.split(separator: "\n").count == 3)
    }

    @Test func `the page has the costliest, and escapes what the code says`() {
        let code =
            "import Firebase\nfunc a(db: Firestore) { db.collection(\"<b>\").getDocuments { s, e in f(s, e) } }"
        let report = Linter().report(on: [(path: "A.swift", text: code)])
        let html = PageReport(report).html
        #expect(html.contains("<h2>The costliest</h2>") && html.contains("$899.10 a month"))
        #expect(html.contains("<code>&lt;b&gt;</code>") && !html.contains("<b>\""))
    }

    @Test func `the page has names as code, the first opened, and no word of Markdown`() {
        let html = PageReport(Self.report()).html
        #expect(html.contains("<td>This reads every document of <code>games</code>."))
        #expect(html.contains("of <code>games</code></dd>"), "also in how it is reckoned")
        #expect(!html.contains("`") && html.count(of: "<details open>") == 1)
        #expect(PageReport.marked("a `b` < `c`") == "a <code>b</code> &lt; <code>c</code>")
        #expect(PageReport.marked("a ` alone") == "a ` alone")
    }

    @Test func `what it cannot notify is counted in every form`() throws {
        let code =
            "import Firebase\nfunc listen(_ q: Query) { t = q.addSnapshotListener { s, e in f(s, e) } }"
        let report = Linter().report(on: [(path: "A.swift", text: code)])
        let sentence = "1 call could not be checked"
        #expect(TextReport(report, texts: [:]).text.contains(sentence))
        #expect(
            LineReport(report).github.hasSuffix("\n")
                && LineReport(report).github.contains(sentence))
        #expect(LineReport(report).xcode.contains(sentence))
        #expect(PageReport(report).html.contains("1 calls could not be checked") == false)
        #expect(PageReport(report).html.contains(sentence))
        #expect(try JSONDecoder().decode(Report.self, from: report.json).untold.count == 1)
        #expect(
            String(decoding: report.sarif, as: UTF8.self).contains("toolExecutionNotifications"))
    }

    @Test func `Xcode gets whole paths`() {
        #expect(LineReport(Self.report(), in: "/app").xcode.hasPrefix("/app/App/Game.swift:4:28: "))
    }

    @Test func `findings at the same place of two files are two`() {
        let code = """
            import Firebase
            func send() { db.collection("a").addDocument(data: ["at": Date()], completion: told) }
            func like() { db.document("a/b").updateData(["likes": post.likes + 1]) }
            """
        let report = Linter().report(on: [("A.swift", code), ("B.swift", code)])
        for id in [FindingID.clientClock, .counterOverwritten] {
            let places = report.findings.filter { $0.id == id }.map(\.place.path)
            #expect(places == ["A.swift", "B.swift"])
        }
    }

    @Test func `a baseline takes out what was there, as often as it was`() throws {
        let report = Self.report()
        let baseline = try Baseline(json: Baseline(report).json)
        let moved = Linter().report(on: [(path: "App/Game.swift", text: "\n\n" + Self.text)])
        let left = baseline.applied(to: moved)
        #expect(left.findings.isEmpty && left.known == 3)
        let twice = Linter().report(on: [(path: "App/Game.swift", text: Self.text + Self.text)])
        #expect(baseline.applied(to: twice).findings.count == 3)
    }

    @Test func `the difference of the fixes is what the file becomes, and it lints clean`() throws {
        let fixes = Fixes(Self.report(), texts: ["App/Game.swift": Self.text])
        let change = try #require(fixes.changes.first)
        #expect(change.count == 2)
        #expect(
            change.after.contains(
                "[\"sentAt\": FieldValue.serverTimestamp(), \"é\": FieldValue.serverTimestamp()]"))
        #expect(fixes.difference.contains("@@ -6 +6 @@"))
        let mended = Linter().report(on: [(path: "App/Game.swift", text: change.after)])
        #expect(!mended.findings.contains { $0.id == .clientClock })
    }

    @Test func `a comment ignores, also of a whole file, and is counted`() {
        let line = "    // tidemark:ignore whole-collection-read there are ten\n"
        let text = Self.text.replacing(
            "    db.collection(\"games\")", with: line + "    db.collection(\"games\")")
        let report = Linter().report(on: [(path: "A.swift", text: text)])
        #expect(report.ignored == 1 && report.findings.map(\.id) == [.clientClock, .clientClock])
        let whole = "// tidemark:ignore-file client-clock a clock of our own\n" + text
        #expect(Linter().report(on: [(path: "A.swift", text: whole)]).findings.isEmpty)
    }

    @Test func `a file that does not parse is told, and what is known of it is read`() {
        let broken = Self.text + "func x( {\n"
        let report = Linter().report(on: [(path: "A.swift", text: broken)])
        #expect(report.unparsed == ["A.swift"] && report.findings.count == 3)
    }

    @Test func `what the code does not say is counted, and not told`() {
        let code =
            "import Firebase\nfunc listen(_ query: Query) { t = query.addSnapshotListener { s, e in f(s, e) } }"
        let report = Linter().report(on: [(path: "A.swift", text: code)])
        #expect(!report.findings.contains { $0.id == .unboundedListener })
        #expect(report.untold.map(\.place.line) == [2])
    }

    @Test func `code that imports Firestore where there is one is judged`() {
        let code = """
            #if canImport(FirebaseFirestore)
            import FirebaseFirestore
            func a(db: Firestore) { db.collection("a").getDocuments { s, e in f(s, e) } }
            #endif
            """
        #expect(Linter().report(on: [(path: "A.swift", text: code)]).operations == 1)
    }

    @Test func `code that does not import Firestore is not judged`() {
        let code = "func a(db: Store) { db.collection(\"a\").getDocuments { s, e in f(s, e) } }"
        #expect(Linter().report(on: [(path: "A.swift", text: code)]).operations == 0)
    }

    @Test(arguments: [
        (#"{"documents": "many"}"#, "documents"),
        (#"{"dokuments": 1}"#, "there is no setting `dokuments`"),
        (#"{"disabled": ["x"]}"#, "there is no finding `x`"),
        (#"{"location": "moon"}"#, "no prices are known"),
        (#"{"users": -1}"#, "figures must be 0"), ("nothing", "JSON"),
    ])
    func `a configuration that is wrong says what is wrong`(json: String, sentence: String) {
        let error = #expect(throws: LintConfigurationError.self) {
            _ = try LintConfiguration(json: Data(json.utf8)).linter()
        }
        #expect(error?.message.contains(sentence) == true, "\(error?.message ?? "")")
    }

    @Test func `severities can be set, and findings switched off`() {
        var linter = Linter()
        linter.disabled = [.clientClock]
        linter.severities = [.wholeCollectionRead: .error]
        let report = Self.report(linter)
        #expect(report.findings.map(\.severity) == [.error])
    }
}

extension String {
    fileprivate func count(of part: String) -> Int { ranges(of: part).count }
}
