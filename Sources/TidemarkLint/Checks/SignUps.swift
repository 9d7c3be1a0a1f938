import SwiftSyntax

/// `account-before-profile`.
enum SignUps {
    static func findings(in context: CheckContext) -> [Finding] {
        (context.project.calls["createUser"] ?? []).compactMap { site in
            guard site.node.labels.contains("withEmail"), let node = site.node.enclosingFunction
            else {
                return nil
            }
            guard !undoes(node), let write = profileWrite(behind: site.node, node, context) else {
                return nil
            }
            return context.finding(
                .accountBeforeProfile, in: site.file, at: site.node.calledExpression.lastToken,
                "The account is made here, and its profile only afterwards "
                    + "(\(write.place.short)).",
                because: "A kill or a lost network between the two leaves an account without a "
                    + "profile: the next launch finds a user who is signed in and waits for a "
                    + "document that does not exist.",
                mend: "Write down on the device what is to be made before the account exists, and "
                    + "finish it at the next launch (TidemarkApp's `Accounts` does); or let a "
                    + "Cloud Function make the profile.")
        }
    }

    /// Whether the account is deleted when the profile fails.
    private static func undoes(_ function: Syntax) -> Bool {
        function.all(FunctionCallExprSyntax.self).contains { call in
            call.calledName == "delete"
                && call.receiver?.mentions(wordsOf: ["user", "result"]) == true
                && call.receiver?.mentions("document") != true
        }
    }

    private static func profileWrite(
        behind call: FunctionCallExprSyntax, _ node: Syntax, _ context: CheckContext
    ) -> Operation? {
        if let found = firstWrite(in: node, behind: call.position, context) { return found }
        guard let function = context.project.functionsByNode[node.id] else { return nil }
        for site in context.project.calls[function.name] ?? []
        where context.graph.callee(of: site.node) === function {
            if let caller = site.node.enclosingFunction, !undoes(caller),
                let found = firstWrite(in: caller, behind: site.node.position, context)
            {
                return found
            }
        }
        return nil
    }

    private static func firstWrite(
        in node: Syntax, behind position: AbsolutePosition, _ context: CheckContext
    ) -> Operation? {
        let own = context.graph.operations(within: node).first {
            ($0.kind == .setData || $0.kind == .addDocument) && $0.node.endPosition > position
        }
        if let own { return own }
        for call in node.all(FunctionCallExprSyntax.self) where call.position > position {
            if let function = context.graph.callee(of: call),
                let write = context.graph.performed(by: function).first(where: {
                    $0.kind == .setData || $0.kind == .addDocument
                })
            {
                return write
            }
        }
        return nil
    }
}
