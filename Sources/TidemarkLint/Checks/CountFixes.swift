import SwiftSyntax

/// The automatic changes for `counted-by-download`.
enum CountFixes {
    /// Returns `query.limit(to: 1).getDocuments()`, for a result that is only tested for being
    /// empty.
    static func limit(_ call: FunctionCallExprSyntax) -> Finding.Fix? {
        guard let member = call.calledExpression.as(MemberAccessExprSyntax.self),
            member.base != nil
        else { return nil }
        let name = member.declName.positionAfterSkippingLeadingTrivia
        return Finding.Fix(edits: [.replacing(from: name, to: name, "limit(to: 1).")])
    }

    /// Returns edits that replace the call by an aggregation, and each count of documents by its
    /// figure. Returns nil if the result has a written type or another name, or has other uses.
    static func aggregation(
        _ call: FunctionCallExprSyntax, _ query: QueryFacts?
    ) -> Finding.Fix? {
        guard query != nil, call.calledExpression.is(MemberAccessExprSyntax.self),
            let member = call.calledExpression.as(MemberAccessExprSyntax.self),
            let left = call.leftParen ?? call.trailingClosure?.leftBrace
        else { return nil }
        let name = member.declName.positionAfterSkippingLeadingTrivia
        let counts: [Finding.Edit]?
        let asked: Finding.Edit
        if let closure = call.trailingClosure {
            guard call.arguments.isEmpty, call.additionalTrailingClosures.isEmpty,
                case .simpleInput(let names)? = closure.signature?.parameterClause,
                let first = names.first?.name.bare
            else { return nil }
            asked = .replacing(
                from: name, to: left.positionAfterSkippingLeadingTrivia,
                "count.getAggregation(source: .server) ")
            counts = edits(of: first, in: Syntax(closure.statements))
        } else {
            guard call.arguments.isEmpty, let right = call.rightParen else { return nil }
            asked = .replacing(
                from: name, to: right.endPositionBeforeTrailingTrivia,
                "count.getAggregation(source: .server)")
            counts = edits(of: ExprSyntax(call)).map { [$0] } ?? named(call)
        }
        return counts.map { Finding.Fix(edits: [asked] + $0) }
    }

    /// Returns the edits for `let snapshot = try await query.getDocuments()`.
    private static func named(_ call: FunctionCallExprSyntax) -> [Finding.Edit]? {
        guard
            let binding = call.ancestors.first(where: { $0.is(PatternBindingSyntax.self) })?
                .as(PatternBindingSyntax.self),
            binding.typeAnnotation == nil, binding.initializer?.value.bare.id == call.id,
            let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.bare,
            let list = binding.ancestors.first(where: { $0.is(CodeBlockItemListSyntax.self) })
        else { return nil }
        return edits(of: name, in: list)
    }

    /// Returns the edits of all uses of a name, if each use only counts.
    private static func edits(of name: String, in node: Syntax) -> [Finding.Edit]? {
        let isShadowed =
            node.all(IdentifierPatternSyntax.self).count { $0.identifier.bare == name } > 1
            || node.all(ClosureExprSyntax.self).contains {
                $0.parameterNames?.contains(name) == true
            }
        if isShadowed { return nil }
        var found: [Finding.Edit] = []
        for reference in node.all(DeclReferenceExprSyntax.self)
        where reference.baseName.bare == name {
            if let member = reference.parent?.as(MemberAccessExprSyntax.self),
                member.declName.id == reference.id
            {
                continue
            }
            guard let edit = edits(of: ExprSyntax(reference)) else { return nil }
            found.append(edit)
        }
        return found.isEmpty ? nil : found
    }

    /// Replaces `.documents.count` or `.count` after an expression by `.count.intValue`.
    private static func edits(of expression: ExprSyntax) -> Finding.Edit? {
        var node = Syntax(expression)
        var first: DeclReferenceExprSyntax?
        while let parent = node.parent {
            if let member = parent.as(MemberAccessExprSyntax.self) {
                first = first ?? member.declName
                if member.declName.baseName.text == "count", let first {
                    return .replacing(
                        from: first.positionAfterSkippingLeadingTrivia,
                        to: member.declName.endPositionBeforeTrailingTrivia, "count.intValue")
                }
                guard member.declName.baseName.text == "documents" else { return nil }
            } else if !parent.is(TryExprSyntax.self), !parent.is(AwaitExprSyntax.self),
                !parent.is(OptionalChainingExprSyntax.self), !parent.is(TupleExprSyntax.self),
                !parent.is(LabeledExprSyntax.self), !parent.is(LabeledExprListSyntax.self)
            {
                return nil
            } else if let tuple = parent.as(TupleExprSyntax.self), tuple.elements.count != 1 {
                return nil
            }
            node = parent
        }
        return nil
    }
}

extension Finding.Edit {
    static func replacing(_ node: some SyntaxProtocol, _ text: String) -> Finding.Edit {
        .replacing(
            from: node.positionAfterSkippingLeadingTrivia, to: node.endPositionBeforeTrailingTrivia,
            text)
    }

    static func replacing(
        from start: AbsolutePosition, to end: AbsolutePosition, _ text: String
    ) -> Finding.Edit {
        Finding.Edit(start: start.utf8Offset, end: end.utf8Offset, text: text)
    }
}
