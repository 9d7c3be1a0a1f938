import SwiftSyntax

/// The check `retry-without-bound`.
enum Retries {
    private static let counting = [
        "attempt", "retries", "retrycount", "tries", "remaining", "maxretr", "deadline", "backoff",
    ]

    static func findings(in context: CheckContext) -> [Finding] {
        loops(context) + recursions(context)
    }

    private static func finding(
        in file: SourceFile, at node: some SyntaxProtocol, _ message: String,
        _ context: CheckContext
    ) -> Finding {
        context.finding(
            .retryWithoutBound, in: file, at: node, message,
            because:
                """
                A permanent error, such as a refusal or a missing index, repeats forever: \
                battery,
                """
                    + "traffic and, with billed reads, the cost grow.",
            mend: "Limit the attempts, wait longer before each, and do not repeat refused calls; "
                + "TidemarkResilience's `Retry` does.")
    }

    /// Returns findings for `while true { do { try … } catch { } }`.
    private static func loops(_ context: CheckContext) -> [Finding] {
        var found: [SyntaxIdentifier: Finding] = [:]
        for operation in context.operations {
            for loop in operation.node.enclosingLoops {
                guard let statement = loop.node.as(WhileStmtSyntax.self),
                    statement.conditions.trimmedDescription == "true",
                    !statement.body.mentions(wordsOf: counting),
                    let failed = statement.body.all(CatchClauseSyntax.self).first,
                    !leaves(failed.body.statements)
                else { continue }
                found[loop.node.id] = finding(
                    in: operation.file, at: statement.whileKeyword,
                    "This loop tries again after every error, without a bound.", context)
            }
        }
        return Array(found.values)
    }

    private static func leaves(_ items: CodeBlockItemListSyntax) -> Bool {
        items.contains {
            $0.item.is(ReturnStmtSyntax.self) || $0.item.is(BreakStmtSyntax.self)
                || $0.item.is(ThrowStmtSyntax.self)
        }
    }

    /// Returns findings for functions that call themselves while they handle an error.
    private static func recursions(_ context: CheckContext) -> [Finding] {
        var found: [SyntaxIdentifier: Finding] = [:]
        for operation in context.operations {
            guard let node = operation.node.enclosingFunction,
                let function = context.project.functionsByNode[node.id], function.name != "init",
                !function.parameters.contains(where: { parameter in
                    counting.contains { parameter.name.lowercased().contains($0) }
                })
            else { continue }
            for site in context.project.calls[function.name] ?? []
            where node.encloses(site.node) && site.file === function.file {
                guard site.node.receiver.map({ $0.lastName == "self" }) ?? true,
                    function.accepts(site.node.labels), isAfterError(site.node, in: node),
                    !isCounted(site.node, in: node)
                else { continue }
                found[site.node.id] = finding(
                    in: site.file, at: site.node.calledExpression.lastToken,
                    "`\(function.name)` calls itself after an error, without a bound.", context)
            }
        }
        return Array(found.values)
    }

    private static func isAfterError(_ call: FunctionCallExprSyntax, in function: Syntax) -> Bool {
        for parent in call.ancestors where function.encloses(parent) {
            if parent.is(CatchClauseSyntax.self) { return true }
            if let branch = parent.as(IfExprSyntax.self), branch.body.encloses(call),
                branch.conditions.mentions(wordsOf: ["err"])
            {
                return !branch.conditions.trimmedDescription.contains("== nil")
            }
            if let check = parent.as(GuardStmtSyntax.self), check.body.encloses(call) {
                return true
            }
        }
        return false
    }

    /// Returns true if a condition around or before the call counts.
    private static func isCounted(_ call: FunctionCallExprSyntax, in function: Syntax) -> Bool {
        let counters = ["attempt", "retr", "tries", "remaining"]
        return function.all(SequenceExprSyntax.self).contains {
            $0.mentions(wordsOf: counters) && $0.position < call.position
        }
    }
}
