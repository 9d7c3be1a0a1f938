/// A figure over the rows of a group.
public class AggregateFunction: @unchecked Sendable {
    // `@unchecked`: the compiler cannot check a class that allows subclasses. The only property is
    // a constant of a sendable type, and the only subclass is in this module.

    let wireForm: Operand.Form

    /// - Parameters:
    ///   - functionName: The name in the protocol, such as `count_distinct`.
    ///   - args: The arguments.
    public init(functionName: String, args: [any Expression]) {
        wireForm = Operand.call(functionName, Operand.forms(of: args))
    }

    init(_ name: String, _ argument: any Expression) {
        wireForm = Operand.call(name, Operand.forms(of: [argument]))
    }

    /// Names the figure.
    public func `as`(_ name: String) -> AliasedAggregate {
        AliasedAggregate(alias: name, aggregate: self)
    }
}

/// The number of rows of a group.
public final class CountAll: AggregateFunction, @unchecked Sendable {
    // `@unchecked`: for the same reason as ``AggregateFunction``; there are no more properties.

    public init() { super.init(functionName: "count", args: []) }
}

/// A figure with the name of its field.
public struct AliasedAggregate: Sendable {
    let alias: String
    let aggregate: AggregateFunction
}

/// An order of rows, from ``Expression/ascending()`` or ``Expression/descending()``.
public struct Ordering: Sendable {
    public let expression: any Expression
    public let direction: Direction

    init(_ expression: any Expression, _ direction: Direction) {
        self.expression = expression
        self.direction = direction
    }

    var wireForm: Operand.Form {
        let name = direction == .ascending ? "ascending" : "descending"
        return expression.wireForm.map { expression in
            .map([
                PipelineValue.Entry(key: "direction", value: .constant(.string(name))),
                PipelineValue.Entry(key: "expression", value: expression),
            ])
        }
    }
}
