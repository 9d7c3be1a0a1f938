import SwiftSyntax

/// The Firestore operations of functions, directly and through the functions that they call.
final class CallGraph {
    static let maxDepth = 4

    let project: Project
    let evaluator: Evaluator
    let operations: [Operation]
    private var byFunction: [SyntaxIdentifier: [Operation]] = [:]
    /// The operations of each file, by its root.
    private var byFile: [SyntaxIdentifier: [Operation]] = [:]
    private var reached: [SyntaxIdentifier: [Operation]] = [:]
    /// The functions that each function calls.
    private var called: [SyntaxIdentifier: [FunctionFacts]] = [:]

    init(project: Project, evaluator: Evaluator, operations: [Operation]) {
        self.project = project
        self.evaluator = evaluator
        self.operations = operations
        for operation in operations {
            byFile[operation.file.tree.id, default: []].append(operation)
            guard let function = operation.node.enclosingFunction else { continue }
            byFunction[function.id, default: []].append(operation)
        }
    }

    /// Returns the operations inside a function, in the order of the text.
    func operations(in function: FunctionFacts) -> [Operation] {
        byFunction[function.node.id] ?? []
    }

    /// Returns the operations in a node, in the same file.
    func operations(within node: some SyntaxProtocol) -> [Operation] {
        let range = node.position..<node.endPosition
        return (byFile[node.root.id] ?? []).filter {
            range.lowerBound <= $0.node.position && $0.node.endPosition <= range.upperBound
        }
    }

    /// The names of functions that perform an operation, or call a function that does.
    lazy var namesThatPerform: Set<String> = {
        var names: Set<String> = []
        for operation in operations {
            guard let node = operation.node.enclosingFunction,
                let function = project.functionsByNode[node.id]
            else { continue }
            for caller in callers(of: function) where caller.name != "init" {
                names.insert(caller.name)
            }
        }
        return names
    }()

    /// Returns the operations of a function, also through others, ``maxDepth`` calls deep: the
    /// nearest first, each once.
    func performed(by function: FunctionFacts) -> [Operation] {
        if let known = reached[function.node.id] { return known }
        var all: [Operation] = []
        var seen: Set<SyntaxIdentifier> = [function.node.id]
        var level = [function]
        for depth in 0...Self.maxDepth {
            all += level.flatMap(operations(in:))
            if depth == Self.maxDepth { break }
            level = level.flatMap(callees(of:)).filter { seen.insert($0.node.id).inserted }
        }
        reached[function.node.id] = all
        return all
    }

    /// Returns the operations of a function and of the functions that it calls directly.
    func performedNear(by function: FunctionFacts) -> [Operation] {
        ([function] + callees(of: function)).flatMap(operations(in:))
    }

    private func callees(of function: FunctionFacts) -> [FunctionFacts] {
        if let known = called[function.node.id] { return known }
        let all = function.body?.all(FunctionCallExprSyntax.self).compactMap(callee(of:)) ?? []
        called[function.node.id] = all
        return all
    }

    func callee(of call: FunctionCallExprSyntax) -> FunctionFacts? {
        guard let name = call.calledName, project.allFunctions[name] != nil else { return nil }
        let base = call.receiver.map { evaluator.value($0) }
        return evaluator.function(called: call, base, Evaluator.Scope())
    }

    /// Returns the operations of a statement or expression: its own, and those of the project's
    /// functions that it calls.
    func performed(in node: some SyntaxProtocol) -> [Operation] {
        var all = operations(within: node)
        for call in node.all(FunctionCallExprSyntax.self) {
            if let next = callee(of: call) { all += performed(by: next) }
        }
        return all
    }

    /// Returns the functions that call a function, ``maxDepth`` calls up, including the function
    /// itself.
    func callers(of function: FunctionFacts) -> [FunctionFacts] {
        var found = [function]
        var seen: Set<SyntaxIdentifier> = [function.node.id]
        var level = [function]
        for _ in 0..<Self.maxDepth {
            var next: [FunctionFacts] = []
            for callee in level {
                for site in project.calls[callee.name] ?? [] {
                    guard self.callee(of: site.node) === callee,
                        let node = site.node.enclosingFunction,
                        let caller = project.functionsByNode[node.id],
                        seen.insert(caller.node.id).inserted
                    else { continue }
                    next.append(caller)
                }
            }
            found += next
            level = next
            if next.isEmpty || found.count > 200 { break }
        }
        return found
    }
}
