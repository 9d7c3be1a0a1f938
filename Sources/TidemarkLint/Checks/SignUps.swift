import SwiftSyntax

/// The check `account-before-profile`.
enum SignUps {
    static func findings(in context: CheckContext) -> [Finding] {
        let made = (context.project.calls["createUser"] ?? []).filter {
            $0.node.labels.contains("withEmail")
        }
        let joined = (context.project.calls["signIn"] ?? []).filter(isOfNewUsers)
        return (made + joined).compactMap { site in
            guard let node = site.node.enclosingFunction, !undoes(node) else { return nil }
            let later = profileWrite(behind: site.node, node, context)
            guard
                let write = later
                    ?? (isOfNewUsers(site) ? writeOfOnboarding(besides: site.node, context) : nil)
            else { return nil }
            return context.finding(
                .accountBeforeProfile, in: site.file, at: site.node.calledExpression.lastToken,
                "The account is made here, and its profile only afterwards "
                    + "(\(write.place.short)).",
                because: "A kill or a lost network between the two leaves an account without a "
                    + "profile: the next launch finds a user who is signed in and waits for a "
                    + "document that does not exist.",
                mend: "Store the planned steps on the device before the account exists, and "
                    + "finish it at the next launch (TidemarkApp's `Accounts` does); or let a "
                    + "Cloud Function make the profile.")
        }
    }

    /// Returns true for `signIn(with: credential)`, which creates an account if there is none, in a
    /// function that tests `isNewUser` and then creates the profile.
    private static func isOfNewUsers(_ site: Project.CallSite) -> Bool {
        site.node.labels.first == "with"
            && site.node.enclosingFunction?.mentions("isNewUser") == true
    }

    /// Returns the write of another function of the same type under the user's id, in a later step.
    private static func writeOfOnboarding(
        besides call: FunctionCallExprSyntax, _ context: CheckContext
    ) -> Operation? {
        guard let type = call.enclosingTypeName else { return nil }
        return context.operations.first { operation in
            guard operation.kind == .setData, operation.node.enclosingTypeName == type,
                case .document(let facts) = operation.receiver, facts.path.count == 2,
                case .written(let id)? = facts.path.last
            else { return false }
            return id.lowercased().contains("uid")
        }
    }

    /// Returns true if the function deletes the account after the profile fails.
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
