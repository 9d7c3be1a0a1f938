import SwiftSyntax

/// The check `too-many-values`.
enum Filters {
    private static let bounds = ["in": 30, "arrayContainsAny": 30, "notIn": 10]
    private static let bounding = [
        "chunk", "stride", "prefix", "slice", "batch", "suffix", "group", "part", "page", "split",
    ]

    static func findings(in context: CheckContext) -> [Finding] {
        (context.project.calls["whereField"] ?? []).compactMap { site in
            let arguments = Array(site.node.arguments)
            guard arguments.count == 2, let test = arguments[1].label?.bare,
                let bound = bounds[test]
            else { return nil }
            return finding(
                arguments[1].expression, test: test, bound: bound, site: site, in: context)
        }
    }

    private static func finding(
        _ values: ExprSyntax, test: String, bound: Int, site: Project.CallSite,
        in context: CheckContext
    ) -> Finding? {
        if case .list(let known) = context.evaluator.value(values) {
            guard known.count > bound else { return nil }
            return context.finding(
                .tooManyValues, in: site.file, at: values,
                "`\(test):` takes at most \(bound) values, and these are \(known.count).",
                because: "The query fails.", mend: mending(bound), severity: .error)
        }
        guard
            values.bare.is(DeclReferenceExprSyntax.self)
                || values.bare.is(MemberAccessExprSyntax.self)
                || values.bare.is(FunctionCallExprSyntax.self)
        else { return nil }
        let text = values.trimmedDescription
        if text.contains("allCases") || text.contains("[") { return nil }
        // The values are those of an enum, which has few cases.
        let definition = context.definition(of: values)?.trimmedDescription ?? text
        if definition.contains("rawValue") || definition.contains("allCases") { return nil }
        guard !isBounded(values, bound: bound, in: context) else { return nil }
        return context.finding(
            .tooManyValues, in: site.file, at: values,
            "`\(test):` takes at most \(bound) values, and nothing here keeps `\(text.oneLine)` "
                + "within that.",
            because: """
                With more values the query fails, which affects the users with the most data.
                """,
            mend: mending(bound))
    }

    private static func mending(_ bound: Int) -> String {
        "Query in groups of \(bound) and combine the results."
    }

    private static func isBounded(
        _ values: ExprSyntax, bound: Int, in context: CheckContext
    ) -> Bool {
        if values.mentions(wordsOf: bounding) { return true }
        guard let function = values.enclosingFunction else { return false }
        if function.mentions(wordsOf: ["chunk", "stride", "prefix"]) { return true }
        // The function compares its count with a number.
        let comparisons = function.all(SequenceExprSyntax.self).filter { sequence in
            sequence.mentions("count")
                && sequence.elements.contains {
                    let symbol = $0.as(BinaryOperatorExprSyntax.self)?.operator.text
                    return symbol == "<=" || symbol == "<" || symbol == ">" || symbol == ">="
                }
        }
        return comparisons.contains { sequence in
            sequence.all(IntegerLiteralExprSyntax.self).contains {
                Int($0.literal.text).map { $0 > 1 && $0 <= bound + 1 } ?? false
            }
        }
    }
}
