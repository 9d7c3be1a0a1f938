/// The call of a function by its name, with which every function of a server can be used.
public class FunctionExpression: Expression, @unchecked Sendable {
    // `@unchecked`: the compiler cannot check a class that allows subclasses. The only property is
    // a constant of a sendable type, and all subclasses are in this module.

    public let wireForm: Result<PipelineValue.Expression, FirestoreError>

    /// - Parameters:
    ///   - functionName: The name in the protocol, such as `array_length`.
    ///   - args: The arguments.
    ///   - options: Named options; most functions have none.
    public init(
        functionName: String, args: [any Expression], options: [String: any Sendable]? = nil
    ) {
        wireForm = Result { () throws(FirestoreError) in
            PipelineValue.Expression.function(
                name: functionName, arguments: try Operand.forms(of: args).get(),
                options: try Operand.entries(options ?? [:]).get())
        }
    }

    init(form: Operand.Form) { wireForm = form }

    /// - Parameter operands: Expressions and constants.
    init(_ name: String, _ operands: any Sendable...) {
        wireForm = Operand.call(name, Operand.forms(of: operands))
    }

    init(_ name: String, all operands: [any Sendable]) {
        wireForm = Operand.call(name, Operand.forms(of: operands))
    }
}

/// An array of expressions and constants.
public final class ArrayExpression: FunctionExpression, @unchecked Sendable {
    // `@unchecked`: for the same reason as ``FunctionExpression``; there are no more properties.

    public init(_ elements: [any Sendable]) { super.init(form: Operand.form(of: elements)) }
}

/// A map of expressions and constants.
public final class MapExpression: FunctionExpression, @unchecked Sendable {
    // `@unchecked`: for the same reason as ``FunctionExpression``; there are no more properties.

    public init(_ elements: [String: any Sendable]) {
        super.init(form: Operand.form(of: elements))
    }
}

/// An expression that selects one of two values by a condition. A condition that is not true
/// selects the second.
public final class ConditionalExpression: FunctionExpression, @unchecked Sendable {
    // `@unchecked`: for the same reason as ``FunctionExpression``; there are no more properties.

    public init(
        _ expression: any BooleanExpression, then thenExpression: any Expression,
        else elseExpression: any Expression
    ) {
        super.init(
            form: Operand.call(
                "conditional", Operand.forms(of: [expression, thenExpression, elseExpression])))
    }
}

/// The time of the request, the same for all rows.
public final class CurrentTimestamp: FunctionExpression, @unchecked Sendable {
    // `@unchecked`: for the same reason as ``FunctionExpression``; there are no more properties.

    public init() { super.init(form: .success(.call("current_timestamp", []))) }
}

/// A failure with a sentence. It fails the request when it reaches a row's output.
public final class ErrorExpression: FunctionExpression, @unchecked Sendable {
    // `@unchecked`: for the same reason as ``FunctionExpression``; there are no more properties.

    public init(_ errorMessage: String) {
        super.init(form: .success(.call("error", [.constant(.string(errorMessage))])))
    }
}

/// A random number from 0 to less than 1, another one for each row.
public final class RandomExpression: FunctionExpression, @unchecked Sendable {
    // `@unchecked`: for the same reason as ``FunctionExpression``; there are no more properties.

    public init() { super.init(form: .success(.call("rand", []))) }
}

/// Returns a random number from 0 to less than 1, another one for each row.
public func rand() -> RandomExpression { RandomExpression() }

/// Returns the result behind the first condition that is true, or the last value alone.
///
/// - Parameters:
///   - condition: The first condition.
///   - result: Its result.
///   - rest: More conditions, each with its result, and at the end an optional default.
public func switchOn(
    _ condition: any BooleanExpression, _ result: any Expression, _ rest: any Expression...
) -> FunctionExpression {
    let all: [any Expression] = [condition, result] + rest
    return FunctionExpression("switch_on", all: all)
}

// MARK: Conditions

/// True if both conditions are true.
public func && (
    left: any BooleanExpression, right: @autoclosure () throws -> any BooleanExpression
) rethrows -> any BooleanExpression {
    try Condition("and", all: [left, right()])
}

/// True if at least one condition is true.
public func || (
    left: any BooleanExpression, right: @autoclosure () throws -> any BooleanExpression
) rethrows -> any BooleanExpression {
    try Condition("or", all: [left, right()])
}

/// True if exactly one condition is true.
public func ^ (
    left: any BooleanExpression, right: @autoclosure () throws -> any BooleanExpression
) rethrows -> any BooleanExpression {
    try Condition("xor", all: [left, right()])
}

/// True if the condition is false.
public prefix func ! (condition: any BooleanExpression) -> any BooleanExpression {
    Condition("not", all: [condition])
}

/// True if no condition is true.
public func nor(
    _ condition: any BooleanExpression, _ conditions: any BooleanExpression...
) -> any BooleanExpression {
    nor([condition] + conditions)
}

/// True if no condition is true.
public func nor(_ conditions: [any BooleanExpression]) -> any BooleanExpression {
    Condition("nor", all: conditions)
}

extension BooleanExpression {
    /// Counts the rows of a group for which the condition is true.
    public func countIf() -> AggregateFunction {
        AggregateFunction(functionName: "count_if", args: [self])
    }
}
