import SwiftSyntax

/// The checks `offset-page` and `timestamp-in-defaults`.
enum Pages {
    static func findings(in context: CheckContext) -> [Finding] {
        offsets(context) + growingLimits(context) + kept(context)
    }

    private static let reason =
        "Skipped and already shown documents are read and billed too: the tenth page costs ten."
    private static let mending =
        "Continue behind the last document: `.start(afterDocument: last).limit(to: size)`."

    private static func offsets(_ context: CheckContext) -> [Finding] {
        (context.project.calls["offset"] ?? []).compactMap { site in
            guard site.node.arguments.count == 1, site.node.arguments.first?.label == nil,
                let receiver = site.node.receiver, isOfFirestore(receiver, context)
            else { return nil }
            return context.finding(
                .offsetPage, in: site.file, at: site.node.calledExpression.lastToken,
                "This page skips documents by their number.", because: reason, mend: mending)
        }
    }

    private static func isOfFirestore(_ receiver: ExprSyntax, _ context: CheckContext) -> Bool {
        if context.evaluator.value(receiver).query != nil { return true }
        return receiver.mentions("pipeline")
    }

    /// Returns findings for `limit(to: page * size)`, and for `limit(to: shown)` if `shown += 20`
    /// follows.
    private static func growingLimits(_ context: CheckContext) -> [Finding] {
        (context.project.calls["limit"] ?? []).compactMap { site in
            guard let argument = site.node.argument("to") ?? site.node.argument("toLast"),
                let receiver = site.node.receiver, context.evaluator.value(receiver).query != nil,
                isProduct(argument, context) || grows(argument, context)
            else { return nil }
            let pages = 10
            let size = 50
            return context.finding(
                .offsetPage, in: site.file, at: argument,
                "Each page reads all the ones before it again.", because: reason, mend: mending,
                estimate: Estimate(
                    reads: size * pages * (pages + 1) / 2, mended: size * pages,
                    reckoning: "ten pages of 50, each with those before it", scale: context.scale))
        }
    }

    private static func isProduct(_ argument: ExprSyntax, _ context: CheckContext) -> Bool {
        guard let sequence = argument.bare.as(SequenceExprSyntax.self),
            sequence.elements.contains(where: {
                $0.as(BinaryOperatorExprSyntax.self)?.operator.text == "*"
            })
        else { return false }
        if case .number = context.evaluator.value(argument) { return false }
        return sequence.mentions(wordsOf: ["page"])
    }

    private static func grows(_ argument: ExprSyntax, _ context: CheckContext) -> Bool {
        guard let name = argument.lastName, let owner = argument.enclosingTypeName,
            let type = context.project.types[owner], type.variables[name] != nil
        else { return false }
        return type.parts.contains { part in
            part.node.all(SequenceExprSyntax.self).contains { sequence in
                let elements = Array(sequence.elements)
                return elements.count >= 3 && elements[0].lastName == name
                    && elements[1].as(BinaryOperatorExprSyntax.self)?.operator.text == "+="
            }
        }
    }

    private static func kept(_ context: CheckContext) -> [Finding] {
        context.operations.compactMap { operation in
            guard operation.kind == .listen || operation.kind == .getDocuments,
                let condition = operation.query?.conditions.first(where: {
                    $0.test.hasPrefix("isGreaterThan") && $0.value == .kept
                })
            else { return nil }
            return context.finding(
                .timestampInDefaults, at: operation,
                """
                This query reads items newer than `\(condition.text)`, which is stored in \
                UserDefaults.
                """,
                because: "Items that arrive late, written offline or imported, have an older time "
                    + "and are never seen; so are edits and deletes. A wrong clock, or a time kept "
                    + "before its items are stored, loses more.",
                mend:
                    "Store the time with the items, move it in the transaction that stores them, "
                    + "and query by the server's time of the last change, with an overlap; "
                    + "TidemarkApp's feeds do that.")
        }
    }
}
