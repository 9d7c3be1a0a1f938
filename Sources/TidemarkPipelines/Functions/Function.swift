import TidemarkModel

/// A function of the expressions' language.
struct Function: Sendable {
    typealias Body = @Sendable ([CompiledExpression], Scope) -> Outcome

    let name: String
    /// The accepted numbers of arguments.
    let arity: ClosedRange<Int>
    let body: Body

    static let many = 10_000

    /// Returns a function that evaluates its arguments itself, as far as it needs them.
    static func lazily(
        _ name: String, takes arity: ClosedRange<Int>, _ body: @escaping Body
    ) -> Function {
        Function(name: name, arity: arity, body: body)
    }

    /// Returns a function of outcomes: it tells absent, null and errors apart itself.
    static func ofOutcomes(
        _ name: String, takes arity: ClosedRange<Int>,
        _ body: @escaping @Sendable ([Outcome]) -> Outcome
    ) -> Function {
        Function(name: name, arity: arity) { arguments, scope in
            body(arguments.map { $0.evaluate(scope) })
        }
    }

    /// Returns a function of values. An argument that is an error makes an error; otherwise, one
    /// that is null or absent makes null.
    static func ofValues(
        _ name: String, takes arity: ClosedRange<Int>,
        _ body: @escaping @Sendable ([Value], Scope) throws(Fault) -> Outcome
    ) -> Function {
        Function(name: name, arity: arity) { arguments, scope in
            var values: [Value] = []
            values.reserveCapacity(arguments.count)
            var hasNull = false
            for argument in arguments {
                switch argument.evaluate(scope) {
                case .error(let message): return .error(message)
                case .absent, .value(.null): hasNull = true
                case .value(let value): values.append(value)
                }
            }
            if hasNull { return .null }
            do throws(Fault) { return try body(values, scope) } catch {
                return .error(error.message)
            }
        }
    }

    /// Returns a function of one value, under the rules of ``ofValues(_:_:_:)``.
    static func ofOne(
        _ name: String, _ body: @escaping @Sendable (Value) throws(Fault) -> Outcome
    ) -> Function {
        Function(name: name, arity: 1...1) { arguments, scope in
            let outcome = arguments[0].evaluate(scope)
            if outcome.isNothing { return .null }
            guard case .value(let value) = outcome else { return outcome }
            do throws(Fault) { return try body(value) } catch { return .error(error.message) }
        }
    }

    /// The functions by name.
    static let named: [String: Function] = Dictionary(
        uniqueKeysWithValues: [
            Comparisons.functions, Logic.functions, Nothings.functions, Nothings.types,
            Arithmetic.functions, Arithmetic.powers, Roundings.functions, Strings.functions,
            StringParts.functions, Searches.functions, Patterns.functions, Arrays.functions,
            ArrayElements.functions, Extremes.functions, Maps.functions, References.functions,
            Times.functions, TimeParts.functions, Vectors.functions,
        ].flatMap { $0 }.map { ($0.name, $0) })
}

/// Reads of arguments of one type.
extension Value {
    func string(in function: String) throws(Fault) -> String {
        guard case .string(let text) = self else {
            throw .type(function, wanted: "a string", found: self)
        }
        return text
    }

    func integer(in function: String) throws(Fault) -> Int64 {
        guard case .integer(let number) = self else {
            throw .type(function, wanted: "an integer", found: self)
        }
        return number
    }

    func array(in function: String) throws(Fault) -> [Value] {
        guard case .array(let values) = self else {
            throw .type(function, wanted: "an array", found: self)
        }
        return values
    }

    func timestamp(in function: String) throws(Fault) -> Timestamp {
        switch self {
        case .timestamp(let time), .pendingServerTimestamp(let time, _): return time
        default: throw .type(function, wanted: "a timestamp", found: self)
        }
    }

    func vector(in function: String) throws(Fault) -> [Double] {
        guard case .vector(let vector) = self else {
            throw .type(function, wanted: "a vector", found: self)
        }
        return vector.array
    }

    func reference(in function: String) throws(Fault) -> ReferenceValue {
        guard case .reference(let reference) = self else {
            throw .type(function, wanted: "a reference", found: self)
        }
        return reference
    }

    /// Returns a count for a size or a position, which must not be negative.
    func count(of thing: String, in function: String) throws(Fault) -> Int {
        let number = try integer(in: function)
        if number < 0 { throw Fault("\(function): \(thing) must be non-negative") }
        return Int(clamping: number)
    }
}
