import Foundation
import Testing

@testable import TidemarkLint

struct FindingTests {
    @Test(arguments: LintCase.all)
    func `a finding is told where the code has it, and not where it only looks so`(
        example: LintCase
    ) {
        let report = LintCase.report(on: example.code)
        let isFound = report.findings.contains { $0.id == example.id }
        #expect(isFound == example.isFound, "\(example.code)\n\(report.findings.map(\.message))")
    }

    @Test(arguments: FindingID.allCases)
    func `each finding has five codes that have it and five that do not`(id: FindingID) {
        let cases = LintCase.cases(of: id)
        #expect(cases.count { $0.isFound } >= 5)
        #expect(cases.count { !$0.isFound } >= 5)
    }
}
