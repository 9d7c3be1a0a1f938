import Foundation
import Testing
import TidemarkModel

@testable import TidemarkRules

struct `Coverage` {
    private let text = """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{database}/documents {
            function isOwner() { return resource.data.owner == request.auth.uid; }
            match /notes/{id} {
              allow get: if request.auth != null && isOwner();
              allow delete: if isOwner();
              allow create: if false || request.auth.uid == 'ann';
            }
          }
        }
        """

    private func coverage(
        _ questions: (RulesOperation, RulesPerson)...
    ) throws -> RulesCoverage {
        var sandbox = try RulesSandbox(text)
        sandbox["notes/a"] = ["owner": .string("ann")]
        var coverage = RulesCoverage(of: sandbox.rules)
        for (operation, person) in questions {
            for judgement in try sandbox.judgements(of: operation, as: person) {
                coverage.note(judgement)
            }
        }
        return coverage
    }

    @Test func `counts what each allow has answered`() throws {
        let coverage = try coverage(
            (.get("notes/a"), .user("ann")), (.get("notes/a"), .user("bob")),
            (.get("notes/a"), .nobody), (.get("notes/missing"), .user("ann")),
            (.list(Query(collectionID: "notes")), .user("ann")))
        let report = coverage.report
        #expect(report.map(\.position.line) == [6, 7, 8])
        #expect(report[0].answers.allowed == 1)
        #expect(report[0].answers.denied == 2)
        #expect(report[0].answers.failed == 1, "a missing document has no data")
        #expect(report[1].answers.asked == 0, "nothing was deleted")
        #expect(report[0].text == "allow get: if request.auth != null && isOwner()")
    }

    @Test func `says what was not tested`() throws {
        let none = try coverage().untested
        #expect(none.map(\.message) == Array(repeating: "No request reached this allow.", count: 3))
        let one = try coverage((.get("notes/a"), .user("ann"))).untested.map(\.description)
        #expect(one.contains("L6:21 Always true: request.auth != null."))
        #expect(one.contains("L6:45 Always true: isOwner()."))
        #expect(one.contains("L7:7 No request reached this allow."))
        let both = try coverage(
            (.get("notes/a"), .user("ann")), (.get("notes/a"), .user("bob")),
            (.get("notes/a"), .nobody)
        ).untested.filter { $0.position.line == 6 }
        #expect(both.isEmpty, "each operand was true and false")
    }

    @Test func `is told as the emulator tells it`() throws {
        let coverage = try coverage((.get("notes/a"), .user("ann")), (.get("notes/a"), .nobody))
        let data = try JSONEncoder().encode(RulesCoverageReport(coverage))
        let tree = try #require(
            try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let files = (tree["rules"] as? [String: Any])?["files"] as? [[String: Any]]
        #expect(files?.first?["content"] as? String == text)
        let report = try #require(tree["report"] as? [[String: Any]])
        let condition = try #require(
            report.first { ($0["sourcePosition"] as? [String: Any])?["line"] as? Int == 6 })
        let values = try #require(condition["values"] as? [[String: Any]])
        let booleans = values.compactMap { ($0["value"] as? [String: Any])?["boolValue"] as? Bool }
        #expect(Set(booleans) == [true, false])
        #expect(values.compactMap { $0["count"] as? Int } == [1, 1])
        #expect((condition["children"] as? [[String: Any]])?.count == 2)
    }

    @Test func `escapes the file in its page`() throws {
        let rules = try Ruleset(
            text.replacing("'ann'", with: "'<script>alert(1)</script>'"))
        let html = RulesCoverage(of: rules).html
        #expect(!html.contains("<script"))
        #expect(html.contains("&lt;script&gt;"))
        #expect(html.contains("not evaluated"))
    }

    @Test func `keeps few values of an expression`() throws {
        var count = ExpressionCount()
        for number in 0..<100 { count.note(.success(.integer(Int64(number)))) }
        for _ in 0..<5 { count.note(.success(.map(RulesMap([])))) }
        #expect(count.values.count == 8)
        #expect(count.others == 97)
    }
}
