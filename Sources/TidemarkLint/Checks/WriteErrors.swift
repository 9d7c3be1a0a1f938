import SwiftSyntax

/// `write-error-ignored`: `try?` on a write, and a write without a completion.
enum WriteErrors {
    static func findings(in context: CheckContext) -> [Finding] {
        let hasFirebase = context.project.files.contains(where: \.importsFirebase)
        return context.operations.compactMap { operation in
            guard
                operation.kind.isWrite || operation.kind == .commit
                    || operation.kind == .transaction
            else { return nil }
            if let attempt = attempt(around: operation.node) {
                return isOptional(attempt) && isDropped(attempt)
                    ? dropped(operation, attempt: attempt, in: context) : nil
            }
            // Tidemark keeps what the server refuses.
            guard hasFirebase, let call = operation.call, isLeftAlone(call, operation) else {
                return nil
            }
            return context.finding(
                .writeErrorIgnored, at: operation, "The result of this write is ignored.",
                because: "When the rules or the server refuse it, FirebaseFirestore reverts it "
                    + "on the device, and neither the app nor the user learns of it.",
                mend: "Give it a completion that shows or reports the error, or write "
                    + "`try await`; with Tidemark, `rejectedWrites()` lists what was refused.")
        }
    }

    private static func dropped(
        _ operation: Operation, attempt: TryExprSyntax, in context: CheckContext
    ) -> Finding {
        context.finding(
            .writeErrorIgnored, in: operation.file, at: attempt.tryKeyword,
            "`try?` drops the error of this write.",
            because: "When it is refused or cannot be encoded, nothing is stored, and neither "
                + "the app nor the user learns of it.",
            mend: "Catch the error and show it or report it; with Tidemark, "
                + "`enqueueSetData` keeps the write until it is sent.")
    }

    /// The `try` that a call is part of, in any form.
    private static func attempt(around node: ExprSyntax) -> TryExprSyntax? {
        for parent in node.ancestors {
            if let attempt = parent.as(TryExprSyntax.self) { return attempt }
            guard
                parent.is(AwaitExprSyntax.self) || parent.is(TupleExprSyntax.self)
                    || parent.is(LabeledExprSyntax.self) || parent.is(LabeledExprListSyntax.self)
                    || parent.is(ForceUnwrapExprSyntax.self)
                    || parent.is(OptionalChainingExprSyntax.self)
            else { return nil }
        }
        return nil
    }

    private static func isOptional(_ attempt: TryExprSyntax) -> Bool {
        attempt.questionOrExclamationMark?.text == "?"
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

    /// True for a call that is not awaited and is given nothing to call back.
    private static func isLeftAlone(
        _ call: FunctionCallExprSyntax, _ operation: Operation
    ) -> Bool {
        switch operation.kind {
        case .transaction: return false
        case .commit: break
        default:
            // The commit of a batch or a transaction writes its contents, so only the commit is
            // checked.
            if call.calledName == "deleteDocument" || call.argument("forDocument") != nil {
                return false
            }
            switch operation.receiver {
            case .batch, .transaction: return false
            default: break
            }
        }
        guard call.trailingClosure == nil else { return false }
        for argument in call.arguments {
            if argument.label?.bare == "completion" {
                if !argument.expression.is(NilLiteralExprSyntax.self) { return false }
            } else if argument.label == nil, argument.expression.bare.is(ClosureExprSyntax.self) {
                return false
            }
        }
        return !isAwaited(call)
    }

    private static func isAwaited(_ call: FunctionCallExprSyntax) -> Bool {
        for parent in call.ancestors {
            if parent.is(AwaitExprSyntax.self) { return true }
            if let variable = parent.as(VariableDeclSyntax.self) {
                return variable.modifiers.contains { $0.name.tokenKind == .keyword(.async) }
            }
            if parent.is(CodeBlockItemListSyntax.self) { return false }
        }
        return false
    }
}
