import SwiftSyntax

extension Evaluator {
    private static let tests: Set<String> = [
        "isEqualTo", "isNotEqualTo", "isLessThan", "isLessThanOrEqualTo", "isGreaterThan",
        "isGreaterThanOrEqualTo", "arrayContains", "arrayContainsAny", "in", "notIn",
    ]

    /// Returns the query that a call derives from another; nil for other calls.
    func chain(
        _ name: String, node: FunctionCallExprSyntax, base: Known?, in scope: Scope
    ) -> QueryFacts? {
        guard let base else { return nil }
        let first = node.arguments.first
        switch name {
        case "whereField":
            guard node.arguments.count == 2 else { return nil }
        case "whereFilter", "start", "end":
            guard node.arguments.count >= 1 else { return nil }
        case "order": guard first?.label?.bare == "by" else { return nil }
        case "limit":
            guard first?.label?.bare == "to" || first?.label?.bare == "toLast" else { return nil }
        default: return nil
        }
        var facts: QueryFacts
        switch base {
        case .query(let known): facts = known
        case .unknown, .instance: facts = .unknown
        default: return nil
        }
        apply(name, node: node, to: &facts, in: scope)
        return facts
    }

    private func apply(
        _ name: String, node: FunctionCallExprSyntax, to facts: inout QueryFacts, in scope: Scope
    ) {
        let arguments = Array(node.arguments)
        switch name {
        case "whereField":
            guard let test = arguments[1].label?.bare, Self.tests.contains(test) else {
                facts.isComplete = false
                return
            }
            let written = arguments[1].expression
            facts.conditions.append(
                QueryFacts.Condition(
                    field: field(arguments[0].expression, scope), test: test,
                    value: value(written, scope), text: written.trimmedDescription))
        case "whereFilter":
            facts.hasCompositeFilter = true
            facts.isComplete = false
        case "order":
            var isDescending: Bool? = false
            if let argument = node.argument("descending") {
                if case .flag(let flag) = value(argument, scope) {
                    isDescending = flag
                } else {
                    isDescending = nil
                }
            }
            facts.orders.append(
                QueryFacts.Order(
                    field: field(arguments[0].expression, scope), isDescending: isDescending))
        case "limit":
            if case .number(let count) = value(arguments[0].expression, scope) {
                facts.limit = .count(count)
            } else {
                facts.limit = .written(arguments[0].expression.trimmedDescription)
            }
        default:
            facts.hasCursor = true
        }
    }

    /// Evaluates the calls that make a pipeline.
    func pipeline(
        _ name: String, node: FunctionCallExprSyntax, base: Known?, in scope: Scope
    ) -> Known? {
        let first = node.arguments.first?.expression
        switch (name, base) {
        case ("pipeline", .database?) where first == nil: return .pipelineSource
        case ("pipeline", .query(let facts)?) where first == nil:
            return .pipeline(PipelineFacts(facts))
        case ("collection", .pipelineSource?), ("create", .pipelineSource?):
            guard let first else { return nil }
            if case .query(let facts) = value(first, scope) {
                return .pipeline(PipelineFacts(facts))
            }
            if name == "create" { return .unknown }
            var facts = QueryFacts()
            facts.path = segments(node, scope)
            return .pipeline(PipelineFacts(source: facts))
        case ("collectionGroup", .pipelineSource?):
            var facts = QueryFacts()
            facts.isGroup = true
            facts.path = segments(node, scope)
            return .pipeline(PipelineFacts(source: facts))
        case ("database", .pipelineSource?):
            return .pipeline(PipelineFacts(source: QueryFacts()))
        case ("documents", .pipelineSource?): return .pipeline(PipelineFacts(source: nil))
        case (_, .pipeline(let facts)?): return facts.after(name).map(Known.pipeline)
        default: return nil
        }
    }

    private func field(_ node: ExprSyntax, _ scope: Scope) -> String? {
        if case .text(let text) = value(node, scope) { return text }
        if node.trimmedDescription.contains("FieldPath.documentID") { return "__name__" }
        return nil
    }
}
