import Testing
import TidemarkModel
import TidemarkRules

/// Checks the place and the text of production's errors of operators. The errors of a division and
/// of `in` were recorded with production's rules test API.
struct `Errors of operators` {
    private func notes(_ condition: String) throws -> [String] {
        let rules = try RulesSandbox(
            """
            service cloud.firestore {
              match /databases/{database}/documents {
                match /c/{id} {
                  allow create: if \(condition);
                }
              }
            }
            """)
        let judged = try rules.judgements(of: .create("c/a", [:]), as: .nobody)
        return judged.flatMap(\.decision.productionNotes)
    }

    /// Checks the place of the marked operator.
    @Test(arguments: [
        ("10 »/ 0 == 0", "Divide by zero error."), ("10 »% 0 == 0", "Divide by zero error."),
        ("1.5 »% 0 == 0", "Divide by zero error."),
        ("1 == 2 || (3 + 10) »/ (1 - 1) == 0", "Divide by zero error."),
        ("9223372036854775807 »+ 1 > 0", "Integer overflow error."),
        ("1 »< 'a'", "Unsupported operation error. Received: int < string."),
        ("timestamp.value(0) »>= 1", "Unsupported operation error. Received: timestamp >= int."),
        ("[1] »+ [2] == [1, 2]", "Unsupported operation error. Received: list + list."),
        ("'a' »- 'b' == ''", "Unsupported operation error. Received: string - string."),
        (
            "!(1 »in {'a': 1})",
            "Unsupported operation error. Received: map.in(int). Expected: map.in(string)."
        ),
        ("!('a' »in 'abc')", "Function not found error: Name: [in]."),
        ("!('a' »in null)", "Null value error."),
        ("»-'a' == 1", "Unsupported operation error. Received: -string. Expected: number."),
    ])
    func `are reported at the operator`(marked: String, message: String) throws {
        let parts = marked.split(separator: "»", omittingEmptySubsequences: false)
        let column = "      allow create: if ".count + parts[0].count + 1
        #expect(
            try notes(parts.joined()) == [
                "Error: firestore.rules line [4], column [\(column)]. \(message)"
            ])
    }
}
