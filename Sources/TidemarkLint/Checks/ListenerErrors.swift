import SwiftSyntax

/// The checks `listener-error-ignored` and `decode-on-main`.
enum ListenerErrors {
    static func findings(in context: CheckContext) -> [Finding] {
        let hasOwnQueue = context.project.files.contains { file in
            file.text.contains("dispatchQueue =") && file.importsFirestore
        }
        return context.operations.flatMap { operation -> [Finding] in
            guard operation.kind == .listen, let closure = operation.call?.lastClosure else {
                return []
            }
            var found: [Finding] = []
            if let ignored = ignored(operation, closure: closure, in: context) {
                found.append(ignored)
            }
            if !hasOwnQueue, let decoding = decoding(operation, closure: closure, in: context) {
                found.append(decoding)
            }
            return found
        }
    }

    private static func ignored(
        _ operation: Operation, closure: ClosureExprSyntax, in context: CheckContext
    ) -> Finding? {
        let name: String
        switch closure.parameterNames {
        case nil:
            guard !closure.statements.mentions("$1"), closure.statements.mentions("$0") else {
                return nil
            }
            name = "_"
        case let names?:
            guard names.count == 2 else { return nil }
            name = names[1]
        }
        guard name == "_" || !closure.statements.mentions(name), !isShown(in: closure) else {
            return nil
        }
        return context.finding(
            .listenerErrorIgnored, at: operation,
            name == "_"
                ? "This listener has no error handler."
                : "This listener ignores `\(name)`.",
            because: "After an error a listener is over: without permission or an index the screen "
                + "stays empty or old, and nobody learns why.",
            mend: "Show or report the error; listen again when the user may, or when the index is "
                + "there.")
    }

    /// Returns true if the user sees that there is no snapshot, even without the reason.
    private static func isShown(in closure: ClosureExprSyntax) -> Bool {
        closure.statements.all(GuardStmtSyntax.self).contains {
            $0.body.mentions(wordsOf: ["toast", "alert", "errormessage", "showerror"])
        }
    }

    private static func decoding(
        _ operation: Operation, closure: ClosureExprSyntax, in context: CheckContext
    ) -> Finding? {
        guard let query = operation.query, query.limit == .none,
            !ListenerCosts.isBounded(query)
        else { return nil }
        let decodes = closure.statements.all(FunctionCallExprSyntax.self).first { call in
            guard call.calledName == "data", call.argument("as") != nil else { return false }
            if isOfChanges(call, in: closure, context) { return false }
            return !call.ancestors.contains { parent in
                guard closure.encloses(parent), let around = parent.as(FunctionCallExprSyntax.self)
                else { return false }
                // Another read returned the document.
                if let name = around.calledName, name.hasPrefix("getDocument") { return true }
                let text = around.calledExpression.trimmedDescription
                return text.contains("Task") || text.contains("global(") || text.contains("queue")
                    || text.contains("Queue")
            }
        }
        guard let decodes else { return nil }
        return context.finding(
            .decodeOnMain, in: operation.file, at: decodes,
            "The main thread decodes every document of `\(query.name)` at each change.",
            because:
                "A listener calls back on the main queue unless the settings name another one, "
                + "and decoding takes about 0.2 ms a document: 1,000 documents are 200 ms without "
                + "a frame.",
            mend: "Set a limit, decode only `documentChanges`, or decode in a task off the main "
                + "actor.")
    }

    /// Returns true if the code decodes only the changes, or a single document.
    private static func isOfChanges(
        _ call: FunctionCallExprSyntax, in closure: ClosureExprSyntax, _ context: CheckContext
    ) -> Bool {
        // This is `change.document.data(as:)`.
        if call.receiver?.bare.lastName == "document" { return true }
        // This is a single document: `snapshot.documents.first?.data(as:)`.
        if call.receiver?.bare.lastName == "first" { return true }
        return call.enclosingLoops.contains { loop in
            guard closure.encloses(loop.node), let over = loop.over,
                case .documents(let facts) = context.evaluator.value(over)
            else { return false }
            return facts.isOfChanges
        }
    }
}
