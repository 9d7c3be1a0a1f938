import SwiftSyntax

/// The checks `listener-never-removed` and `listener-on-appear`.
enum ListenerLife {
    /// The use of a call's result.
    enum Fate {
        case discarded
        case kept(String)
        case returned
        case passedOn
    }

    static func findings(in context: CheckContext) -> [Finding] {
        let removals = Removals(context.project)
        var found: [Finding] = []
        for operation in context.operations where operation.kind == .listen {
            guard let call = operation.call else { continue }
            switch fate(of: ExprSyntax(call)) {
            case .discarded: found.append(discarded(operation, context))
            case .kept(let name) where !removals.has(name):
                found.append(neverRemoved(operation, name: name, in: context))
            case .returned: found += dropped(operation, context)
            default: break
            }
        }
        return found + onAppear(context, removals)
    }

    static func fate(of call: ExprSyntax) -> Fate {
        var node = Syntax(call)
        while let parent = node.parent {
            if parent.is(TryExprSyntax.self) || parent.is(AwaitExprSyntax.self)
                || parent.is(ExprListSyntax.self) || parent.is(AsExprSyntax.self)
            {
                node = parent
            } else if let item = parent.as(CodeBlockItemSyntax.self) {
                return isResult(item) ? .returned : .discarded
            } else if let sequence = parent.as(SequenceExprSyntax.self) {
                guard let target = sequence.elements.first, sequence.elements.count >= 3 else {
                    return .passedOn
                }
                if target.is(DiscardAssignmentExprSyntax.self) { return .discarded }
                if let subscripted = target.bare.as(SubscriptCallExprSyntax.self) {
                    return subscripted.calledExpression.lastName.map(Fate.kept) ?? .passedOn
                }
                return target.lastName.map(Fate.kept) ?? .passedOn
            } else if parent.is(ReturnStmtSyntax.self) {
                return .returned
            } else if let binding = parent.parent?.as(PatternBindingSyntax.self) {
                return local(binding)
            } else if parent.is(LabeledExprSyntax.self) {
                return appended(parent)
            } else {
                return .passedOn
            }
        }
        return .passedOn
    }

    /// Returns true if a statement is the result of its function, without `return`.
    private static func isResult(_ item: CodeBlockItemSyntax) -> Bool {
        guard let list = item.parent?.as(CodeBlockItemListSyntax.self), list.count == 1 else {
            return false
        }
        let owner = list.parent?.parent
        if let function = owner?.as(FunctionDeclSyntax.self) {
            return function.signature.returnClause != nil
        }
        if list.parent?.is(AccessorBlockSyntax.self) == true { return true }
        guard let closure = list.parent?.as(ClosureExprSyntax.self) else { return false }
        let name = closure.calling?.calledName
        return closure.signature?.returnClause != nil || name == "map" || name == "compactMap"
    }

    private static func local(_ binding: PatternBindingSyntax) -> Fate {
        guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.bare,
            let list = binding.ancestors.first(where: {
                $0.is(CodeBlockItemListSyntax.self) || $0.is(MemberBlockItemListSyntax.self)
            })
        else { return .discarded }
        if list.is(MemberBlockItemListSyntax.self) { return .kept(name) }
        let uses = list.all(DeclReferenceExprSyntax.self).filter { $0.baseName.bare == name }
        guard let use = uses.first else { return .discarded }
        if let argument = use.parent?.as(LabeledExprSyntax.self) {
            return appended(Syntax(argument))
        }
        // In every other use, other code has the listener.
        return .passedOn
    }

    private static func appended(_ argument: Syntax) -> Fate {
        guard let call = argument.parent?.parent?.as(FunctionCallExprSyntax.self),
            call.calledName == "append" || call.calledName == "insert",
            let name = call.receiver?.lastName
        else { return .passedOn }
        return .kept(name)
    }

    // MARK: - What is said

    private static let consequence =
        "It keeps reading, and billing, each change after the screen or the user is gone, and "
        + "its closure keeps its objects in memory."

    private static func discarded(_ operation: Operation, _ context: CheckContext) -> Finding {
        context.finding(
            .listenerNeverRemoved, at: operation,
            "The returned registration is dropped, so the listener cannot be removed.",
            because: consequence,
            mend: "Keep the `ListenerRegistration` and call `remove()` when the screen goes or the "
                + "user signs out, or listen in a task: `for try await snapshot in query.snapshots`."
        )
    }

    private static func neverRemoved(
        _ operation: Operation, name: String, in context: CheckContext
    ) -> Finding {
        context.finding(
            .listenerNeverRemoved, at: operation,
            "The listener is stored in `\(name)`, but nothing calls `remove()` on it.",
            because: consequence,
            mend: "Call `\(name).remove()` when the screen goes or the user signs out.")
    }

    /// Returns findings for a function that returns its listener: the calls that discard it.
    private static func dropped(_ operation: Operation, _ context: CheckContext) -> [Finding] {
        guard let node = operation.node.enclosingFunction,
            let function = context.project.functionsByNode[node.id]
        else { return [] }
        return (context.project.calls[function.name] ?? []).compactMap { site in
            guard context.graph.callee(of: site.node) === function,
                case .discarded = fate(of: ExprSyntax(site.node))
            else { return nil }
            return context.finding(
                .listenerNeverRemoved, in: site.file, at: site.node.calledExpression,
                "`\(function.name)` returns its listener, and this call drops it.",
                because: consequence,
                mend: "Keep the `ListenerRegistration` and call `remove()` when the screen goes.")
        }
    }

