// MARK: Arithmetic

extension Expression {
    /// Adds two numbers, or a number and a field.
    public func add(_ other: any Sendable) -> FunctionExpression {
        FunctionExpression("add", self, other)
    }

    /// Subtracts a number.
    public func subtract(_ other: any Sendable) -> FunctionExpression {
        FunctionExpression("subtract", self, other)
    }

    /// Multiplies two numbers.
    public func multiply(_ other: any Sendable) -> FunctionExpression {
        FunctionExpression("multiply", self, other)
    }

    /// Divides. Two integers give an integer, rounded toward zero.
    public func divide(_ other: any Sendable) -> FunctionExpression {
        FunctionExpression("divide", self, other)
    }

    /// Returns the remainder of a division, with the sign of the dividend.
    public func mod(_ other: any Sendable) -> FunctionExpression {
        FunctionExpression("mod", self, other)
    }

    /// Raises to a power.
    public func pow(_ exponent: any Sendable) -> FunctionExpression {
        FunctionExpression("pow", self, exponent)
    }

    /// Returns the absolute value.
    public func abs() -> FunctionExpression { FunctionExpression("abs", self) }

    /// Rounds up.
    public func ceil() -> FunctionExpression { FunctionExpression("ceil", self) }

    /// Rounds down.
    public func floor() -> FunctionExpression { FunctionExpression("floor", self) }

    /// Rounds to the nearest integer, halves away from zero.
    public func round() -> FunctionExpression { FunctionExpression("round", self) }

    /// Rounds toward zero.
    public func trunc() -> FunctionExpression { FunctionExpression("trunc", self) }

    /// Rounds toward zero, to a number of decimal places.
    public func truncToPrecision(_ decimalPlace: any Sendable) -> FunctionExpression {
        FunctionExpression("trunc", self, decimalPlace)
    }

    /// Returns the square root.
    public func sqrt() -> FunctionExpression { FunctionExpression("sqrt", self) }

    /// Returns e raised to the number.
    public func exp() -> FunctionExpression { FunctionExpression("exp", self) }

    /// Returns the natural logarithm.
    public func ln() -> FunctionExpression { FunctionExpression("ln", self) }
}

// MARK: Vectors

extension Expression {
    /// Returns the number of dimensions.
    public func vectorLength() -> FunctionExpression { FunctionExpression("vector_length", self) }

    /// Returns the cosine distance to a vector.
    public func cosineDistance(_ expression: any Expression) -> FunctionExpression {
        FunctionExpression("cosine_distance", self, expression)
    }

    public func cosineDistance(_ vector: VectorValue) -> FunctionExpression {
        FunctionExpression("cosine_distance", self, vector)
    }

    public func cosineDistance(_ vector: [Double]) -> FunctionExpression {
        FunctionExpression("cosine_distance", self, VectorValue(vector))
    }

    /// Returns the dot product with a vector.
    public func dotProduct(_ expression: any Expression) -> FunctionExpression {
        FunctionExpression("dot_product", self, expression)
    }

    public func dotProduct(_ vector: VectorValue) -> FunctionExpression {
        FunctionExpression("dot_product", self, vector)
    }

    public func dotProduct(_ vector: [Double]) -> FunctionExpression {
        FunctionExpression("dot_product", self, VectorValue(vector))
    }

    /// Returns the Euclidean distance to a vector.
    public func euclideanDistance(_ expression: any Expression) -> FunctionExpression {
        FunctionExpression("euclidean_distance", self, expression)
    }

    public func euclideanDistance(_ vector: VectorValue) -> FunctionExpression {
        FunctionExpression("euclidean_distance", self, vector)
    }

    public func euclideanDistance(_ vector: [Double]) -> FunctionExpression {
        FunctionExpression("euclidean_distance", self, VectorValue(vector))
    }
}

// MARK: Times

extension Expression {
    /// Converts microseconds since 1970 to a timestamp.
    public func unixMicrosToTimestamp() -> FunctionExpression {
        FunctionExpression("unix_micros_to_timestamp", self)
    }

