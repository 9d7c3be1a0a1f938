import TidemarkModel

extension Environment {
    /// Resolves a call of a function.
    func call(
        _ name: String, arguments: [Pipeline.Expression], options: [Pipeline.Entry]
    ) throws(PipelineError) -> CompiledExpression {
        if let option = options.first {
            throw .invalid("The function \(name) has no option \"\(option.key)\".")
        }
        if name == "rand" { findings.isDeterministic = false }
        if name == "current_timestamp" { findings.readsClock = true }
        if let kind = Lambda.Kind(rawValue: name) { return try lambda(kind, arguments) }
        if arguments.count == 1, case .pipeline(let pipeline) = arguments[0] {
            switch name {
            case "array": return .subquery(try nested(pipeline), .array)
            case "scalar": return .subquery(try nested(pipeline), .scalar)
            default: break
            }
        }
        let known = Function.named[name]
        let places = known == nil ? TextSearch.functions[name] : nil
        guard let function = known ?? places?.function else {
            throw .invalid("Unknown function: \(name)")
        }
        guard function.arity.contains(arguments.count) else {
            throw .invalid(
                "Function \(name) expects \(Self.text(function.arity)), but got "
                    + "\(arguments.count).")
        }
        if let places, !places.places.contains(search) {
            throw .invalid("The function \(name) is legal only inside the stage search.")
        }
        return .call(function, try compile(arguments))
    }

    private static func text(_ arity: ClosedRange<Int>) -> String {
        switch (arity.lowerBound, arity.upperBound) {
        case (let least, let most) where least == most:
            least == 1 ? "1 argument" : "\(least) arguments"
        case (1, Function.many): "at least 1 argument"
        case (let least, Function.many): "at least \(least) arguments"
        case (let least, let most): "\(least) to \(most) arguments"
        }
    }

    /// Compiles the pipeline of a subquery, which sees the variables around it.
    private func nested(_ pipeline: Pipeline) throws(PipelineError) -> CompiledPipeline {
        var inner = self
        inner.subqueryDepth += 1
        if inner.subqueryDepth > limits.subqueryDepth {
            throw .invalid(
                "Subqueries may be nested at most \(limits.subqueryDepth) levels deep.")
        }
        var compiler = StageCompiler(inner, isSubquery: true)
        return try compiler.compile(pipeline)
    }

    private func lambda(
        _ kind: Lambda.Kind, _ arguments: [Pipeline.Expression]
    ) throws(PipelineError) -> CompiledExpression {
        let name = kind.rawValue
        let counts = kind == .filter ? 3...3 : 3...4
        guard counts.contains(arguments.count) else {
            throw .invalid(
                "Function \(name) expects \(Self.text(counts)), but got \(arguments.count).")
        }
        var inner = self
        let element = try inner.bind(try Self.name(of: arguments[1], in: name))
        let index =
            arguments.count == 4
            ? try inner.bind(try Self.name(of: arguments[2], in: name)) : nil
        return .lambda(
            Lambda(
                kind: kind, array: try compile(arguments[0]), element: element, index: index,
                body: try inner.compile(arguments[arguments.count - 1])))
    }

    private static func name(
        of expression: Pipeline.Expression, in function: String
    ) throws(PipelineError) -> String {
        guard case .constant(.string(let name)) = expression, !name.isEmpty else {
            throw .expected("STRING_VALUE", for: "the alias of \(function)", but: expression)
        }
        return name
    }
}
