import SwiftSyntax

/// Follows values through the code as far as a reader would: through lines, functions, properties
/// and files.
///
/// The evaluation gives up after ``maxDepth`` nested calls and names.
final class Evaluator {
    static let maxDepth = 24

    let project: Project
    private var known: [SyntaxIdentifier: Known] = [:]
    /// The returned expressions by body. A function is evaluated for each of its callers.
    private var results: [SyntaxIdentifier: [ExprSyntax]] = [:]

    init(_ project: Project) { self.project = project }

    /// The context of an expression.
    struct Scope {
        /// The values of names inside a function that is being evaluated.
        var names: [String: Known] = [:]
        var me: Known?
        /// The number of nested lookups. It is limited, because names can refer to each other in a
        /// circle.
        var depth = 0

        var isPlain: Bool { names.isEmpty && me == nil }

        func deeper() -> Scope {
            var result = self
            result.depth += 1
            return result
        }
    }

    func value(_ node: ExprSyntax, _ scope: Scope = Scope()) -> Known {
        let expression = node.bare
        guard scope.depth < Self.maxDepth else { return .unknown }
        if scope.isPlain, let value = known[expression.id] { return value }
        let value = evaluate(expression, scope.deeper())
        if scope.isPlain, scope.depth == 0 { known[expression.id] = value }
        return value
    }

    private func evaluate(_ node: ExprSyntax, _ scope: Scope) -> Known {
        if let literal = node.as(StringLiteralExprSyntax.self) { return text(literal, scope) }
        if let literal = node.as(IntegerLiteralExprSyntax.self) {
            let digits = literal.literal.text.filter { $0 != "_" }
            return Int(digits).map(Known.number) ?? .unknown
        }
        if let literal = node.as(BooleanLiteralExprSyntax.self) {
            return .flag(literal.literal.text == "true")
        }
        if let list = node.as(ArrayExprSyntax.self) {
            return .list(list.elements.prefix(600).map { value($0.expression, scope) })
        }
        if let call = node.as(FunctionCallExprSyntax.self) { return self.call(call, scope) }
        if let name = node.as(DeclReferenceExprSyntax.self) { return self.name(name, scope) }
        if let member = node.as(MemberAccessExprSyntax.self) { return self.member(member, scope) }
        if let subscripted = node.as(SubscriptCallExprSyntax.self) {
            switch value(subscripted.calledExpression, scope) {
            case .documentSnapshot, .fieldOfDocument: return .fieldOfDocument
            case .documents: return .documentSnapshot
            case .list(let values): return values.count == 1 ? values[0] : .unknown
            default: return .unknown
            }
        }
        if let choice = node.as(TernaryExprSyntax.self) {
            return value(choice.thenExpression, scope)
                .joined(with: value(choice.elseExpression, scope))
        }
        if let branches = node.branchResults { return joined(branches, scope) }
        if let cast = node.as(AsExprSyntax.self) { return value(cast.expression, scope) }
        if let sequence = node.as(SequenceExprSyntax.self) { return self.sequence(sequence, scope) }
        return .unknown
    }

    /// Returns the joined value of the branches of an `if` or `switch` expression.
    private func joined(_ branches: [ExprSyntax], _ scope: Scope) -> Known {
        var found: Known?
        for branch in branches {
            let next = value(branch, scope)
            found = found?.joined(with: next) ?? next
        }
        return found ?? .unknown
    }

    private func text(_ literal: StringLiteralExprSyntax, _ scope: Scope) -> Known {
        var text = ""
        for segment in literal.segments {
            if let part = segment.as(StringSegmentSyntax.self) {
                text += part.content.text
                continue
            }
            guard
                let inner = segment.as(ExpressionSegmentSyntax.self)?.expressions.first?.expression,
                case .text(let known) = value(inner, scope)
            else { return .unknown }
            text += known
        }
        return .text(text)
    }

