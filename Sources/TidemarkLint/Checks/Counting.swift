import SwiftSyntax

/// The check `counted-by-download`: documents that are read only to be counted or summed.
enum Counting {
    enum Use: Hashable { case count, isEmpty, sum, other }

    static func findings(in context: CheckContext) -> [Finding] {
        context.operations.compactMap { operation in
            guard operation.kind == .getDocuments, let call = operation.call else { return nil }
            let uses = Set(self.uses(of: call))
            guard !uses.isEmpty, !uses.contains(.other) else { return nil }
            let query = operation.query
            // The filter is for a value that a single document has: this is a lookup, regardless of
            // the use of its result.
            if query.map(asksForOne) == true, !uses.contains(.sum) { return nil }
            if uses == [.isEmpty] {
                guard query?.limit == QueryFacts.Limit.none, !isOfUnique(operation),
                    !(query.map(ListenerCosts.isBounded) ?? false)
                else { return nil }
                return finding(
                    operation, words: onlyToSee, fix: CountFixes.limit(call), in: context)
            }
            if case .count? = query?.limit { return nil }
            if uses.contains(.sum) {
                return finding(operation, words: toSum, fix: nil, in: context)
            }
            let fix = uses == [.count] ? CountFixes.aggregation(call, query) : nil
            return finding(operation, words: toCount, fix: fix, in: context)
        }
    }

    private static func asksForOne(_ query: QueryFacts) -> Bool {
        !query.conditions.isEmpty
            && query.conditions.allSatisfy { $0.test == "isEqualTo" }
            && ListenerCosts.isBounded(query)
    }

    /// Returns true if the function checks that a value is free: at most one document has it then.
    private static func isOfUnique(_ operation: Operation) -> Bool {
        guard let query = operation.query,
            query.conditions.contains(where: { $0.test == "isEqualTo" }),
            let name = operation.node.enclosingFunction?.as(FunctionDeclSyntax.self)?.name.bare
                .lowercased()
        else { return false }
        return ["taken", "available", "availability", "unique", "duplicate", "exist"].contains {
            name.contains($0)
        }
    }

    private typealias Words = (what: String, mending: String)
    private static let onlyToSee: Words = (
        "to see whether there is one", "Set `.limit(to: 1)`."
    )
    private static let toCount: Words = (
        "to count them",
        "Ask the server: `try await query.count.getAggregation(source: .server).count`."
    )
    private static let toSum: Words = (
        "to sum them up",
        "Ask the server: `query.aggregate([.sum(\"field\")]).getAggregation(source: .server)`."
    )

    private static func finding(
        _ operation: Operation, words: Words, fix: Finding.Fix?, in context: CheckContext
    ) -> Finding {
        let documents = context.scale.documents(of: operation.query)
        let mended = words.mending.contains("limit") ? 1 : max(1, (documents + 999) / 1_000)
        return context.finding(
            .countedByDownload, at: operation,
            "Documents of `\(operation.query?.name ?? "a query")` are downloaded only "
                + "\(words.what).",
            because: "Each document is billed and sent; an aggregation costs one read for up to "
                + "1,000 index entries.", mend: words.mending,
            estimate: Estimate(
                reads: documents, mended: mended,
                reckoning: "\(documents.grouped) documents, downloaded",
                scale: context.scale), fix: fix)
    }

    // MARK: - What is done with the result

    private static func uses(of call: FunctionCallExprSyntax) -> [Use] {
        if let closure = call.lastClosure {
            guard let name = closure.parameterNames?.first else { return [.other] }
            return uses(of: name, in: Syntax(closure.statements), after: closure.position)
        }
        return use(of: ExprSyntax(call))
    }

    /// Returns the uses of an expression that is the snapshot or its documents.
    private static func use(of expression: ExprSyntax) -> [Use] {
        var node = Syntax(expression)
        while let parent = node.parent {
            if parent.is(TryExprSyntax.self) || parent.is(AwaitExprSyntax.self)
                || parent.is(OptionalChainingExprSyntax.self)
                || parent.is(ForceUnwrapExprSyntax.self) || parent.is(TupleExprSyntax.self)
                || parent.is(LabeledExprListSyntax.self)
                || parent.is(LabeledExprSyntax.self)
                    && parent.parent?.parent?.is(TupleExprSyntax.self) == true
            {
                node = parent
            } else if let member = parent.as(MemberAccessExprSyntax.self) {
                switch member.declName.baseName.text {
                case "documents": node = parent
                case "count": return [isComparedWithNone(member) ? .isEmpty : .count]
                case "isEmpty": return [.isEmpty]
                case "reduce": return [.sum]
                case "map", "compactMap":
                    return isSummed(member) ? [.sum] : [.other]
                default: return [.other]
                }
            } else if let initializer = parent.as(InitializerClauseSyntax.self) {
                return alias(initializer)
            } else if let loop = parent.as(ForStmtSyntax.self) {
                return isSum(loop) ? [.sum] : [.other]
            } else if parent.is(SequenceExprSyntax.self) || parent.is(ExprListSyntax.self) {
                if let sequence = parent.as(SequenceExprSyntax.self) {
                    return isComparedWithNil(sequence) ? [] : [.other]
                }
                node = parent
            } else {
                return [.other]
            }
        }
        return [.other]
    }

