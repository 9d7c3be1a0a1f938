/// Finds the parts of a condition that differ between the results of a query, and the documents
/// that those parts read.
struct ListReads {
    private let functions: [Ruleset.Function]
    /// One entry per capture of the block; true if the capture differs between results.
    private let captures: [Bool]
    /// The positions, in bytes, of reads whose path differs between results, with the fields that
    /// decide the path. The fields are nil if more than fields decide it.
    private(set) var found: [(place: Int, fields: Set<String>?)] = []
    /// The number of expressions that may still be visited. Bounds the work for a file that is made
    /// to be expensive.
    private var rest = 100_000

    init(_ rules: Ruleset, block: Ruleset.Block) {
        functions = rules.functions
        let captured = block.pattern.segments.filter { $0.captured != nil }
        let endsInCapture = block.pattern.segments.last?.captured != nil
        captures = captured.indices.map { $0 == captured.count - 1 && endsInCapture }
    }

    /// Returns the reads whose path differs between results, as in ``found``.
    mutating func unprovable(in condition: Node) -> [(place: Int, fields: Set<String>?)] {
        _ = difference(condition, locals: [])
        return found
    }

    func dependsOnResults(_ node: Node) -> Bool {
        var copy = self
        return copy.difference(node, locals: []) != .none
    }

    /// Returns true if the node reads documents or uses claims, whose values are not known here.
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

    private mutating func difference(_ node: Node, locals: [Difference]) -> Difference {
        rest -= 1
        if rest < 0 { return .none }
        switch node.operation {
        case .resource: return .always
        case .member(let data, let field) where data.isDataOfResource: return .by([field])
        case .capture(let index):
            return index < captures.count && captures[index] ? .always : .none
        case .local(let index): return index < locals.count ? locals[index] : .none
        case .function(let index, let arguments):
            var inner = arguments.map { difference($0, locals: locals) }
            for variable in functions[index].variables {
                inner.append(difference(variable, locals: inner))
            }
            return difference(functions[index].result, locals: inner)
        default:
            // Visits all children, even if the first one decides, to find their reads.
            let all = node.children.map { difference($0, locals: locals) }
                .reduce(Difference.none) { $0.joined($1) }
            if case .builtin(let builtin, _, _) = node.operation, builtin.isRead, all != .none,
                !found.contains(where: { $0.place == node.start })
            {
                found.append((node.start, all.fields))
            }
            return all
        }
    }
}

/// The way in which a value differs between the results of a query.
private enum Difference: Equatable {
    case none
    /// The value depends only on these fields, which filters can fix.
    case by(Set<String>)
    case always

    var fields: Set<String>? {
        if case .by(let fields) = self { fields } else { nil }
    }

    func joined(_ other: Difference) -> Difference {
        switch (self, other) {
        case (.none, let one), (let one, .none): one
        case (.by(let left), .by(let right)): .by(left.union(right))
        case (.always, _), (_, .always): .always
        }
    }
}

extension Node {
    fileprivate var isDataOfResource: Bool {
        guard case .member(let node, "data") = operation, case .resource = node.operation else {
            return false
        }
        return true
    }
}
