import TidemarkModel
import TidemarkPatterns

/// Resolves the names of a file, and finds errors beyond the grammar.
struct Checker {
    private let source: SourceText
    private let service: RulesService
    private(set) var issues: [RulesIssue] = []
    private(set) var blocks: [Ruleset.Block] = []
    private(set) var functions: [Ruleset.Function] = []
    /// The functions with the names that are visible in each.
    private var declarations: [(syntax: FunctionSyntax, scope: Scope)] = []
    private var called: Set<Int> = []
    private var version = 1

    /// The names visible at a place of the file. Inner names hide outer ones.
    private final class Scope {
        let around: Scope?
        /// The numbers of the functions, by name.
        var functions: [ByteString: Int] = [:]
        /// The captures of the whole path, from left to right.
        let captures: [String]

        init(in around: Scope?, captures: [String]) {
            self.around = around
            self.captures = captures
        }

        func function(named name: String) -> Int? {
            functions[ByteString(name)] ?? around?.function(named: name)
        }
    }

    init(_ source: SourceText, service: RulesService) {
        self.source = source
        self.service = service
    }

    mutating func report(
        _ message: String, at offset: Int, _ severity: RulesIssue.Severity = .error
    ) {
        issues.append(RulesIssue(severity, at: source.position(at: offset), message))
    }

    mutating func check(_ file: FileSyntax) {
        version = file.version
        let global = Scope(in: nil, captures: [])
        declare(file.functions, in: global)
        var found: [(MatchSyntax, [PatternSegment], Scope)] = []
        let name = self.service.rawValue
        for service in file.services where service.name == name {
            let scope = Scope(in: global, captures: [])
            declare(service.functions, in: scope)
            for match in service.matches { collect(match, below: [], in: scope, &found) }
        }
        if file.services.count > 0, !file.services.contains(where: { $0.name == name }) {
            report("There is no service \(name), so nothing is allowed.", at: 0, .warning)
        }
        functions = declarations.map { resolved($0.syntax, in: $0.scope) }
        blocks = found.map { match, pattern, scope in block(match, pattern: pattern, scope: scope) }
        checkCalls()
        reportUnused()
    }

    private mutating func declare(_ syntaxes: [FunctionSyntax], in scope: Scope) {
        for syntax in syntaxes {
            let key = ByteString(syntax.name)
            if scope.functions[key] != nil {
                report("Duplicate function name: \(syntax.name).", at: syntax.start)
            }
            if Builtin(rawValue: syntax.name) != nil {
                report("The function name \(syntax.name) is reserved.", at: syntax.start)
            }
            scope.functions[key] = declarations.count
            declarations.append((syntax, scope))
        }
    }

    private mutating func collect(
        _ match: MatchSyntax, below outer: [PatternSegment], in around: Scope,
        _ found: inout [(MatchSyntax, [PatternSegment], Scope)]
    ) {
        let pattern = outer + match.pattern
        let captures = pattern.compactMap(\.captured)
        check(pattern, at: match.start)
        let scope = Scope(in: around, captures: captures)
        declare(match.functions, in: scope)
        found.append((match, pattern, scope))
        for inner in match.matches { collect(inner, below: pattern, in: scope, &found) }
    }

    private mutating func check(_ pattern: [PatternSegment], at start: Int) {
        if pattern.count > RulesLimits.pathSegments {
            report("A path can have at most \(RulesLimits.pathSegments) segments.", at: start)
        }
        let captures = pattern.compactMap(\.captured)
        if captures.count > RulesLimits.captures {
            report("A path can have at most \(RulesLimits.captures) wildcards.", at: start)
        }
        let many = pattern.indices.filter { if case .many = pattern[$0] { true } else { false } }
        if version == 1, let first = many.first, first != pattern.count - 1 {
            report(
                "In rules version 1, a recursive wildcard must be the last segment.", at: start)
        }
        if many.count > 1 {
            report("A path can have at most one recursive wildcard.", at: start)
        }
    }

    private mutating func block(
        _ match: MatchSyntax, pattern: [PatternSegment], scope: Scope
    ) -> Ruleset.Block {
        let allows = match.allows.map { allow in
            Ruleset.Allow(
                methods: allow.methods,
                condition: allow.condition.map { resolve($0, in: scope, locals: []) },
                conditionStart: allow.conditionStart, start: allow.start, end: allow.end)
        }
        return Ruleset.Block(
            pattern: PathPattern(segments: pattern, fewest: version == 1 ? 1 : 0), allows: allows,
            start: match.start)
    }

