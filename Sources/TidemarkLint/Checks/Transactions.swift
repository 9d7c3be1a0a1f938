import SwiftSyntax

/// The check `read-after-write`: a transaction that reads after it has written.
enum Transactions {
    private static let writes: Set<String> = ["setData", "updateData", "deleteDocument"]

    static func findings(in context: CheckContext) -> [Finding] {
        context.operations.compactMap { operation in
            guard operation.kind == .transaction,
                let closure = operation.call?.transactionBody
            else { return nil }
            let name = closure.parameterNames?.first ?? "$0"
            return finding(in: closure, name: name, operation: operation, context: context)
        }
    }

    private static func finding(
        in closure: ClosureExprSyntax, name: String, operation: Operation,
        context: CheckContext
    ) -> Finding? {
        let calls = closure.statements.all(FunctionCallExprSyntax.self).filter {
            $0.receiver?.lastName == name
        }
        let writes = calls.filter { Self.writes.contains($0.calledName ?? "") }
        let reads = calls.filter { $0.calledName == "getDocument" }
        for read in reads {
            guard let write = writes.first(where: { comes($0, before: read, in: closure) }) else {
                continue
            }
            return context.finding(
                .readAfterWrite, in: operation.file, at: read.calledExpression.lastToken,
                "This transaction reads here, after its write in line "
                    + "\(operation.file.place(of: write).line).",
                because: "Firestore refuses it each time: a transaction's reads come before its "
                    + "writes.",
                mend: "Read all documents first, then write.")
        }
        return nil
    }

    /// Returns true if a path through the closure performs `write` and later `read`.
    private static func comes(
        _ write: FunctionCallExprSyntax, before read: FunctionCallExprSyntax,
        in closure: ClosureExprSyntax
    ) -> Bool {
        if write.position > read.position {
            // The read is in the next pass of the same loop.
            return write.enclosingLoops.contains {
                $0.node.encloses(read) && closure.encloses($0.node)
            }
        }
        for parent in write.ancestors where closure.encloses(parent) {
            if parent.encloses(read) {
                return !parent.is(IfExprSyntax.self) && !parent.is(SwitchCaseListSyntax.self)
            }
            if let list = parent.as(CodeBlockItemListSyntax.self), let last = list.last?.item,
                last.is(ReturnStmtSyntax.self) || last.is(ThrowStmtSyntax.self)
            {
                return false
            }
        }
        return true
    }
}

extension FunctionCallExprSyntax {
    /// The closure of `runTransaction`: the first of two if there is a completion.
    fileprivate var transactionBody: ClosureExprSyntax? {
        arguments.first { $0.expression.is(ClosureExprSyntax.self) }?
            .expression.as(ClosureExprSyntax.self) ?? trailingClosure
    }
}
