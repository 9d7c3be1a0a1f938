import Foundation
import Testing
import TestSupport

@testable import TidemarkRules

@Suite(.enabled(if: ProductionCases.corpus.isPlayed))
struct `Production's verdicts` {
    @Test func `are ours, with its messages at its places`() throws {
        let scenarios = try ProductionCases.all()
        let cases = scenarios.flatMap(\.cases)
        #expect(scenarios.count == 24, "the scenarios have moved")
        #expect(cases.count == 180, "the cases have moved")
        #expect(cases.count { $0.production != "ALLOW" } == 91, "the denials have moved")
        #expect(cases.reduce(0) { $0 + $1.notes.count } == 46, "the messages have moved")
        for scenario in scenarios {
            let rules = try Ruleset(scenario.rules)
            // Some scenarios have recorded verdicts without notes.
            let hasNotes = scenario.cases.contains { !$0.notes.isEmpty }
            for test in scenario.cases { try check(test, rules, scenario.name, hasNotes) }
        }
    }

    private func check(
        _ test: ProductionCases.Case, _ rules: Ruleset, _ scenario: String, _ hasNotes: Bool
    ) throws {
        let request = try #require(test.request, "\(scenario): \(test.method)")
        let trace = RulesTrace()
        let decision = rules.decide(
            request, reading: MockedDocuments(test: test), trace: trace)
        let name = "\(scenario): \(test.description)"
        #expect(
            decision.isAllowed == (test.production == "ALLOW"),
            "\(name)\n\(trace.lines(of: rules.source))")
        if decision.isAllowed || !hasNotes { return }
        // Production writes no note about an operand that is not a boolean.
        let notes = decision.productionNotes.filter { !$0.contains("Expected a boolean") }
        #expect(notes == test.notes, "\(name)")
    }
}
