import SwiftSyntax

/// A function, an initializer or an accessor with a body.
final class FunctionFacts {
    struct Parameter {
        /// The label; nil for `_`.
        let label: String?
        let name: String
        let type: TypeSyntax
    }

    let name: String
    let parameters: [Parameter]
    let returnType: TypeSyntax?
    let body: CodeBlockItemListSyntax?
    /// The type that the function belongs to.
    let owner: String?
    let node: Syntax
    let file: SourceFile

    init(_ node: FunctionDeclSyntax, owner: String?, file: SourceFile) {
        name = node.name.bare
        parameters = Self.parameters(node.signature)
        returnType = node.signature.returnClause?.type
        body = node.body?.statements
        self.owner = owner
        self.node = Syntax(node)
        self.file = file
    }

    init(_ node: InitializerDeclSyntax, owner: String?, file: SourceFile) {
        name = "init"
        parameters = Self.parameters(node.signature)
        returnType = nil
        body = node.body?.statements
        self.owner = owner
        self.node = Syntax(node)
        self.file = file
    }

    private static func parameters(_ signature: FunctionSignatureSyntax) -> [Parameter] {
        signature.parameterClause.parameters.map { parameter in
            let first = parameter.firstName.bare
            return Parameter(
                label: first == "_" ? nil : first,
                name: parameter.secondName?.bare ?? first, type: parameter.type)
        }
    }

    /// Returns true if a call with these labels can be a call of the function: omitted parameters
    /// may have a default, and trailing closures have no labels.
    func accepts(_ labels: [String?]) -> Bool {
        var rest = parameters[...]
        for label in labels {
            guard let index = rest.firstIndex(where: { $0.label == label }) else { return false }
            rest = rest[(index + 1)...]
        }
        return true
    }
}

/// A property, or a variable outside of functions.
final class VariableFacts {
    let name: String
    let type: TypeSyntax?
    let initializer: ExprSyntax?
    /// The statements of a getter.
    let getter: CodeBlockItemListSyntax?
    let owner: String?
    /// The attributes, as in `AppStorage`.
    let attributes: [String]
    /// True if the value can differ from the initial value.
    let mayChange: Bool
    let node: Syntax
    let file: SourceFile

    init(
        _ binding: PatternBindingSyntax, _ name: String, of node: VariableDeclSyntax,
        owner: String?, file: SourceFile
    ) {
        self.name = name
        type = binding.typeAnnotation?.type
        initializer = binding.initializer?.value
        getter = Self.getter(binding.accessorBlock)
        mayChange = getter == nil && node.bindingSpecifier.tokenKind == .keyword(.var)
        self.owner = owner
        attributes = node.attributes.compactMap {
            $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription
        }
        self.node = Syntax(binding)
        self.file = file
    }

    private static func getter(_ block: AccessorBlockSyntax?) -> CodeBlockItemListSyntax? {
        guard let accessors = block?.accessors else { return nil }
        if case .getter(let statements) = accessors { return statements }
        guard case .accessors(let list) = accessors else { return nil }
        return list.first { $0.accessorSpecifier.tokenKind == .keyword(.get) }?.body?.statements
    }
}

/// A class, struct, enum, actor or protocol, with all of its extensions.
final class TypeFacts {
    let name: String
    var inherits: [String] = []
    var functions: [String: [FunctionFacts]] = [:]
    var variables: [String: VariableFacts] = [:]
    /// The raw values of an enum's cases, as text.
    var rawValues: [String: String] = [:]
    /// The places of the type's parts.
    var parts: [(node: Syntax, file: SourceFile)] = []

    init(name: String) { self.name = name }
}

extension TokenSyntax {
    /// The text without the backticks of an escaped name.
    var bare: String { text.trimmingBackticks }
}

extension String {
    fileprivate var trimmingBackticks: String {
        hasPrefix("`") && hasSuffix("`") && count > 2 ? String(dropFirst().dropLast()) : self
    }
}
