import SwiftSyntax

/// The files of a target or app, with their declarations and calls, by name.
final class Project {
    let files: [SourceFile]
    fileprivate(set) var types: [String: TypeFacts] = [:]
    /// The functions outside of types.
    fileprivate(set) var functions: [String: [FunctionFacts]] = [:]
    fileprivate(set) var globals: [String: VariableFacts] = [:]
    /// The functions inside and outside of types.
    fileprivate(set) var allFunctions: [String: [FunctionFacts]] = [:]
    fileprivate(set) var calls: [String: [CallSite]] = [:]
    /// The uses of `x.snapshots` without parentheses.
    fileprivate(set) var sequences: [(node: MemberAccessExprSyntax, file: SourceFile)] = []
    private(set) var functionsByNode: [SyntaxIdentifier: FunctionFacts] = [:]
    /// The types that inherit from a type or conform to it, by its name.
    private(set) var heirs: [String: [TypeFacts]] = [:]

    struct CallSite {
        let node: FunctionCallExprSyntax
        let file: SourceFile
    }

    init(_ files: [SourceFile]) {
        self.files = files
        for file in files {
            let indexer = Indexer(self, file)
            indexer.walk(file.tree)
        }
        for type in types.values {
            for name in Set(type.inherits) { heirs[name, default: []].append(type) }
        }
    }

    fileprivate func type(named name: String) -> TypeFacts {
        if let known = types[name] { return known }
        let new = TypeFacts(name: name)
        types[name] = new
        return new
    }

    fileprivate func add(_ function: FunctionFacts) {
        functionsByNode[function.node.id] = function
        if let owner = function.owner {
            type(named: owner).functions[function.name, default: []].append(function)
        } else {
            functions[function.name, default: []].append(function)
        }
        allFunctions[function.name, default: []].append(function)
    }
}

/// Visits a file once.
private final class Indexer: SyntaxVisitor {
    private let project: Project
    private let file: SourceFile
    private var owners: [String] = []
    /// The number of enclosing functions and closures.
    private var depth = 0

    init(_ project: Project, _ file: SourceFile) {
        self.project = project
        self.file = file
        super.init(viewMode: .sourceAccurate)
    }

    private func begin(
        _ name: String, inheritance: InheritanceClauseSyntax?, node: some SyntaxProtocol
    ) -> SyntaxVisitorContinueKind {
        owners.append(name)
        let facts = project.type(named: name)
        facts.inherits += inheritance?.inheritedTypes.map { $0.type.trimmedDescription } ?? []
        facts.parts.append((Syntax(node), file))
        return .visitChildren
    }

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
        begin(node.name.bare, inheritance: node.inheritanceClause, node: node)
    }
    override func visitPost(_ node: ClassDeclSyntax) { owners.removeLast() }

    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
        begin(node.name.bare, inheritance: node.inheritanceClause, node: node)
    }
    override func visitPost(_ node: StructDeclSyntax) { owners.removeLast() }

    override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind {
        begin(node.name.bare, inheritance: node.inheritanceClause, node: node)
    }
    override func visitPost(_ node: ActorDeclSyntax) { owners.removeLast() }

    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind {
        let result = begin(node.name.bare, inheritance: node.inheritanceClause, node: node)
        for member in node.memberBlock.members {
            for element in member.decl.as(EnumCaseDeclSyntax.self)?.elements ?? [] {
                let raw = element.rawValue?.value.as(StringLiteralExprSyntax.self)?.literal
                project.type(named: node.name.bare).rawValues[element.name.bare] =
                    raw ?? element.name.bare
            }
        }
        return result
    }
    override func visitPost(_ node: EnumDeclSyntax) { owners.removeLast() }

    override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
        begin(node.name.bare, inheritance: node.inheritanceClause, node: node)
    }
    override func visitPost(_ node: ProtocolDeclSyntax) { owners.removeLast() }

    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
        let name = node.extendedType.lastName ?? node.extendedType.trimmedDescription
        return begin(name, inheritance: node.inheritanceClause, node: node)
    }
    override func visitPost(_ node: ExtensionDeclSyntax) { owners.removeLast() }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        project.add(
            FunctionFacts(node, owner: depth == 0 ? owners.last : nil, file: file))
        depth += 1
        return .visitChildren
    }
    override func visitPost(_ node: FunctionDeclSyntax) { depth -= 1 }

    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
        project.add(FunctionFacts(node, owner: owners.last, file: file))
        depth += 1
        return .visitChildren
    }
    override func visitPost(_ node: InitializerDeclSyntax) { depth -= 1 }

    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
        depth += 1
        return .visitChildren
    }
    override func visitPost(_ node: ClosureExprSyntax) { depth -= 1 }

    override func visit(_ node: AccessorBlockSyntax) -> SyntaxVisitorContinueKind {
        depth += 1
        return .visitChildren
    }
    override func visitPost(_ node: AccessorBlockSyntax) { depth -= 1 }

    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        guard depth == 0 else { return .visitChildren }
        for binding in node.bindings {
            guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.bare
            else { continue }
            let facts = VariableFacts(binding, name, of: node, owner: owners.last, file: file)
            if let owner = owners.last {
                project.type(named: owner).variables[name] = facts
            } else {
                project.globals[name] = facts
            }
        }
        return .visitChildren
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        if let name = node.calledName {
            project.calls[name, default: []].append(Project.CallSite(node: node, file: file))
        }
        return .visitChildren
    }

    override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
        if node.declName.baseName.text == "snapshots",
            node.parent?.as(FunctionCallExprSyntax.self)?.calledExpression.id != node.id
        {
            project.sequences.append((node, file))
        }
        return .visitChildren
    }
}