    /// Converts milliseconds since 1970 to a timestamp.
    public func unixMillisToTimestamp() -> FunctionExpression {
        FunctionExpression("unix_millis_to_timestamp", self)
    }

    /// Converts seconds since 1970 to a timestamp.
    public func unixSecondsToTimestamp() -> FunctionExpression {
        FunctionExpression("unix_seconds_to_timestamp", self)
    }

    /// Converts a timestamp to microseconds since 1970.
    public func timestampToUnixMicros() -> FunctionExpression {
        FunctionExpression("timestamp_to_unix_micros", self)
    }

    /// Converts a timestamp to milliseconds since 1970.
    public func timestampToUnixMillis() -> FunctionExpression {
        FunctionExpression("timestamp_to_unix_millis", self)
    }

    /// Converts a timestamp to seconds since 1970.
    public func timestampToUnixSeconds() -> FunctionExpression {
        FunctionExpression("timestamp_to_unix_seconds", self)
    }

    /// Returns the beginning of the day, hour and so on, in UTC.
    public func timestampTruncate(granularity: TimeGranularity) -> FunctionExpression {
        FunctionExpression("timestamp_trunc", self, granularity.rawValue)
    }

    public func timestampTruncate(granularity: any Sendable) -> FunctionExpression {
        FunctionExpression("timestamp_trunc", self, granularity)
    }

    /// Returns the beginning of the day, hour and so on, in a time zone such as `Europe/Berlin`.
    public func timestampTruncate(
        granularity: TimeGranularity, timezone: any Sendable
    ) -> FunctionExpression {
        FunctionExpression("timestamp_trunc", self, granularity.rawValue, timezone)
    }

    public func timestampTruncate(
        granularity: any Sendable, timezone: any Sendable
    ) -> FunctionExpression {
        FunctionExpression("timestamp_trunc", self, granularity, timezone)
    }

    /// Returns the time since an earlier timestamp, in whole units.
    public func timestampDiff(
        _ start: any Expression, _ unit: TimeUnit
    ) -> FunctionExpression {
        FunctionExpression("timestamp_diff", self, start, unit.rawValue)
    }

    public func timestampDiff(
        _ start: any Expression, _ unit: any Sendable
    ) -> FunctionExpression {
        FunctionExpression("timestamp_diff", self, start, unit)
    }

    /// Returns a part of the date or the time, in UTC.
    public func timestampExtract(part: TimePart) -> FunctionExpression {
        FunctionExpression("timestamp_extract", self, part.rawValue)
    }

    public func timestampExtract(part: any Sendable) -> FunctionExpression {
        FunctionExpression("timestamp_extract", self, part)
    }

    /// Returns a part of the date or the time, in a time zone such as `Europe/Berlin`.
    public func timestampExtract(
        part: TimePart, timezone: any Sendable
    ) -> FunctionExpression {
        FunctionExpression("timestamp_extract", self, part.rawValue, timezone)
    }

    public func timestampExtract(
        part: any Sendable, timezone: any Sendable
    ) -> FunctionExpression {
        FunctionExpression("timestamp_extract", self, part, timezone)
    }

    /// Returns a later timestamp.
    public func timestampAdd(_ amount: Int, _ unit: TimeUnit) -> FunctionExpression {
        FunctionExpression("timestamp_add", self, unit.rawValue, amount)
    }

    public func timestampAdd(
        amount: any Expression, unit: any Sendable
    ) -> FunctionExpression {
        FunctionExpression("timestamp_add", self, unit, amount)
    }

    /// Returns an earlier timestamp.
    public func timestampSubtract(_ amount: Int, _ unit: TimeUnit) -> FunctionExpression {
        FunctionExpression("timestamp_subtract", self, unit.rawValue, amount)
    }

    public func timestampSubtract(
        amount: any Expression, unit: any Sendable
    ) -> FunctionExpression {
        FunctionExpression("timestamp_subtract", self, unit, amount)
    }
}
