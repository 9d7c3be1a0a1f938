import TidemarkModel

/// A number of either kind.
enum Number {
    case integer(Int64)
    case double(Double)

    init(_ value: Value, in function: String) throws(Fault) {
        switch value {
        case .integer(let number): self = .integer(number)
        case .double(let number): self = .double(number)
        default: throw .type(function, wanted: "a number", found: value)
        }
    }

    var asDouble: Double {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        }
    }

    var value: Value {
        switch self {
        case .integer(let number): .integer(number)
        case .double(let number): .double(number)
        }
    }
}

/// Functions of numbers.
enum Arithmetic {
    static let functions: [Function] = [
        folding("add", whole: { $0.addingReportingOverflow($1) }, real: { $0 + $1 }),
        folding("multiply", whole: { $0.multipliedReportingOverflow(by: $1) }, real: { $0 * $1 }),
        .ofValues("subtract", takes: 2...2) { values, _ throws(Fault) in
            try combined(
                "subtract", left: values[0], right: values[1],
                whole: { $0.subtractingReportingOverflow($1) },
                real: { $0 - $1 })
        },
        .ofValues("divide", takes: 2...2) { values, _ throws(Fault) in
            if case .integer(_) = values[0], case .integer(0) = values[1] {
                throw Fault("divide: division by zero.")
            }
            return try combined(
                "divide", left: values[0], right: values[1],
                whole: { $0.dividedReportingOverflow(by: $1) },
                real: { $0 / $1 })
        },
        .ofValues("mod", takes: 2...2) { values, _ throws(Fault) in
            if case .integer(_) = values[0], case .integer(0) = values[1] {
                throw Fault("mod: division by zero.")
            }
            return try combined(
                "mod", left: values[0], right: values[1],
                whole: { ($1 == -1 ? 0 : $0 % $1, false) },
                real: { $0.truncatingRemainder(dividingBy: $1) })
        },
    ]

    private typealias Whole = @Sendable (Int64, Int64) -> (partialValue: Int64, overflow: Bool)
    private typealias Real = @Sendable (Double, Double) -> Double

    /// Two integers make an integer, and an error if it overflows; a double makes a double.
    private static func combined(
        _ name: String, left: Value, right: Value, whole: Whole, real: Real
    ) throws(Fault) -> Outcome {
        switch (try Number(left, in: name), try Number(right, in: name)) {
        case (.integer(let a), .integer(let b)):
            let (result, overflow) = whole(a, b)
            if overflow { throw Fault("\(name): integer overflow.") }
            return .value(.integer(result))
        case (let a, let b): return .value(.double(real(a.asDouble, b.asDouble)))
        }
    }

    private static func folding(
        _ name: String, whole: @escaping Whole, real: @escaping Real
    ) -> Function {
        .ofValues(name, takes: 2...Function.many) { values, _ throws(Fault) in
            var total = values[0]
            for value in values.dropFirst() {
                guard
                    case .value(let next) = try combined(
                        name, left: total, right: value, whole: whole, real: real)
                else {
                    continue
                }
                total = next
            }
            return .value(total)
        }
    }

    static let powers: [Function] = [
        .ofValues("pow", takes: 2...2) { values, _ throws(Fault) in
            let base = try Number(values[0], in: "pow").asDouble
            let exponent = try Number(values[1], in: "pow").asDouble
            if base == 1 || exponent == 0 { return .value(.double(1)) }
            if base == 0, exponent < 0 { throw Fault("pow: zero to a negative power.") }
            if base < 0, base.isFinite, exponent.isFinite, exponent != exponent.rounded() {
                throw Fault("pow: a negative base with a fraction as its exponent.")
            }
            return .value(.double(RealMath.power(base, exponent)))
        },
        ofReal("sqrt") { number throws(Fault) in
            if number < 0 { throw Fault("sqrt: the number is negative.") }
            return number.squareRoot()
        },
        ofReal("exp") { number throws(Fault) in
            let result = RealMath.exponential(number)
            if result.isInfinite, number.isFinite { throw Fault("exp: overflow.") }
            return result
        },
        ofReal("ln") { number throws(Fault) in try logarithm("ln", number) },
        ofReal("log10") { number throws(Fault) in
            _ = try logarithm("log10", number)
            return RealMath.decimalLogarithm(number)
        },
        .ofValues("log", takes: 1...2) { values, _ throws(Fault) in
            let number = try Number(values[0], in: "log").asDouble
            if values.count == 1 { return .value(.double(try logarithm("log", number))) }
            let base = try Number(values[1], in: "log").asDouble
            if base == .infinity { return .value(.double(.nan)) }
            if base <= 0 || base == 1 { throw Fault("log: the base must be positive and not 1.") }
            let result = try logarithm("log", number) / RealMath.logarithm(base)
            return .value(.double(result))
        },
        .lazily("rand", takes: 0...0) { _, scope in .value(.double(scope.run.nextFraction())) },
    ]

    private static func ofReal(
        _ name: String, _ body: @escaping @Sendable (Double) throws(Fault) -> Double
    ) -> Function {
        .ofOne(name) { value throws(Fault) in
            .value(.double(try body(try Number(value, in: name).asDouble)))
        }
    }

    private static func logarithm(_ name: String, _ number: Double) throws(Fault) -> Double {
        // Google's page says that the logarithm of negative infinity is NaN.
        if number == -.infinity { return .nan }
        if number <= 0 { throw Fault("\(name): the number must be positive.") }
        return RealMath.logarithm(number)
    }
}
