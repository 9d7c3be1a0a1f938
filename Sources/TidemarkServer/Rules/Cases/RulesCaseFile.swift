package import Foundation
package import TidemarkModel
package import TidemarkRules

/// Documents, and the cases that are judged on them. `tidemark rules test` reads such files.
package struct RulesCaseFile: Sendable {
    /// The path of the rules file, relative to the folder of this file; nil if none is named.
    package let rules: String?
    /// The value of `request.time`.
    package let time: Timestamp?
    package let documents: [(path: String, fields: MapValue)]
    package private(set) var cases: [RulesCase]

    /// - Throws: ``RulesCaseError`` with the first error, and the number of its case.
    package init(_ data: Data) throws(RulesCaseError) {
        guard case .object(let fields)? = try? JSONValue(Array(data)) else {
            throw RulesCaseError("The file is not a JSON object.")
        }
        rules = fields["rules"]?.text
        switch try fields["time"].map({ value throws(RulesCaseError) in
            try CaseValue.value(.object(["$timestamp": value]))
        }) {
        case .timestamp(let found)?: time = found
        default: time = nil
        }
        var documents: [(path: String, fields: MapValue)] = []
        for (path, value) in (fields["documents"]?.object ?? [:]).sorted(by: {
            $0.name.precedesInBytes($1.name)
        }) {
            guard (try? DocumentPath(path)) != nil, case .map(let map) = try CaseValue.stored(value)
            else { throw RulesCaseError("\"documents\" has no document at \"\(path)\".") }
            documents.append((path, map))
        }
        self.documents = documents
        var cases: [RulesCase] = []
        for (index, value) in (fields["cases"]?.elements ?? []).enumerated() {
            do throws(RulesCaseError) {
                guard let fields = value.object else {
                    throw RulesCaseError(
                        """
                        It is not an object.
                        """)
                }
                cases.append(try RulesCase(fields))
            } catch {
                throw RulesCaseError("Case \(index + 1): \(error.message)")
            }
        }
        self.cases = cases
    }

    /// Returns a copy of the file with other cases.
    package func with(_ cases: [RulesCase]) -> RulesCaseFile {
        var copy = self
        copy.cases = cases
        return copy
    }

    /// The outcome of a case.
    package struct Outcome: Sendable {
        package let test: RulesCase
        package let isAllowed: Bool
        /// The reason for the refusal; empty if the request was allowed.
        package let reason: String
        package let trace: [String]

        /// True if the decision is as expected, or if no decision was expected.
        package var isAsExpected: Bool { (test.isExpectedAllowed ?? isAllowed) == isAllowed }
    }

    /// Judges every case.
    package func run(_ rules: Ruleset) -> (outcomes: [Outcome], coverage: RulesCoverage) {
        var sandbox = RulesSandbox(rules, at: time ?? .epoch)
        for (path, fields) in documents { sandbox[path] = fields }
        var coverage = RulesCoverage(of: rules)
        let outcomes = cases.map { test in
            // The paths were checked when the case was decoded.
            let judged = (try? sandbox.judgements(of: test.operation, as: test.person)) ?? []
            for judgement in judged { coverage.note(judgement) }
            return Outcome(
                test: test, isAllowed: judged.last?.isAllowed ?? true,
                reason: judged.last?.reason(in: rules.source) ?? "",
                trace: judged.flatMap { $0.lines(of: rules.source) })
        }
        return (outcomes, coverage)
    }
}
