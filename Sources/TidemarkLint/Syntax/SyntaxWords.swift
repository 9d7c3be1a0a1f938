import SwiftSyntax

extension FunctionCallExprSyntax {
    /// The last name of the called expression: `limit` of `query.limit(to: 5)`.
    var calledName: String? { calledExpression.lastName }

    /// The expression before the last name; nil for `f()` and `.f()`.
    var receiver: ExprSyntax? { calledExpression.bare.as(MemberAccessExprSyntax.self)?.base }

    /// The labels of the arguments in parentheses.
    var labels: [String?] { arguments.map { $0.label?.bare } }

    func argument(_ label: String?) -> ExprSyntax? {
        arguments.first { $0.label?.bare == label }?.expression
    }

    /// The last closure: a trailing closure, or a closure in the parentheses.
    var lastClosure: ClosureExprSyntax? {
        additionalTrailingClosures.last?.closure ?? trailingClosure
            ?? arguments.last?.expression.bare.as(ClosureExprSyntax.self)
    }
}

extension ExprSyntax {
    /// The expression without an enclosing `try`, `await`, parentheses, `!`, `?`.
    var bare: ExprSyntax {
        var current = self
        while true {
            if let node = current.as(TryExprSyntax.self) {
                current = node.expression
            } else if let node = current.as(AwaitExprSyntax.self) {
                current = node.expression
            } else if let node = current.as(ForceUnwrapExprSyntax.self) {
                current = node.expression
            } else if let node = current.as(OptionalChainingExprSyntax.self) {
                current = node.expression
            } else if let node = current.as(TupleExprSyntax.self), node.elements.count == 1,
                let only = node.elements.first, only.label == nil
            {
                current = only.expression
            } else {
                return current
            }
        }
    }

    /// True for a name, or a member of an expression; false for `.symbol` and for literals.
    var isName: Bool {
        self.is(DeclReferenceExprSyntax.self) || self.as(MemberAccessExprSyntax.self)?.base != nil
    }

    var lastName: String? {
        let bare = bare
        if let node = bare.as(MemberAccessExprSyntax.self) { return node.declName.baseName.bare }
        if let node = bare.as(DeclReferenceExprSyntax.self) { return node.baseName.bare }
        return nil
    }
}

extension StringLiteralExprSyntax {
    /// The text; nil if it has an interpolation.
    var literal: String? {
        guard segments.count <= 1 else {
            var text = ""
            for segment in segments {
                guard let part = segment.as(StringSegmentSyntax.self) else { return nil }
                text += part.content.text
            }
            return text
        }
        guard let first = segments.first else { return "" }
        return first.as(StringSegmentSyntax.self)?.content.text
    }
}

extension TypeSyntax {
    /// The last name: `Query` of `Query?`, `any Query` and `Firebase.Query`.
    var lastName: String? {
        if let node = self.as(OptionalTypeSyntax.self) { return node.wrappedType.lastName }
        if let node = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            return node.wrappedType.lastName
        }
        if let node = self.as(SomeOrAnyTypeSyntax.self) { return node.constraint.lastName }
        if let node = self.as(AttributedTypeSyntax.self) { return node.baseType.lastName }
        if let node = self.as(IdentifierTypeSyntax.self) { return node.name.bare }
        if let node = self.as(MemberTypeSyntax.self) { return node.name.bare }
        return nil
    }

    /// The type of a list's elements.
    var elementName: String? {
        if let node = self.as(OptionalTypeSyntax.self) { return node.wrappedType.elementName }
        return self.as(ArrayTypeSyntax.self)?.element.lastName
    }
}

extension SyntaxProtocol {
    /// The enclosing nodes, from the inside.
    var ancestors: some Sequence<Syntax> {
        sequence(first: Syntax(self).parent, next: { $0?.parent }).lazy.prefix { $0 != nil }
            .map { $0! }
    }

    /// Returns true if `node` is inside this node.
    func encloses(_ node: some SyntaxProtocol) -> Bool {
        position <= node.position && node.endPosition <= endPosition
            && root.id == node.root.id
    }

    /// The enclosing function, initializer or accessor.
    var enclosingFunction: Syntax? {
        ancestors.first {
            $0.is(FunctionDeclSyntax.self) || $0.is(InitializerDeclSyntax.self)
                || $0.is(AccessorBlockSyntax.self) || $0.is(DeinitializerDeclSyntax.self)
        }
    }

    /// The name of the enclosing type.
    var enclosingTypeName: String? {
        for node in ancestors {
            if let type = node.as(ClassDeclSyntax.self) { return type.name.bare }
            if let type = node.as(StructDeclSyntax.self) { return type.name.bare }
            if let type = node.as(ActorDeclSyntax.self) { return type.name.bare }
            if let type = node.as(EnumDeclSyntax.self) { return type.name.bare }
            if let type = node.as(ProtocolDeclSyntax.self) { return type.name.bare }
            if let type = node.as(ExtensionDeclSyntax.self) { return type.extendedType.lastName }
        }
        return nil
    }

    /// Returns every node of a kind inside this node, in the order of the text.
    func all<Node: SyntaxProtocol>(_ kind: Node.Type) -> [Node] {
        var found: [Node] = []
        var stack: [Syntax] = [Syntax(self)]
        while let node = stack.popLast() {
            if let match = node.as(kind) { found.append(match) }
            stack.append(contentsOf: node.children(viewMode: .sourceAccurate).reversed())
        }
        return found
    }

    /// Returns true if a name is used inside this node.
    func mentions(_ name: String) -> Bool { mentions(anyOf: [name]) }

    func mentions(anyOf names: Set<String>) -> Bool {
        tokens(viewMode: .sourceAccurate).contains { token in
            switch token.tokenKind {
            case .identifier(let text), .dollarIdentifier(let text): names.contains(text)
            default: false
            }
        }
    }

    /// Returns true if a name inside this node contains one of these words, in any case.
    func mentions(wordsOf words: [String]) -> Bool {
        tokens(viewMode: .sourceAccurate).contains { token in
            guard case .identifier(let text) = token.tokenKind else { return false }
            let lower = text.lowercased()
            return words.contains { lower.contains($0) }
        }
    }
}

extension ClosureExprSyntax {
    /// The names of the parameters; nil if there are none and the closure uses `$0`.
    var parameterNames: [String]? {
        guard let clause = signature?.parameterClause else { return nil }
        if case .simpleInput(let list) = clause { return list.map { $0.name.bare } }
        guard case .parameterClause(let list) = clause else { return nil }
        return list.parameters.map { ($0.secondName ?? $0.firstName).bare }
    }
}