    /// Evaluates a sequence of operators, which the parser leaves unfolded: `a ?? b`, `a + b`,
    /// `x as? T`, `c ? a : b`.
    private func sequence(_ node: SequenceExprSyntax, _ scope: Scope) -> Known {
        let elements = Array(node.elements)
        if elements.count == 3, let choice = elements[1].as(UnresolvedTernaryExprSyntax.self) {
            return value(choice.thenExpression, scope).joined(with: value(elements[2], scope))
        }
        if elements.count >= 3, elements[1].is(UnresolvedAsExprSyntax.self) {
            let first = value(elements[0], scope)
            if case .unknown = first, elements.count == 3,
                let type = elements[2].as(TypeExprSyntax.self)?.type
            {
                return named(type)
            }
            return first
        }
        guard let symbol = elements.dropFirst().first?.as(BinaryOperatorExprSyntax.self)?.operator
        else { return .unknown }
        let values = stride(from: 0, to: elements.count, by: 2).map { value(elements[$0], scope) }
        switch symbol.text {
        case "??": return values[0] == .unknown ? values.last ?? .unknown : values[0]
        case "+":
            let texts = values.compactMap { if case .text(let text) = $0 { text } else { nil } }
            if texts.count == values.count { return .text(texts.joined()) }
            let lists = values.compactMap { if case .list(let list) = $0 { list } else { nil } }
            if lists.count == values.count { return .list(lists.flatMap { $0 }) }
            fallthrough
        case "-", "*", "/":
            if values.contains(.kept) { return .kept }
            if values.contains(.deviceTime) { return .deviceTime }
            if elements.count == 3, case .number(let a) = values[0], case .number(let b) = values[1]
            {
                switch symbol.text {
                case "*": return .number(a.multipliedReportingOverflow(by: b).partialValue)
                case "+": return .number(a.addingReportingOverflow(b).partialValue)
                case "-": return .number(a.subtractingReportingOverflow(b).partialValue)
                default: return .unknown
                }
            }
            return values.contains(.fieldOfDocument) ? .fieldOfDocument : .unknown
        default: return .unknown
        }
    }

    /// Returns the expressions that the statements return, except `nil`.
    func returned(by items: CodeBlockItemListSyntax) -> [ExprSyntax] {
        if let found = results[items.id] { return found }
        let found = items.all(ReturnStmtSyntax.self).compactMap { statement -> ExprSyntax? in
            let function = statement.ancestors.first {
                $0.is(ClosureExprSyntax.self) || $0.is(FunctionDeclSyntax.self) || $0.id == items.id
            }
            guard function?.id == items.id, let expression = statement.expression else {
                return nil
            }
            return expression.is(NilLiteralExprSyntax.self) ? nil : expression
        }
        results[items.id] = found
        return found
    }

    func named(_ type: TypeSyntax?) -> Known {
        guard let type else { return .unknown }
        if let element = type.elementName {
            return element == "QueryDocumentSnapshot" ? .documents(.unknown) : .elements(element)
        }
        return .of(type: type.lastName)
    }
}

extension ExprSyntax {
    /// The last expression of each branch of an `if` with an `else`, or of a `switch`; nil for
    /// other expressions. A branch that does not end in an expression, for example in a `throw`, is
    /// left out.
    fileprivate var branchResults: [ExprSyntax]? {
        var lists: [CodeBlockItemListSyntax] = []
        if let choice = self.as(SwitchExprSyntax.self) {
            for part in choice.cases {
                guard let part = part.as(SwitchCaseSyntax.self) else { return nil }
                lists.append(part.statements)
            }
        } else if var branch = self.as(IfExprSyntax.self) {
            lists.append(branch.body.statements)
            while let other = branch.elseBody {
                if case .ifExpr(let next) = other {
                    branch = next
                    lists.append(next.body.statements)
                } else if case .codeBlock(let last) = other {
                    lists.append(last.statements)
                    break
                }
            }
            // An `if` without an `else` is a statement without a value.
            if branch.elseBody == nil { return nil }
        } else {
            return nil
        }
        return lists.compactMap { list in
            guard let only = list.last?.item else { return nil }
            if let expression = only.as(ExprSyntax.self) { return expression }
            return only.as(ExpressionStmtSyntax.self)?.expression
        }
    }
}
