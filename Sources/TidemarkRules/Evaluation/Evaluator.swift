import TidemarkModel

/// Evaluates the expressions of one request.
///
/// Errors are values of the language: `&&` and `||` absorb an error in either operand. A typed
/// Swift `throw` carries an error to the operator that absorbs it.
struct Evaluator {
    let functions: [Ruleset.Function]
    let request: RulesRequest
    let documents: any RulesDocuments
    var reads: RulesReads
    /// The values of the block's wildcards.
    var captures: [RulesValue] = []
    /// Records every value, if requested.
    let trace: RulesTrace?
    var ledger: EvaluationLedger

    private var locals: [Result<RulesValue, RulesFailure>] = []
    private var base = 0
    private var depth = 0

    /// The maximum depth of nested expressions and calls, which bounds the stack.
    private static let mostLevels = 250

    init(
        ruleset: Ruleset, request: RulesRequest, documents: any RulesDocuments,
        reads: RulesReads, trace: RulesTrace?
    ) {
        functions = ruleset.functions
        self.request = request
        self.documents = documents
        self.reads = reads
        self.trace = trace
        ledger = EvaluationLedger(isProof: request.method == .list)
    }

    mutating func evaluate(_ node: Node) throws(RulesFailure) -> RulesValue {
        depth += 1
        defer { depth -= 1 }
        if depth > Self.mostLevels { throw RulesFailure(cause: .tooComplex, offset: node.start) }
        guard let trace else { return try compute(node) }
        do throws(RulesFailure) {
            let value = try compute(node)
            trace.note(node, .success(value))
            return value
        } catch {
            trace.note(node, .failure(error))
            throw error
        }
    }

    private mutating func compute(_ node: Node) throws(RulesFailure) -> RulesValue {
        try ledger.spend(Self.price(of: node.operation), at: node)
        switch node.operation {
        case .constant(let value): return value
        case .local(let index): return try locals[base + index].get()
        case .capture(let index):
            return index < captures.count ? captures[index] : .known(Knowledge())
        case .request: return .map(request.request)
        case .resource: return try resource(node)
        case .unknownName(let name): throw RulesFailure(.undefinedProperty(name), node)
        case .list(let nodes): return .list(try all(nodes))
        case .map(let entries): return try map(entries)
        case .path(let parts): return try path(parts)
        case .not(let inner):
            guard let value = try condition(inner) else { return .known(Knowledge()) }
            return .boolean(!value)
        case .negative(let inner): return try negative(inner, node)
        case .and(let operands): return try conjunction(operands, node)
        case .or(let operands): return try disjunction(operands, node)
        case .binary(let symbol, let left, let right, _):
            let (first, second) = (try evaluate(left), try evaluate(right))
            return try Operators.apply(
                symbol, left: first, right: second, at: node, ledger: &ledger)
        case .conditional(let test, let first, let second):
            guard let value = try condition(test) else { return .known(Knowledge()) }
            return try evaluate(value ? first : second)
        case .isType(let inner, let type):
            return try evaluate(inner).isOf(type).map { RulesValue.boolean($0) }
                ?? .known(Knowledge())
        case .member(let inner, let name):
            return try ValueAccess.member(name, of: try evaluate(inner), at: node, ledger: &ledger)
        case .index(let value, let index):
            let (whole, place) = (try evaluate(value), try evaluate(index))
            return try ValueAccess.element(of: whole, at: place, node, &ledger)
        case .slice(let value, let first, let second):
            let (whole, start, end) = (
                try evaluate(value), try evaluate(first), try evaluate(second)
            )
            return try ValueAccess.slice(whole, from: start, to: end, at: node, ledger: &ledger)
        case .function(let index, let arguments):
            return try call(index, arguments: arguments, at: node)
        case .builtin(let builtin, let arguments, let nameStart):
            return try call(builtin, arguments: all(arguments), at: node, nameStart: nameStart)
        case .method(let receiver, let method, let arguments, let pattern, let nameStart):
            let call = MethodCall(
                node: node, method: method, nameStart: nameStart, pattern: pattern,
                receiver: try evaluate(receiver), arguments: try all(arguments))
            return try call.answer(&ledger)
        case .unknownFunction(let name, let arguments):
            _ = try all(arguments)
            throw RulesFailure(.functionNotFound(name), node)
        }
    }

    /// Returns production's charge for an expression, without its parts.
    private static func price(of operation: Node.Operation) -> Int {
        switch operation {
        case .and(let operands), .or(let operands): operands.count - 1
        case .conditional: 2
        case .path(let parts): 1 + parts.count
        default: 1
        }
    }

    private mutating func all(_ nodes: [Node]) throws(RulesFailure) -> [RulesValue] {
        var values: [RulesValue] = []
        values.reserveCapacity(nodes.count)
        for node in nodes { values.append(try evaluate(node)) }
        return values
    }

    private func resource(_ node: Node) throws(RulesFailure) -> RulesValue {
        switch request.resource {
        case .value(let value): return value
        case .failure(let cause): throw RulesFailure(cause, node)
        }
    }

    private mutating func map(
        _ entries: [(key: Node, value: Node)]
    ) throws(RulesFailure) -> RulesValue {
        var pairs: [(key: String, value: RulesValue)] = []
        for (key, value) in entries {
            guard case .string(let name) = try evaluate(key) else {
                throw RulesFailure(.unsupported(received: "map key", expected: "string"), key)
            }
            pairs.append((name, try evaluate(value)))
        }
        return .map(RulesMap(pairs))
    }

    private mutating func path(_ parts: [Node.PathPart]) throws(RulesFailure) -> RulesValue {
        var segments: [String] = []
        var isKnown = true
        for part in parts {
            switch part {
            case .text(let text): segments.append(text)
            case .node(let node):
                switch try evaluate(node) {
                case .string(let text): segments += text.split(separator: "/").map(String.init)
                case .integer(let number): segments.append(String(number))
                case .path(let path): segments += path.segments
                case .known: isKnown = false
                case .null: throw RulesFailure(.nullValue, node)
                case let other:
                    let expected = "path segment of type string"
                    throw RulesFailure(
                        .unsupported(received: other.typeName, expected: expected), node)
                }
            }
        }
        return isKnown ? .path(RulesPath(segments)) : .known(Knowledge())
    }

    /// Calls a function of the file. The error of a variable arises where the variable is used.
    private mutating func call(
        _ index: Int, arguments: [Node], at node: Node
    ) throws(RulesFailure) -> RulesValue {
        let function = functions[index]
        let values = try all(arguments)
        let outer = base
        let start = locals.count
        for value in values { locals.append(.success(value)) }
        base = start
        defer {
            locals.removeSubrange(start...)
            base = outer
        }
        for variable in function.variables {
            do throws(RulesFailure) {
                locals.append(.success(try evaluate(variable)))
            } catch {
                locals.append(.failure(error))
            }
        }
        return try evaluate(function.result)
    }

    private mutating func negative(_ inner: Node, _ node: Node) throws(RulesFailure) -> RulesValue {
        let value = try evaluate(inner)
        switch value {
        case .integer(let value):
            return try Operators.whole(Int64(0).subtractingReportingOverflow(value), node)
        case .float(let value): return .float(-value)
        case .known: return .known(Knowledge())
        default:
            throw RulesFailure(
                .unsupported(received: "-\(value.typeName)", expected: "number"), node)
        }
    }
}
