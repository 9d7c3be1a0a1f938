import SwiftSyntax

extension FunctionCallExprSyntax {
    /// The last name of what is called: `limit` of `query.limit(to: 5)`.
    var calledName: String? { calledExpression.lastName }

    /// What stands before the last name; nil for `f()` and `.f()`.
    var receiver: ExprSyntax? { calledExpression.bare.as(MemberAccessExprSyntax.self)?.base }

    /// Labels of the arguments in parentheses.
    var labels: [String?] { arguments.map { $0.label?.bare } }

    func argument(_ label: String?) -> ExprSyntax? {
        arguments.first { $0.label?.bare == label }?.expression
    }

    /// The last closure: a trailing one, or one in the parentheses.
    var lastClosure: ClosureExprSyntax? {
        additionalTrailingClosures.last?.closure ?? trailingClosure
            ?? arguments.last?.expression.bare.as(ClosureExprSyntax.self)
    }
}

extension ExprSyntax {
    /// Without `try`, `await`, parentheses, `!`, `?` around it.
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

    /// A name, or a member of something that has one; not `.symbol`, and no literal.
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
    /// Nil where something is inserted.
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
    /// `Query` of `Query?`, `any Query` and `Firebase.Query`.
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
    /// The nodes around this one, from the inside.
    var ancestors: some Sequence<Syntax> {
        sequence(first: Syntax(self).parent, next: { $0?.parent }).lazy.prefix { $0 != nil }
            .map { $0! }
    }

    /// Whether `node` stands inside of this one.
    func encloses(_ node: some SyntaxProtocol) -> Bool {
        position <= node.position && node.endPosition <= endPosition
            && root.id == node.root.id
    }

    /// The function, initialiser or accessor around it.
    var enclosingFunction: Syntax? {
        ancestors.first {
            $0.is(FunctionDeclSyntax.self) || $0.is(InitializerDeclSyntax.self)
                || $0.is(AccessorBlockSyntax.self) || $0.is(DeinitializerDeclSyntax.self)
        }
    }

    /// The name of the type around it.
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

    /// Every node of a kind inside of it, in the order of the text.
    func all<Node: SyntaxProtocol>(_ kind: Node.Type) -> [Node] {
        var found: [Node] = []
        var stack: [Syntax] = [Syntax(self)]
        while let node = stack.popLast() {
            if let match = node.as(kind) { found.append(match) }
            stack.append(contentsOf: node.children(viewMode: .sourceAccurate).reversed())
        }
        return found
    }

    /// Whether a name is used inside of it.
    func mentions(_ name: String) -> Bool { mentions(anyOf: [name]) }

    func mentions(anyOf names: Set<String>) -> Bool {
        tokens(viewMode: .sourceAccurate).contains { token in
            switch token.tokenKind {
            case .identifier(let text), .dollarIdentifier(let text): names.contains(text)
            default: false
            }
        }
    }

    /// Whether a name inside of it contains one of these words, in any case.
    func mentions(wordsOf words: [String]) -> Bool {
        tokens(viewMode: .sourceAccurate).contains { token in
            guard case .identifier(let text) = token.tokenKind else { return false }
            let lower = text.lowercased()
            return words.contains { lower.contains($0) }
        }
    }
}

extension ClosureExprSyntax {
    /// Nil where it has none and speaks of `$0`.
    var parameterNames: [String]? {
        guard let clause = signature?.parameterClause else { return nil }
        if case .simpleInput(let list) = clause { return list.map { $0.name.bare } }
        guard case .parameterClause(let list) = clause else { return nil }
        return list.parameters.map { ($0.secondName ?? $0.firstName).bare }
    }
}
