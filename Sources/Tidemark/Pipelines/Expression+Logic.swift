// MARK: Names and orders

extension Expression {
    /// Names the value, for a stage that adds fields.
    public func `as`(_ name: String) -> AliasedExpression {
        AliasedExpression(self, alias: name)
    }

    /// The same value as a condition. A value that is no boolean is not true.
    public func asBoolean() -> any BooleanExpression { Condition(self) }

    /// Orders rows by the value, the least first. Null and absent values come first.
    public func ascending() -> Ordering { Ordering(self, .ascending) }

    /// Orders rows by the value, the greatest first.
    public func descending() -> Ordering { Ordering(self, .descending) }
}

// MARK: Comparisons

extension Expression {
    /// True if both are equal. 1 and 1.0 are equal, NaN and NaN too.
    public func equal(_ other: any Sendable) -> any BooleanExpression {
        Condition("equal", self, other)
    }

    /// True if both differ, also if one of them is absent.
    public func notEqual(_ other: any Sendable) -> any BooleanExpression {
        Condition("not_equal", self, other)
    }

    /// True if the value is less, and of the same type.
    public func lessThan(_ other: any Sendable) -> any BooleanExpression {
        Condition("less_than", self, other)
    }

    /// True if the value is less or equal, and of the same type.
    public func lessThanOrEqual(_ other: any Sendable) -> any BooleanExpression {
        Condition("less_than_or_equal", self, other)
    }

    /// True if the value is greater, and of the same type.
    public func greaterThan(_ other: any Sendable) -> any BooleanExpression {
        Condition("greater_than", self, other)
    }

    /// True if the value is greater or equal, and of the same type.
    public func greaterThanOrEqual(_ other: any Sendable) -> any BooleanExpression {
        Condition("greater_than_or_equal", self, other)
    }

    /// True if the value equals one of the list.
    public func equalAny(_ others: [any Sendable]) -> any BooleanExpression {
        Condition("equal_any", self, Operand.list(others))
    }

    public func equalAny(_ array: any Expression) -> any BooleanExpression {
        Condition("equal_any", self, array)
    }

    /// True if the value equals none of the list, also if it is absent.
    public func notEqualAny(_ others: [any Sendable]) -> any BooleanExpression {
        Condition("not_equal_any", self, Operand.list(others))
    }

    public func notEqualAny(_ array: any Expression) -> any BooleanExpression {
        Condition("not_equal_any", self, array)
    }

    /// Returns the greatest of this and the other values. Skips null and absent values.
    public func logicalMaximum(_ values: [any Sendable]) -> FunctionExpression {
        FunctionExpression("maximum", all: [self] + values)
    }

    /// Returns the least of this and the other values. Skips null and absent values.
    public func logicalMinimum(_ values: [any Sendable]) -> FunctionExpression {
        FunctionExpression("minimum", all: [self] + values)
    }
}

// MARK: Types, null, absent values and errors

extension Expression {
    /// True if the value is not absent. Null is a value.
    public func exists() -> any BooleanExpression { Condition("exists", self) }

    /// True if there is no value.
    public func isAbsent() -> any BooleanExpression { Condition("is_absent", self) }

    /// True if the computation failed.
    public func isError() -> any BooleanExpression { Condition("is_error", self) }

    /// Replaces an error.
    public func ifError(_ alternative: any Sendable) -> FunctionExpression {
        FunctionExpression("if_error", self, alternative)
    }

    /// Replaces an absent value; keeps null.
    public func ifAbsent(_ alternative: any Sendable) -> FunctionExpression {
        FunctionExpression("if_absent", self, alternative)
    }

    /// Replaces null and absent values.
    public func ifNull(_ alternative: any Sendable) -> FunctionExpression {
        FunctionExpression("if_null", self, alternative)
    }

    /// Returns the first of this and the other values that is neither null nor absent.
    public func coalesce(_ values: [any Sendable]) -> FunctionExpression {
        FunctionExpression("coalesce", all: [self] + values)
    }

    /// Returns the name of the type, such as `int64` or `string`.
    public func type() -> FunctionExpression { FunctionExpression("type", self) }

    /// True if the value has the type. The names are those of ``type()``, and `number`.
    public func isType(_ type: String) -> any BooleanExpression { Condition("is_type", self, type) }
}

// MARK: Aggregates

extension Expression {
    /// Counts the rows in which the value is neither null nor absent.
    public func count() -> AggregateFunction { AggregateFunction("count", self) }

    /// Counts the different values, without null and absent ones.
    public func countDistinct() -> AggregateFunction { AggregateFunction("count_distinct", self) }

    /// Sums the numbers. Ignores other values.
    public func sum() -> AggregateFunction { AggregateFunction("sum", self) }

    /// Returns the mean of the numbers; null if there are none.
    public func average() -> AggregateFunction { AggregateFunction("average", self) }

    /// Returns the least value; null if there is none.
    public func minimum() -> AggregateFunction { AggregateFunction("minimum", self) }

    /// Returns the greatest value; null if there is none.
    public func maximum() -> AggregateFunction { AggregateFunction("maximum", self) }

    /// Returns the value of the first row.
    public func first() -> AggregateFunction { AggregateFunction("first", self) }

    /// Returns the value of the last row.
    public func last() -> AggregateFunction { AggregateFunction("last", self) }

    /// Returns all values as an array.
    public func arrayAgg() -> AggregateFunction { AggregateFunction("array_agg", self) }

    /// Returns the different values as an array.
    public func arrayAggDistinct() -> AggregateFunction {
        AggregateFunction("array_agg_distinct", self)
    }
}

// MARK: Documents

extension Expression {
    /// Returns the id of the document that the reference names.
    public func documentId() -> FunctionExpression { FunctionExpression("document_id", self) }

    /// Returns the id of the collection of the document that the reference names.
    public func collectionId() -> FunctionExpression { FunctionExpression("collection_id", self) }

    /// Returns the reference of the document above; null for a document at the root.
    public func parent() -> FunctionExpression { FunctionExpression("parent", self) }
}
