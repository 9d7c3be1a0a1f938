import SwiftSyntax

/// `write-error-ignored`: `try?` on a write.
enum WriteErrors {
    static func findings(in context: CheckContext) -> [Finding] {
        context.operations.compactMap { operation in
            guard
                operation.kind.isWrite || operation.kind == .commit
                    || operation.kind == .transaction,
                let attempt = attempt(around: operation.node), isDropped(attempt)
            else { return nil }
            return context.finding(
                .writeErrorIgnored, in: operation.file, at: attempt.tryKeyword,
                "`try?` drops the error of this write.",
                because: "When it is refused or cannot be encoded, nothing is stored, and neither "
                    + "the app nor the user learns of it.",
                mend: "Catch the error and show it or report it; with Tidemark, "
                    + "`enqueueSetData` keeps the write until it is sent.")
        }
    }

    private static func attempt(around node: ExprSyntax) -> TryExprSyntax? {
        for parent in node.ancestors {
            if let attempt = parent.as(TryExprSyntax.self) {
                return attempt.questionOrExclamationMark?.text == "?" ? attempt : nil
            }
            guard
                parent.is(AwaitExprSyntax.self) || parent.is(TupleExprSyntax.self)
                    || parent.is(LabeledExprSyntax.self) || parent.is(LabeledExprListSyntax.self)
                    || parent.is(ForceUnwrapExprSyntax.self)
                    || parent.is(OptionalChainingExprSyntax.self)
            else { return nil }
        }
        return nil
    }

    private static func isDropped(_ attempt: TryExprSyntax) -> Bool {
        guard let parent = attempt.parent else { return false }
        if parent.is(CodeBlockItemSyntax.self) { return true }
        guard
            let sequence =
                (parent.as(SequenceExprSyntax.self) ?? parent.parent?.as(SequenceExprSyntax.self))
        else { return false }
        return sequence.elements.first?.is(DiscardAssignmentExprSyntax.self) == true
    }
}