    /// Returns true for `.count == 0`, `.count > 0`, `.count ?? 0 > 0`, `.count >= 1`.
    private static func isComparedWithNone(_ member: MemberAccessExprSyntax) -> Bool {
        for parent in member.ancestors {
            if let sequence = parent.as(SequenceExprSyntax.self) {
                let elements = Array(sequence.elements)
                guard elements.count >= 3,
                    let symbol = elements[elements.count - 2].as(BinaryOperatorExprSyntax.self),
                    let number = elements.last?.as(IntegerLiteralExprSyntax.self)?.literal.text
                else { return false }
                switch symbol.operator.text {
                case "==", "!=", ">", "<=": return number == "0"
                case ">=", "<": return number == "1"
                case "??": continue
                default: return false
                }
            }
            guard
                parent.is(TryExprSyntax.self) || parent.is(AwaitExprSyntax.self)
                    || parent.is(ExprListSyntax.self) || parent.is(OptionalChainingExprSyntax.self)
                    || parent.is(ForceUnwrapExprSyntax.self) || parent.is(TupleExprSyntax.self)
                    || parent.is(LabeledExprSyntax.self) || parent.is(LabeledExprListSyntax.self)
            else { return false }
        }
        return false
    }

    private static func isComparedWithNil(_ sequence: SequenceExprSyntax) -> Bool {
        sequence.elements.count == 3
            && sequence.elements.contains { $0.is(NilLiteralExprSyntax.self) }
    }

    /// Returns true for `.map { … }.reduce(0, +)`.
    private static func isSummed(_ member: MemberAccessExprSyntax) -> Bool {
        guard let call = member.parent?.as(FunctionCallExprSyntax.self),
            let next = call.parent?.as(MemberAccessExprSyntax.self)
        else { return false }
        return next.declName.baseName.text == "reduce"
    }

    private static func isSum(_ loop: ForStmtSyntax) -> Bool {
        guard loop.body.statements.count == 1, let only = loop.body.statements.first,
            let sequence = only.item.as(SequenceExprSyntax.self)
        else { return false }
        return sequence.elements.contains {
            $0.as(BinaryOperatorExprSyntax.self)?.operator.text == "+="
        }
    }

    /// Returns the uses after `let documents = snapshot.documents`, also in conditions.
    private static func alias(_ initializer: InitializerClauseSyntax) -> [Use] {
        if let binding = initializer.parent?.as(PatternBindingSyntax.self),
            let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.bare,
            let list = binding.ancestors.first(where: { $0.is(CodeBlockItemListSyntax.self) })
        {
            return uses(of: name, in: list, after: binding.endPosition)
        }
        if let condition = initializer.parent?.as(OptionalBindingConditionSyntax.self),
            let name = condition.pattern.as(IdentifierPatternSyntax.self)?.identifier.bare
        {
            if let check = condition.ancestors.first(where: { $0.is(GuardStmtSyntax.self) }),
                let list = check.ancestors.first(where: { $0.is(CodeBlockItemListSyntax.self) })
            {
                return uses(of: name, in: list, after: condition.endPosition)
            }
            if let branch = condition.ancestors.first(where: { $0.is(IfExprSyntax.self) })?
                .as(IfExprSyntax.self)
            {
                return uses(of: name, in: Syntax(branch), after: condition.endPosition)
            }
        }
        return [.other]
    }

    private static func uses(
        of name: String, in node: Syntax, after position: AbsolutePosition
    ) -> [Use] {
        var found: [Use] = []
        for reference in node.all(DeclReferenceExprSyntax.self)
        where reference.baseName.bare == name && reference.position >= position {
            // The name is that of a member, not a reference.
            if let member = reference.parent?.as(MemberAccessExprSyntax.self),
                member.declName.id == reference.id
            {
                continue
            }
            let next = use(of: ExprSyntax(reference))
            found += next
            // A new name that shadows the old covers the following code.
            if let binding = reference.parent?.parent?.as(OptionalBindingConditionSyntax.self),
                binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.bare == name
            {
                return found
            }
        }
        // The statement is `guard let snapshot else`.
        return found
    }
}
