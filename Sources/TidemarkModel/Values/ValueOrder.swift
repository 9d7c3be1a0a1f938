extension Value {
    /// Compares two values in Firestore's total order over all kinds.
    ///
    /// Kinds are ordered null, boolean, NaN, number, timestamp, pending server timestamp, string,
    /// bytes, reference, geo point, array, vector, map. Integers and doubles compare by their exact
    /// numeric value, also beyond 2^53; `-0.0` equals `0`.
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

    /// Returns true if a query treats the values as equal: `3` equals `3.0`, at any depth.
    public func isEquivalent(to other: Value) -> Bool {
        Value.compare(self, other) == .equal
    }

    /// The position of this kind in the order of kinds. Integers and doubles share a position.
    /// Range filters compare only values of the same position.
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

    /// NaN is less than every number.
    private static func compare(_ a: Double, _ b: Double) -> Comparison {
        switch (a.isNaN, b.isNaN) {
        case (true, true): .equal
        case (true, false): .ascending
        case (false, true): .descending
        case (false, false): Comparison(a, b)
        }
    }

    /// Compares exact values without rounding, because a double beyond 2^53 is an integer.
    private static func compare(integer: Int64, double: Double) -> Comparison {
        if double.isNaN { return .descending }
        if double >= 0x1p63 { return .ascending }
        if double < -0x1p63 { return .descending }
        let whole = Int64(double)
        if integer != whole { return Comparison(integer, whole) }
        // The difference is exact: a double with a fraction is below 2^53.
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

// MARK: Leading bits

// The leading bytes decide most comparisons of a sort. Stored as one word beside each row, they
// make most visits of the values unnecessary.

extension Value {
    /// A word that agrees with ``compare(_:_:)``: if the words of two values differ, the smaller
    /// word belongs to the smaller value; if the words are equal, compare the values.
    package var leadingBits: UInt64 { UInt64(typeRank) << 60 | payloadBits >> 4 }

    private var payloadBits: UInt64 {
        switch self {
        case .boolean(let value): value ? 1 << 4 : 0
        // Rounding to a double can make two integers equal, but cannot reverse their order.
        case .integer(let value): Self.bits(of: Double(value))
        case .double(let value): Self.bits(of: value)
        case .timestamp(let time), .pendingServerTimestamp(let time, _):
            // 39 bits for seconds since the year 1, and the upper 21 of 30 bits of nanoseconds.
            UInt64(bitPattern: time.seconds &- Timestamp.min.seconds) << 25
                | (UInt64(time.nanoseconds) & ~0x1FF) >> 5
        case .string(let text): text.withBytes { UInt64(leading: $0) }
        case .bytes(let bytes): bytes.withUnsafeBufferPointer { UInt64(leading: $0) }
        case .null, .reference, .geoPoint, .array, .vector, .map: 0
        }
    }

    /// Returns bits in the order of doubles, NaN first. Both zeros have the same bits.
    private static func bits(of value: Double) -> UInt64 {
        if value.isNaN { return 0 }
        let bits = (value == 0 ? 0 : value).bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }
}

extension DocumentPath {
    /// Like ``Value/leadingBits``, for the id. Valid only among documents of one collection.
    package var leadingIDBits: UInt64 {
        text.withBytes { bytes in
            let slash = bytes.lastIndex(of: UInt8(ascii: "/"))
            let id = bytes[(slash.map { $0 + 1 } ?? 0)...]
            // Numeric ids come first, ordered by their number.
            if PathRules.numericID(id) != nil { return 0 }
            return UInt64(leading: UnsafeBufferPointer(rebasing: id))
        }
    }
}

extension UInt64 {
    /// The first eight bytes, with the first byte highest; missing bytes are zero.
    fileprivate init(leading bytes: UnsafeBufferPointer<UInt8>) {
        var word: UInt64 = 0
        for index in 0..<Swift.min(bytes.count, 8) {
            word |= UInt64(bytes[index]) << (56 - 8 * index)
        }
        self = word
    }
}