    private mutating func resolved(_ syntax: FunctionSyntax, in scope: Scope) -> Ruleset.Function {
        if syntax.variables.count > RulesLimits.variables {
            report(RulesText.tooManyVariables, at: syntax.variables[RulesLimits.variables].start)
        }
        if syntax.parameters.count > RulesLimits.arguments {
            report(
                "A function can have at most \(RulesLimits.arguments) parameters.",
                at: syntax.start)
        }
        var locals = syntax.parameters
        var variables: [Node] = []
        for variable in syntax.variables {
            variables.append(resolve(variable.value, in: scope, locals: locals))
            locals.append(variable.name)
        }
        return Ruleset.Function(
            name: syntax.name, parameters: syntax.parameters.count, variables: variables,
            result: resolve(syntax.result, in: scope, locals: locals), start: syntax.start)
    }
}

// MARK: Expressions

extension Checker {
    private mutating func resolve(_ expression: Expression, in scope: Scope, locals: [String])
        -> Node
    {
        func node(_ operation: Node.Operation) -> Node {
            Node(operation, start: expression.start, end: expression.end)
        }
        func all(_ expressions: [Expression]) -> [Node] {
            expressions.map { resolve($0, in: scope, locals: locals) }
        }
        func one(_ expression: Expression) -> Node {
            resolve(expression, in: scope, locals: locals)
        }
        switch expression.kind {
        case .literal(let value): return node(.constant(value))
        case .name(let name): return node(lookUp(name, at: expression.start, in: scope, locals))
        case .list(let elements): return node(.list(all(elements)))
        case .map(let entries):
            return node(.map(entries.map { (key: one(Self.key($0.key)), value: one($0.value)) }))
        case .path(let parts):
            return node(
                .path(
                    parts.map { part in
                        switch part {
                        case .text(let text): .text(text)
                        case .expression(let inner): .node(one(inner))
                        }
                    }))
        case .not(let inner): return node(.not(one(inner)))
        case .negative(let inner): return node(.negative(one(inner)))
        case .and(let operands): return node(.and(all(operands)))
        case .or(let operands): return node(.or(all(operands)))
        case .binary(let symbol, let left, let right, let symbolStart):
            return node(.binary(symbol, one(left), one(right), symbolStart: symbolStart))
        case .conditional(let condition, let first, let second):
            return node(.conditional(one(condition), one(first), one(second)))
        case .isType(let value, let type):
            return node(isType(value, type: type, node: one(value), at: expression.start))
        case .member(let value, let name): return node(.member(one(value), name))
        case .index(let value, let index): return node(.index(one(value), one(index)))
        case .slice(let value, let first, let second):
            return node(.slice(one(value), one(first), one(second)))
        case .call(let name, let arguments):
            return node(call(name, all(arguments), at: expression.start, in: scope))
        case .method(let receiver, let name, let arguments, let nameStart):
            if let read = documentRead(receiver, name, in: scope, locals: locals) {
                return node(.builtin(read, all(arguments), nameStart: nameStart))
            }
            if case .name(let space) = receiver.kind, Builtin.namespaces.contains(space),
                !locals.contains(space), !scope.captures.contains(space)
            {
                return node(
                    builtin("\(space).\(name)", arguments: all(arguments), nameStart: nameStart))
            }
            return node(
                method(one(receiver), name: name, arguments: all(arguments), nameStart: nameStart))
        }
    }

    /// Converts the key in `{name: value}`, which means `{'name': value}`.
    private static func key(_ expression: Expression) -> Expression {
        guard case .name(let name) = expression.kind else { return expression }
        return Expression(
            kind: .literal(.string(name)), start: expression.start, end: expression.end, depth: 1)
    }

    private mutating func lookUp(
        _ name: String, at start: Int, in scope: Scope, _ locals: [String]
    ) -> Node.Operation {
        if let index = locals.lastIndex(where: { $0.hasSameBytes(as: name) }) {
            return .local(index)
        }
        if let index = scope.captures.lastIndex(where: { $0.hasSameBytes(as: name) }) {
            return .capture(index)
        }
        switch name {
        case "request": return .request
        case "resource": return .resource
        default:
            report("Invalid variable name: \(name).", at: start, .warning)
            return .unknownName(name)
        }
    }

