import SwiftSyntax

extension Evaluator {
    func name(_ node: DeclReferenceExprSyntax, _ scope: Scope) -> Known {
        let name = node.baseName.bare
        if let bound = scope.names[name] { return bound }
        if name == "self" { return scope.me ?? me(at: node) }
        if name == "Self" { return node.enclosingTypeName.map(Known.metatype) ?? .unknown }
        if let local = local(name, at: Syntax(node), scope) { return local }
        if let owner = ownerName(at: node, scope), let found = member(name, of: owner, scope) {
            return found
        }
        if let global = project.globals[name] { return variable(global, scope) }
        if project.types[name] != nil || name.first?.isUppercase == true { return .metatype(name) }
        return .unknown
    }

    private func me(at node: some SyntaxProtocol) -> Known {
        node.enclosingTypeName.map { Known.of(type: $0) } ?? .unknown
    }

    private func ownerName(at node: some SyntaxProtocol, _ scope: Scope) -> String? {
        if case .instance(let name)? = scope.me { return name }
        return node.enclosingTypeName
    }

    /// Returns a property of a type or of a type that it inherits from.
    func member(_ name: String, of owner: String, _ scope: Scope) -> Known? {
        var current: String? = owner
        for _ in 0..<8 {
            guard let type = current.flatMap({ project.types[$0] }) else { return nil }
            if let found = type.variables[name] { return variable(found, scope) }
            current = type.inherits.first { project.types[$0] != nil }
        }
        return nil
    }

    func variable(_ facts: VariableFacts, _ scope: Scope) -> Known {
        if facts.attributes.contains("AppStorage") { return .kept }
        var inner = Scope()
        inner.depth = scope.depth + 1
        if let owner = facts.owner, case .instance(owner)? = scope.me { inner.me = scope.me }
        if let initial = facts.initializer {
            let found = value(initial, inner)
            if found != .unknown, !(facts.mayChange && found.isPlainValue) { return found }
        }
        if let getter = facts.getter {
            if facts.owner.map(isOfFirestore) == true, let me = scope.me { inner.me = me }
            let found = result(of: getter, inner)
            if found != .unknown { return found }
        }
        if let type = facts.type { return named(type) }
        return .unknown
    }

    /// Returns true for the name of one of Firestore's own types.
    func isOfFirestore(_ name: String) -> Bool {
        ["Query", "CollectionReference", "Firestore", "DocumentReference"].contains(name)
    }

    /// Returns the value of a local name at `node`; nil if the name is not local.
    private func local(_ name: String, at node: Syntax, _ scope: Scope) -> Known? {
        for parent in node.ancestors {
            if let items = parent.as(CodeBlockItemListSyntax.self) {
                if let found = declared(name, in: items, before: node, scope) { return found }
            } else if let branch = parent.as(IfExprSyntax.self),
                branch.body.encloses(node) || branch.conditions.encloses(node),
                let found = bound(name, in: branch.conditions, before: node, scope)
            {
                return found
            } else if let loop = parent.as(ForStmtSyntax.self), loop.body.encloses(node),
                let pattern = loop.pattern.as(IdentifierPatternSyntax.self),
                pattern.identifier.bare == name
            {
                return element(of: value(loop.sequence, scope))
            } else if let closure = parent.as(ClosureExprSyntax.self),
                let found = parameter(name, of: closure, scope)
            {
                return found
            } else if let function = project.functionsByNode[parent.id],
                let parameter = function.parameters.first(where: { $0.name == name })
            {
                return self.parameter(parameter, of: function, scope)
            } else if parent.is(MemberBlockSyntax.self) {
                return nil
            }
        }
        return nil
    }

