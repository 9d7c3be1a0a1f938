import SwiftSyntax

/// The check `server-source-at-launch`.
enum Launches {
    static func findings(in context: CheckContext) -> [Finding] {
        context.operations.compactMap { operation in
            guard operation.kind == .getDocument || operation.kind == .getDocuments,
                let source = operation.call?.argument("source"),
                case .symbol("server") = context.evaluator.value(source),
                let root = launch(of: operation, context)
            else { return nil }
            return context.finding(
                .serverSourceAtLaunch, in: operation.file, at: source,
                "This read waits for the server, and `\(root)` starts it.",
                because: "Without a network, or when the server does not answer, it waits for as "
                    + "long as the connection takes to fail, and later steps wait too.",
                mend:
                    """
                    Read from the default source or from the cache first, with a deadline; \
                    ask the
                    """
                        + "server for a check later, in the background.",
                fix: fix(operation, source))
        }
    }

    /// Removes the argument. The default source then answers: the server, or the cache if that
    /// fails.
    private static func fix(_ operation: Operation, _ source: ExprSyntax) -> Finding.Fix? {
        guard let call = operation.call, source.is(MemberAccessExprSyntax.self) else {
            return nil
        }
        let arguments = Array(call.arguments)
        guard let index = arguments.firstIndex(where: { $0.expression.id == source.id }) else {
            return nil
        }
        // The edit includes the comma before the argument or, for the first argument, the comma
        // after it.
        let start =
            index > 0
            ? arguments[index - 1].expression.endPosition
            : arguments[index].positionAfterSkippingLeadingTrivia
        let end =
            index == 0 && arguments.count > 1
            ? arguments[1].positionAfterSkippingLeadingTrivia
            : arguments[index].expression.endPositionBeforeTrailingTrivia
        return Finding.Fix(edits: [.replacing(from: start, to: end, "")])
    }

    /// Returns the function of a launch from which an operation is reached.
    private static func launch(of operation: Operation, _ context: CheckContext) -> String? {
        guard let node = operation.node.enclosingFunction else { return nil }
        guard let function = context.project.functionsByNode[node.id] else {
            return isBodyOfApp(operation.node, context) ? "the app's body" : nil
        }
        for caller in context.graph.callers(of: function) {
            if let name = rootName(caller, context) { return name }
            for site in context.project.calls[caller.name] ?? []
            where context.graph.callee(of: site.node) === caller {
                if isBodyOfApp(site.node, context) { return "the app's body" }
            }
        }
        return nil
    }

    private static func rootName(_ function: FunctionFacts, _ context: CheckContext) -> String? {
        switch function.name {
        case "init":
            guard let owner = function.owner, !isOfScreen(owner, context) else { return nil }
            return "\(owner).init"
        case "application":
            let isLaunch = function.parameters.contains {
                $0.label?.contains("FinishLaunching") == true
            }
            return isLaunch ? "application(_:didFinishLaunchingWithOptions:)" : nil
        case "scene":
            return function.parameters.contains { $0.label == "willConnectTo" }
                ? "scene(_:willConnectTo:options:)" : nil
        case "applicationDidBecomeActive", "sceneDidBecomeActive", "sceneWillEnterForeground",
            "applicationDidFinishLaunching":
            return function.name
        default: return nil
        }
    }

    /// Returns true if a screen creates the object when it opens, and the app itself does not.
    private static func isOfScreen(_ owner: String, _ context: CheckContext) -> Bool {
        let ends = ["ViewModel", "View", "ViewController", "Screen", "Presenter"]
        guard ends.contains(where: owner.hasSuffix) else { return false }
        return !(context.project.calls[owner] ?? []).contains { isBodyOfApp($0.node, context) }
    }

    private static func isBodyOfApp(_ node: some SyntaxProtocol, _ context: CheckContext) -> Bool {
        guard let name = node.enclosingTypeName, let type = context.project.types[name] else {
            return false
        }
        return type.inherits.contains("App")
    }
}
