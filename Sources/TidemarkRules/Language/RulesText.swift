/// Sentences of production that are used in several places.
enum RulesText {
    static let tooComplex = "Expression is too complex to evaluate safely."
    static let recursive = "Recursive call is not allowed."
    static let outOfEvaluations =
        "Unable to evaluate the expression as the maximum of \(RulesLimits.evaluations) expressions to evaluate has been reached."
    static let tooManyVariables =
        "Maximum allowed variable count of 10 for a given function has been reached."
    static func tooDeep(_ stack: [String]) -> String {
        "Maximum allowed call depth of 20 is reached for [\(stack.joined(separator: "->"))] call stack."
    }
    static func badPattern(_ pattern: String) -> String {
        "Invalid regular expression pattern. Pattern: \(pattern)."
    }
}
