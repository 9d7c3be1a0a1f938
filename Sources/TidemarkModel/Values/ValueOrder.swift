extension Value {
    /// Firestore's total order over all values of all kinds.
    ///
    /// Kinds come in the order null, boolean, NaN, number, timestamp, pending server timestamp,
    /// string, bytes, reference, geo point, array, vector, map. Integers and doubles compare by their
    /// exact numeric value, also beyond 2^53; `-0.0` equals `0`.
    public static func compare(_ left: Value, _ right: Value) -> Comparison {
        switch (left, right) {
        case (.null, .null): .equal
        case (.boolean(let a), .boolean(let b)): Comparison(a ? 1 : 0, b ? 1 : 0)
        case (.integer(let a), .integer(let b)): Comparison(a, b)
        case (.integer(let a), .double(let b)): compare(integer: a, double: b)
        case (.double(let a), .integer(let b)): compare(integer: b, double: a).reversed
        case (.double(let a), .double(let b)): compare(a, b)
        case (.timestamp(let a), .timestamp(let b)): Comparison(a, b)
        case (.pendingServerTimestamp(let a, _), .pendingServerTimestamp(let b, _)):
            Comparison(a, b)
        case (.string(let a), .string(let b)): .bytes(a, b)
        case (.bytes(let a), .bytes(let b)): .bytes(a, b)
        case (.reference(let a), .reference(let b)): compare(a, b)
        case (.geoPoint(let a), .geoPoint(let b)): compare(a, b)
        case (.array(let a), .array(let b)): compare(a, b)
        case (.vector(let a), .vector(let b)): compare(a, b)
        case (.map(let a), .map(let b)): compare(a, b)
        default: Comparison(left.typeRank, right.typeRank)
        }
    }

    /// Equal as a query means it: `3` equals `3.0`, at any depth.
    public func isEquivalent(to other: Value) -> Bool {
        Value.compare(self, other) == .equal
    }

    /// The place of this kind in the order of kinds. Integers and doubles share one, and range
    /// filters compare only within one.
    public var typeRank: UInt8 {
        switch self {
        case .null: 0
        case .boolean: 1
        case .integer, .double: 2
        case .timestamp: 3
        case .pendingServerTimestamp: 4
        case .string: 5
        case .bytes: 6
        case .reference: 7
        case .geoPoint: 8
        case .array: 9
        case .vector: 10
        case .map: 11
        }
    }

    /// NaN is below every number.
    private static func compare(_ a: Double, _ b: Double) -> Comparison {
        switch (a.isNaN, b.isNaN) {
        case (true, true): .equal
        case (true, false): .ascending
        case (false, true): .descending
        case (false, false): Comparison(a, b)
        }
    }

    /// By exact value: a double beyond 2^53 is an integer itself, so no rounding takes part.
    private static func compare(integer: Int64, double: Double) -> Comparison {
        if double.isNaN { return .descending }
        if double >= 0x1p63 { return .ascending }
        if double < -0x1p63 { return .descending }
        let whole = Int64(double)
        if integer != whole { return Comparison(integer, whole) }
        // Exact: a double with a fraction is below 2^53.
        return Comparison(0, double - Double(whole))
    }

    private static func compare(_ a: ReferenceValue, _ b: ReferenceValue) -> Comparison {
        let databases = Comparison.bytes(a.database.name, b.database.name)
        return databases == .equal ? DocumentPath.compare(a.path, b.path) : databases
    }

    private static func compare(_ a: GeoPoint, _ b: GeoPoint) -> Comparison {
        let latitudes = Comparison(a.latitude, b.latitude)
        return latitudes == .equal ? Comparison(a.longitude, b.longitude) : latitudes
    }

    private static func compare(_ a: [Value], _ b: [Value]) -> Comparison {
        for (x, y) in zip(a, b) {
            let order = compare(x, y)
            if order != .equal { return order }
        }
        return Comparison(a.count, b.count)
    }

    private static func compare(_ a: VectorValue, _ b: VectorValue) -> Comparison {
        if a.array.count != b.array.count { return Comparison(a.array.count, b.array.count) }
        for (x, y) in zip(a.array, b.array) {
            let order = compare(x, y)
            if order != .equal { return order }
        }
        return .equal
    }

    private static func compare(_ a: MapValue, _ b: MapValue) -> Comparison {
        for (x, y) in zip(a.entries, b.entries) {
            let keys = Comparison.bytes(x.key, y.key)
            if keys != .equal { return keys }
            let values = compare(x.value, y.value)
            if values != .equal { return values }
        }
        return Comparison(a.count, b.count)
    }
}
