import Testing
import TidemarkModel

@testable import TidemarkRules

/// How much a request may read and evaluate: counted from outside, and compared with production.
@Suite struct `Limits` {
    /// The most documents that one condition reads and is still true.
    private static func mostReads() throws -> Int {
        try most(upTo: 30) { count in
            (0..<count).map { "exists(/databases/$(database)/documents/a/d\($0))" }
        }
    }

    /// The most operands, each of three expressions, that one condition has and is still true.
    private static func mostOperands() throws -> Int {
        // Nested by functions, because one expression may not have as many.
        try most(upTo: 250) { count in Array(repeating: "part()", count: count) }
    }

    private static func most(
        upTo limit: Int, _ operands: (Int) -> [String]
    ) throws -> Int {
        var most = 0
        for count in 1...limit {
            let parts = operands(count)
            // Groups keep each expression small enough.
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
        // A call, a comparison, a sum and three literals: six; `&&` costs two more for each operand
        // behind the first, of which one is for itself.
        #expect((1_000 - 8..<1_000).contains(operands * 8 - 2), "\(operands)")
    }

    #if TIDEMARK_DEFECTS
        @Test func `that are wrong would be found`() throws {
            let reads = try RulesDefect.$planted.withValue(.oneReadMore) { try Self.mostReads() }
            #expect(reads == 11)
        }
    #endif
}
