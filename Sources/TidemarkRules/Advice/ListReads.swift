/// Which parts of a condition differ between the results of a query, and which documents they read.
struct ListReads {
    private let functions: [Ruleset.Function]
    /// For each capture of the block, whether it differs between results.
    private let captures: [Bool]
    /// Places of reads whose path differs between results, in bytes.
    private(set) var found: [Int] = []
    /// Expressions that may still be looked at; a file made to explode ends here.
    private var rest = 100_000

    init(_ rules: Ruleset, block: Ruleset.Block) {
        functions = rules.functions
        let captured = block.pattern.segments.filter { $0.captured != nil }
        let endsInCapture = block.pattern.segments.last?.captured != nil
        captures = captured.indices.map { $0 == captured.count - 1 && endsInCapture }
    }

    /// The places of reads whose path differs between results.
    mutating func unprovable(in condition: Node) -> [Int] {
        _ = differs(condition, locals: [])
        return found
    }

    func dependsOnResults(_ node: Node) -> Bool {
        var copy = self
        return copy.differs(node, locals: [])
    }

    /// Whether it reads documents, or looks at claims that are not known here.
    func hasReads(_ node: Node) -> Bool {
        var nodes = [node]
        var seen: Set<Int> = []
        while let node = nodes.popLast() {
            switch node.operation {
            case .builtin(let builtin, _, _) where builtin.isRead: return true
            case .member(_, "token"): return true
            case .function(let index, _) where seen.insert(index).inserted:
                nodes += functions[index].variables + [functions[index].result]
            default: break
            }
            nodes += node.children
        }
        return false
    }

    private mutating func differs(_ node: Node, locals: [Bool]) -> Bool {
        rest -= 1
        if rest < 0 { return false }
        switch node.operation {
        case .resource: return true
        case .capture(let index): return index < captures.count && captures[index]
        case .local(let index): return index < locals.count && locals[index]
        case .function(let index, let arguments):
            var inner = arguments.map { differs($0, locals: locals) }
            for variable in functions[index].variables {
                inner.append(differs(variable, locals: inner))
            }
            return differs(functions[index].result, locals: inner)
        default:
            // All of them are looked at, for the reads in them.
            let parts = node.children.map { differs($0, locals: locals) }
            if case .builtin(let builtin, _, _) = node.operation, builtin.isRead,
                parts.contains(true), !found.contains(node.start)
            {
                found.append(node.start)
            }
            return parts.contains(true)
        }
    }
}