    // MARK: - Appearing

    private static let appearing: Set<String> = [
        "viewWillAppear", "viewDidAppear", "viewIsAppearing",
    ]

    private static func onAppear(_ context: CheckContext, _ removals: Removals) -> [Finding] {
        var bodies: [(node: Syntax, name: String, place: Place)] = []
        for site in context.project.calls["onAppear"] ?? [] {
            if let closure = site.node.lastClosure {
                bodies.append(
                    (Syntax(closure.statements), "onAppear", site.file.place(of: closure)))
            }
        }
        for name in appearing {
            for function in context.project.allFunctions[name] ?? [] {
                if let body = function.body {
                    bodies.append((Syntax(body), name, function.file.place(of: function.node)))
                }
            }
        }
        var found: [Place: Finding] = [:]
        for (body, name, place) in bodies.sorted(by: { $0.place > $1.place }) {
            for operation in context.graph.performed(in: body) where operation.kind == .listen {
                guard !isGuarded(body, operation: operation, in: context),
                    let call = operation.call, !removals.follow(fate(of: ExprSyntax(call)))
                else { continue }
                found[operation.place] = context.finding(
                    .listenerOnAppear, at: operation,
                    "`\(name)` (\(place.short)) adds this listener again each time, and nothing "
                        + "removes the one before.",
                    because: "After ten appearances ten listeners read, and bill, each change, and "
                        + "the screen is updated ten times.",
                    mend: "Remove it when the screen disappears, or add it once: in a task of the "
                        + "view, `.task { for try await snapshot in query.snapshots … }`.")
            }
        }
        return Array(found.values)
    }

    /// Returns true if a condition or an earlier return can prevent a second listener.
    private static func isGuarded(
        _ body: Syntax, operation: Operation, in context: CheckContext
    ) -> Bool {
        let function = operation.node.enclosingFunction
        let around = [body] + (function.map { [$0] } ?? [])
        return around.contains { node in
            let isInside = node.encloses(operation.node)
            return node.all(IfExprSyntax.self).contains {
                isInside
                    ? $0.body.encloses(operation.node) && $0.conditions.mentionsState
                    : $0.conditions.mentionsState
            }
                || node.all(GuardStmtSyntax.self).contains { check in
                    check.conditions.mentionsState
                        && (!isInside || check.position < operation.node.position)
                }
        }
    }
}

extension ConditionElementListSyntax {
    /// True if the condition tests a state that can mean "already".
    fileprivate var mentionsState: Bool {
        contains { element in
            guard case .expression(let expression) = element.condition else { return false }
            let text = expression.trimmedDescription
            return text.contains("== nil") || text.contains("isEmpty") || text.hasPrefix("!")
                || text.lowercased().contains("first") || text.contains("== false")
        }
    }
}

/// The places where listeners are removed, by the names that hold them.
struct Removals {
    private var names: Set<String> = []
    private var outsideOfDeinit: Set<String> = []

    init(_ project: Project) {
        for site in project.calls["remove"] ?? [] where site.node.arguments.isEmpty {
            let isInDeinit = site.node.enclosingFunction?.is(DeinitializerDeclSyntax.self) == true
            for name in Self.names(removedBy: site.node) {
                names.insert(name)
                if !isInDeinit { outsideOfDeinit.insert(name) }
            }
        }
    }

    private static func names(removedBy call: FunctionCallExprSyntax) -> [String] {
        var found: [String] = []
        if let receiver = call.receiver?.bare {
            if let name = receiver.lastName { found.append(name) }
            if let subscripted = receiver.as(SubscriptCallExprSyntax.self),
                let name = subscripted.calledExpression.lastName
            {
                found.append(name)
            }
            if let inner = receiver.as(FunctionCallExprSyntax.self),
                let name = inner.receiver?.lastName
            {
                found.append(name)
            }
        }
        for loop in call.enclosingLoops {
            if let over = loop.over?.bare {
                found += over.all(DeclReferenceExprSyntax.self).map { $0.baseName.bare }
                found += over.all(MemberAccessExprSyntax.self).map { $0.declName.baseName.bare }
            }
        }
        // The code is `if let listener = self.listener { listener.remove() }`.
        for parent in call.ancestors {
            guard let branch = parent.as(IfExprSyntax.self) else { continue }
            for element in branch.conditions {
                if let value = element.condition.as(OptionalBindingConditionSyntax.self)?
                    .initializer?.value.lastName
                {
                    found.append(value)
                }
            }
        }
        return found
    }

    func has(_ name: String) -> Bool { names.contains(name) }

    /// Returns true if the code removes a listener before its owner is released.
    func follow(_ fate: ListenerLife.Fate) -> Bool {
        switch fate {
        case .discarded: false
        case .kept(let name): outsideOfDeinit.contains(name)
        case .returned, .passedOn: true
        }
    }
}