    private func declared(
        _ name: String, in items: CodeBlockItemListSyntax, before node: Syntax, _ scope: Scope
    ) -> Known? {
        var found: (value: Known, isSetLater: Bool)?
        for item in items {
            guard item.position < node.position,
                !item.encloses(node) || item.item.is(GuardStmtSyntax.self)
            else { break }
            if let variable = item.item.as(VariableDeclSyntax.self) {
                for binding in variable.bindings
                where binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.bare == name {
                    let isVariable = variable.bindingSpecifier.tokenKind == .keyword(.var)
                    let isSetLater = binding.initializer == nil && binding.accessorBlock == nil
                    found = (self.initial(binding, scope), isVariable || isSetLater)
                    // All paths to `node` set the variable, for example in the branches of an `if`
                    // or a `switch`.
                    if isSetLater, binding.typeAnnotation?.type.isOptional == false,
                        let set = assignments(to: name, in: items, before: node, from: nil, scope)
                    {
                        found = (set, false)
                    }
                }
            } else if let check = item.item.as(GuardStmtSyntax.self),
                let value = bound(name, in: check.conditions, before: node, scope)
            {
                found = (value, false)
            }
        }
        guard let found else { return nil }
        return found.isSetLater
            ? assigned(name, in: items, before: node, from: found.value, scope) : found.value
    }

    private func initial(_ binding: PatternBindingSyntax, _ scope: Scope) -> Known {
        if let initial = binding.initializer?.value {
            let found = value(initial, scope)
            if found != .unknown { return found }
        }
        if let getter = binding.accessorBlock, case .getter(let items) = getter.accessors {
            return result(of: items, scope)
        }
        return named(binding.typeAnnotation?.type)
    }

    /// Returns the value of a `var` after the assignments before `node`.
    private func assigned(
        _ name: String, in items: CodeBlockItemListSyntax, before node: Syntax, from first: Known,
        _ scope: Scope
    ) -> Known {
        assignments(to: name, in: items, before: node, from: first, scope) ?? first
    }

    /// - Parameter first: The value before all assignments; nil if there is none.
    private func assignments(
        to name: String, in items: CodeBlockItemListSyntax, before node: Syntax,
        from first: Known?, _ scope: Scope
    ) -> Known? {
        var current = first
        for item in items where item.position < node.position {
            for sequence in item.all(SequenceExprSyntax.self)
            where sequence.position < node.position {
                let elements = Array(sequence.elements)
                guard elements.count >= 3, elements[1].is(AssignmentExprSyntax.self),
                    elements[0].as(DeclReferenceExprSyntax.self)?.baseName.bare == name,
                    !sequence.encloses(node)
                else { continue }
                var inner = scope.deeper()
                inner.names[name] = current ?? .unknown
                let new: Known
                if elements.count == 3 {
                    new = value(elements[2], inner)
                } else if elements.count == 5,
                    let choice = elements[3].as(UnresolvedTernaryExprSyntax.self)
                {
                    new = value(choice.thenExpression, inner).joined(
                        with: value(elements[4], inner))
                } else {
                    new = .unknown
                }
                // An assignment runs on every path to `node` if a list of statements contains both.
                let list = sequence.ancestors.first { $0.is(CodeBlockItemListSyntax.self) }
                let isSure = list.map { $0.encloses(node) } ?? false
                current = isSure ? new : current?.joined(with: new) ?? new
            }
        }
        return current
    }

    private func bound(
        _ name: String, in conditions: ConditionElementListSyntax, before node: Syntax,
        _ scope: Scope
    ) -> Known? {
        for element in conditions where !element.encloses(node) {
            guard let binding = element.condition.as(OptionalBindingConditionSyntax.self),
                binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.bare == name
            else { continue }
            if let initial = binding.initializer?.value { return value(initial, scope) }
            // In `guard let x else`, the value is that of the outer name.
            let inner = scope.deeper().deeper()
            return local(name, at: Syntax(conditions.parent ?? Syntax(conditions)), inner)
                ?? .unknown
        }
        return nil
    }

