import TidemarkModel

/// A boolean of three values, or an error.
private enum Truth {
    case yes, no, unknown
    case error(String)

    init(_ outcome: Outcome, in function: String) {
        switch outcome {
        case .absent, .value(.null): self = .unknown
        case .value(.boolean(let value)): self = value ? .yes : .no
        case .value(let value):
            self = .error(Fault.type(function, wanted: "a boolean", found: value).message)
        case .error(let message): self = .error(message)
        }
    }
}

/// Functions of booleans with three values.
enum Logic {
    static let functions: [Function] = [
        // Both read from left to right, and stop at the first error or deciding value.
        .lazily("and", takes: 1...Function.many) {
            conjunction("and", decidingOn: false, arguments: $0, scope: $1)
        },
        .lazily("or", takes: 1...Function.many) {
            conjunction("or", decidingOn: true, arguments: $0, scope: $1)
        },
        .lazily("nor", takes: 1...Function.many) { arguments, scope in
            inverted(
                "nor", conjunction("nor", decidingOn: true, arguments: arguments, scope: scope))
        },
        .lazily("xor", takes: 1...Function.many, exclusive),
        .lazily("not", takes: 1...1) { inverted("not", $0[0].evaluate($1)) },
        .lazily("conditional", takes: 3...3) { arguments, scope in
            switch Truth(arguments[0].evaluate(scope), in: "conditional") {
            case .error(let message): .error(message)
            case .yes: arguments[1].evaluate(scope)
            case .no, .unknown: arguments[2].evaluate(scope)
            }
        },
        .lazily("switch_on", takes: 2...Function.many, switchOn),
    ]

    private static func conjunction(
        _ name: String, decidingOn deciding: Bool, arguments: [CompiledExpression],
        scope: Scope
    ) -> Outcome {
        var hasUnknown = false
        for argument in arguments {
            switch Truth(argument.evaluate(scope), in: name) {
            case .error(let message): return .error(message)
            case .unknown:
                #if TIDEMARK_DEFECTS
                    if PipelineDefect.planted == .nullDecides { return .null }
                #endif
                hasUnknown = true
            case .yes: if deciding { return .boolean(true) }
            case .no: if !deciding { return .boolean(false) }
            }
        }
        return hasUnknown ? .null : .boolean(!deciding)
    }

    private static func inverted(_ name: String, _ outcome: Outcome) -> Outcome {
        switch Truth(outcome, in: name) {
        case .yes: .boolean(false)
        case .no: .boolean(true)
        case .unknown: .null
        case .error(let message): .error(message)
        }
    }

    private static func exclusive(_ arguments: [CompiledExpression], _ scope: Scope) -> Outcome {
        var (result, hasUnknown) = (false, false)
        for argument in arguments {
            switch Truth(argument.evaluate(scope), in: "xor") {
            case .error(let message): return .error(message)
            case .unknown: hasUnknown = true
            case .yes: result.toggle()
            case .no: continue
            }
        }
        return hasUnknown ? .null : .boolean(result)
    }

    private static func switchOn(_ arguments: [CompiledExpression], _ scope: Scope) -> Outcome {
        for index in stride(from: 0, to: arguments.count - 1, by: 2) {
            switch Truth(arguments[index].evaluate(scope), in: "switch_on") {
            case .error(let message): return .error(message)
            case .yes: return arguments[index + 1].evaluate(scope)
            case .no, .unknown: continue
            }
        }
        if !arguments.count.isMultiple(of: 2), let last = arguments.last {
            return last.evaluate(scope)
        }
        return .error("all switch cases evaluate to false, and no default provided")
    }
}
