import Testing
import TidemarkModel

@testable import TidemarkRules

/// Measures how much a request may read and evaluate, and compares the limits with production.
struct `Limits` {
    /// Returns the maximum number of documents that a condition may read without an error.
    private static func mostReads() throws -> Int {
        try most(upTo: 30) { count in
            (0..<count).map { "exists(/databases/$(database)/documents/a/d\($0))" }
        }
    }

    /// Returns the maximum number of operands in a condition without an error. An operand has three
    /// expressions.
    private static func mostOperands() throws -> Int {
        // The operands call a function, because one expression may not have so many parts.
        try most(upTo: 250) { count in Array(repeating: "part()", count: count) }
    }

    private static func most(
        upTo limit: Int, _ operands: (Int) -> [String]
    ) throws -> Int {
        var most = 0
        for count in 1...limit {
            let parts = operands(count)
            // Groups keep every expression small enough.
            let groups = stride(from: 0, to: parts.count, by: 50).map {
                "(" + parts[$0..<min($0 + 50, parts.count)].joined(separator: " && ") + ")"
            }
            let text = """
                rules_version = '2';
                service cloud.firestore {
                  match /databases/{database}/documents {
                    function part() { return 1 + 1 == 2; }
                    match /a/{id} { allow get: if \(groups.joined(separator: " && ")); }
                  }
                }
                """
            var sandbox = try RulesSandbox(text)
            for number in 0..<limit { sandbox["a/d\(number)"] = MapValue() }
            if sandbox.allows(.get("a/b"), as: .nobody) { most = count } else { break }
        }
        return most
    }

    @Test func `are production's`() throws {
        #expect(try Self.mostReads() == 10)
        let operands = try Self.mostOperands()
        // An operand has a call, a comparison, a sum and three literals, which cost six. Every
        // operand after the first costs two more for its `&&`.
        #expect((1_000 - 8..<1_000).contains(operands * 8 - 2), "\(operands)")
    }

    private static func manyBlocks(_ count: Int, _ allow: String) throws -> Ruleset {
        let blocks = (0..<count).map { "match /{p\($0)=**} { allow read, write: if \(allow); }" }
        return try Ruleset(
            """
            rules_version = '2';
            service cloud.firestore { match /databases/{database}/documents {
            \(blocks.joined(separator: " "))
            } }
            """)
    }

    private struct NoDocuments: RulesDatabase {
        func fields(of document: DocumentPath) throws -> MapValue? { nil }
    }

    @Test func `a reason has 20 sentences and 4,000 bytes, however many allows refuse`() throws {
        for (allow, most) in [
            ("false", 1_500), ("'\(String(repeating: "x", count: 900))' == ''", 4_010),
        ] {
            let rules = try Self.manyBlocks(200, allow)
            var judge = RulesJudge(rules, as: nil, at: .epoch, of: NoDocuments())
            let judgement = try judge.judge(get: try DocumentPath("a/b"))
            #expect(judgement.decision.verdicts.count == 200)
            let reason = judgement.reason(in: rules.source)
            #expect(reason.utf8.count < most, "\(reason.utf8.count)")
            #expect(reason.contains("180 more did not allow it.") == (allow == "false"))
        }
    }

    @Test func `a request tries so many allows, whatever the number of its writes`() throws {
        let rules = try Self.manyBlocks(3_000, "false || false")
        var judge = RulesJudge(rules, as: nil, at: .epoch, of: NoDocuments(), operations: 2)
        #expect(try judge.judge(get: try DocumentPath("a/b")).decision.verdicts.count == 3_000)
        let open = try Self.manyBlocks(1, "true")
        // The reads share one count of allows. After 6 documents, the judge stops during the
        // seventh.
        var tried = 3_000
        var last: RulesDecision?
        while tried <= RulesLimits.allowsPerRequest {
            last = try judge.judge(get: try DocumentPath("a/b")).decision
            tried += 3_000
        }
        #expect(last?.verdicts.count == RulesLimits.allowsPerRequest - 6 * 3_000 + 1)
        guard case .failed(.outOfEvaluations, _)? = last?.verdicts.last?.outcome else {
            Issue.record("\(String(describing: last?.verdicts.last?.outcome))")
            return
        }
        var other = RulesJudge(open, as: nil, at: .epoch, of: NoDocuments(), operations: 500)
        for _ in 0..<500 {
            #expect(try other.judge(get: try DocumentPath("a/b")).isAllowed)
        }
    }

    @Test(arguments: ["", "a", "a\nb", "é\nä\u{301}ö🙂x", String(repeating: "é🙂a\n", count: 99)])
    func `a position is as counted from the line's start`(text: String) {
        let source = SourceText(text + String(repeating: "ü", count: 70) + text)
        var (line, column) = (1, 1)
        for (offset, byte) in source.bytes.enumerated() {
            if byte & 0xC0 == 0x80 { continue }
            #expect(source.position(at: offset) == SourceText.Position(line: line, column: column))
            column += 1
            if byte == 0x0A { (line, column) = (line + 1, 1) }
        }
        #expect(source.position(at: .max) == SourceText.Position(line: line, column: column))
    }

    #if TIDEMARK_DEFECTS
        @Test func `that are wrong would be found`() throws {
            let reads = try RulesDefect.$planted.withValue(.oneReadMore) { try Self.mostReads() }
            #expect(reads == 11)
        }
    #endif
}