    private func parameter(
        _ name: String, of closure: ClosureExprSyntax, _ scope: Scope
    ) -> Known? {
        let names =
            closure.parameterNames ?? (name == "$0" ? ["$0"] : name == "$1" ? ["$0", "$1"] : [])
        guard let index = names.firstIndex(of: name) else { return nil }
        guard let call = closure.calling else { return .unknown }
        return given(index, to: call, scope)
    }

    /// Returns the value that a function passes to a closure.
    private func given(_ index: Int, to call: FunctionCallExprSyntax, _ scope: Scope) -> Known {
        guard let name = call.calledName else { return .unknown }
        let receiver = call.receiver.map { value($0, scope) } ?? .unknown
        switch name {
        case "addSnapshotListener", "getDocuments", "getDocument":
            guard index == 0 else { return .unknown }
            switch receiver {
            case .query(let facts): return .querySnapshot(facts)
            case .document: return .documentSnapshot
            default:
                return switch name {
                case "getDocuments": .querySnapshot(.unknown)
                case "getDocument": .documentSnapshot
                default: .unknown
                }
            }
        case "onDelete", "onMove": return index == 0 ? .instance("IndexSet") : .unknown
        case "runTransaction": return index == 0 ? .transaction : .unknown
        case "map", "compactMap", "flatMap", "forEach", "filter", "first", "contains", "sorted",
            "concurrentForEach", "asyncMap", "asyncForEach":
            return index == 0 ? element(of: receiver) : .unknown
        default: return .unknown
        }
    }

    func element(of value: Known) -> Known {
        switch value {
        case .documents: .documentSnapshot
        case .elements(let name): .of(type: name)
        case .list(let values): values.count == 1 ? values[0] : .unknown
        case .kept: .kept
        default: .unknown
        }
    }

    /// Returns the value that the callers pass, if all pass the same; otherwise the value by the
    /// parameter's type.
    private func parameter(
        _ parameter: FunctionFacts.Parameter, of function: FunctionFacts, _ scope: Scope
    ) -> Known {
        let typed = named(parameter.type)
        guard scope.depth < 12, !typed.isObject else { return typed }
        let calls = (project.calls[function.name] ?? []).filter { function.accepts($0.node.labels) }
        guard (1...4).contains(calls.count), project.allFunctions[function.name]?.count == 1 else {
            return typed
        }
        var found: Known?
        for call in calls {
            guard let argument = call.node.argument(parameter.label) else { return typed }
            var inner = Scope()
            inner.depth = scope.depth + 4
            let value = value(argument, inner)
            found = found.map { $0.joined(with: value) } ?? value
        }
        guard let found, found != .unknown else { return typed }
        return found
    }
}

extension Known {
    /// True for the kinds of values that a property is likely to change. References and numbers are
    /// not such kinds; a number is the size of a page.
    fileprivate var isPlainValue: Bool {
        switch self {
        case .text, .flag, .list, .deviceTime, .symbol: true
        default: false
        }
    }

    /// True for an instance of a type of the project. Its members say more than a caller's
    /// argument.
    fileprivate var isObject: Bool {
        if case .instance(let name) = self {
            return !["String", "Int", "Bool", "Date", "Double"].contains(name)
        }
        return false
    }
}

extension ClosureExprSyntax {
    /// The call that has this closure as an argument.
    var calling: FunctionCallExprSyntax? {
        var node = parent
        while let current = node {
            if let call = current.as(FunctionCallExprSyntax.self) { return call }
            guard
                current.is(LabeledExprSyntax.self) || current.is(LabeledExprListSyntax.self)
                    || current.is(MultipleTrailingClosureElementSyntax.self)
                    || current.is(MultipleTrailingClosureElementListSyntax.self)
            else { return nil }
            node = current.parent
        }
        return nil
    }
}

extension TypeSyntax {
    /// True for a type with `?` or `!`, whose variables are nil from the beginning.
    fileprivate var isOptional: Bool {
        self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
    }
}