    private mutating func isType(
        _ value: Expression, type: String, node: Node, at start: Int
    ) -> Node.Operation {
        if case .literal(.null) = value.kind {
            report("An unsupported operand was used with the 'is' operator: null.", at: start)
        }
        guard let name = Node.TypeName(rawValue: type) else {
            report(
                "An unsupported type identifier was used with the 'is' operator. Type: \(type).",
                at: start)
            return .constant(.boolean(false))
        }
        return .isType(node, name)
    }

    private mutating func call(
        _ name: String, _ arguments: [Node], at start: Int, in scope: Scope
    ) -> Node.Operation {
        guard let index = scope.function(named: name) else {
            return builtin(name, arguments: arguments, nameStart: start)
        }
        called.insert(index)
        let wanted = declarations[index].syntax.parameters.count
        if wanted != arguments.count {
            report(
                """
                The function \(name) takes \(wanted) arguments but is called with \
                \(arguments.count).
                """,
                at: start)
        }
        return .function(index, arguments)
    }

    /// Returns the function of `firestore.get()` and `firestore.exists()` in rules of storage; nil
    /// for another call.
    private func documentRead(
        _ receiver: Expression, _ name: String, in scope: Scope, locals: [String]
    ) -> Builtin? {
        guard service == .storage, case .name("firestore") = receiver.kind,
            !locals.contains("firestore"), !scope.captures.contains("firestore")
        else { return nil }
        switch name {
        case "get": return .get
        case "exists": return .exists
        default: return nil
        }
    }

    private mutating func builtin(
        _ name: String, arguments: [Node], nameStart: Int
    ) -> Node.Operation {
        // Rules of storage read documents with `firestore.get()` alone.
        if let builtin = Builtin(rawValue: name), service == .firestore || !builtin.isRead {
            return .builtin(builtin, arguments, nameStart: nameStart)
        }
        report("Invalid function name: \(name).", at: nameStart, .warning)
        return .unknownFunction(name, arguments)
    }

    private mutating func method(
        _ receiver: Node, name: String, arguments: [Node], nameStart: Int
    ) -> Node.Operation {
        guard let method = Method(rawValue: name) else {
            report("Invalid function name: \(name).", at: nameStart, .warning)
            return .unknownFunction(name, [receiver] + arguments)
        }
        var compiled: Pattern?
        if [.matches, .replace, .split].contains(method), let first = arguments.first,
            case .constant(.string(let pattern)) = first.operation
        {
            compiled = try? Pattern(pattern)
            if compiled == nil { report(RulesText.badPattern(pattern), at: first.start) }
        }
        return .method(receiver, method, arguments, compiled, nameStart: nameStart)
    }
}

// MARK: Calls

extension Checker {
    /// Checks that no function calls itself, directly or through others, and that no chain of calls
    /// is too long.
    private mutating func checkCalls() {
        let callees = functions.map { function in
            Self.callees(of: function.variables + [function.result])
        }
        var depths = [Int?](repeating: nil, count: functions.count)
        var stack: [Int] = []
        func visit(_ index: Int) -> Int {
            if let depth = depths[index] { return depth }
            if stack.contains(index) {
                report(RulesText.recursive, at: functions[index].start)
                return 0
            }
            // The depth is far over the limit: the caller is reported.
            if stack.count > 4 * RulesLimits.callDepth { return 1 }
            stack.append(index)
            let depth = 1 + (callees[index].map(visit).max() ?? 0)
            stack.removeLast()
            depths[index] = depth
            return depth
        }
        for index in functions.indices {
            let depth = visit(index)
            // Reports only the first function over the limit, and not each function above it.
            if depth == RulesLimits.callDepth + 1 {
                report(
                    RulesText.tooDeep(chain(from: index, callees, depths)),
                    at: functions[index].start)
            }
        }
    }

    private func chain(from index: Int, _ callees: [[Int]], _ depths: [Int?]) -> [String] {
        var names = [functions[index].name]
        var current = index
        while let next = callees[current].max(by: { (depths[$0] ?? 0) < (depths[$1] ?? 0) }),
            names.count <= functions.count
        {
            names.append(functions[next].name)
            current = next
        }
        return names
    }

    static func callees(of nodes: [Node]) -> [Int] {
        var found: [Int] = []
        var rest = nodes
        while let node = rest.popLast() {
            if case .function(let index, _) = node.operation, !found.contains(index) {
                found.append(index)
            }
            rest += node.children
        }
        return found
    }

    private mutating func reportUnused() {
        for (index, declaration) in declarations.enumerated() where !called.contains(index) {
            report(
                "Unused function: \(declaration.syntax.name).", at: declaration.syntax.start,
                .warning)
        }
    }
}
