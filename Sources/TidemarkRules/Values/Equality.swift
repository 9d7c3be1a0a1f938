import TidemarkModel

extension RulesValue {
    /// The language's `==`: false for different types, except that `1 == 1.0`. Inside lists and
    /// maps, `1` and `1.0` differ, as in production.
    ///
    /// - Parameter inside: True if the values are elements or members of compared lists or maps.
    func equals(_ other: RulesValue, inside: Bool = false) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.boolean(let a), .boolean(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.float(let a), .float(let b)): a == b
        case (.integer(let a), .float(let b)), (.float(let b), .integer(let a)):
            !inside && Value.integer(a).isEquivalent(to: .double(b))
        case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
        case (.bytes(let a), .bytes(let b)): a == b
        case (.list(let a), .list(let b)):
            a.count == b.count && zip(a, b).allSatisfy { $0.equals($1, inside: true) }
        case (.map(let a), .map(let b)): Self.sameMaps(a, b)
        case (.set(let a), .set(let b)):
            a.count == b.count && Self.containsAll(a, of: b)
        case (.timestamp(let a), .timestamp(let b)): a == b
        case (.duration(let a), .duration(let b)): a == b
        case (.latlng(let a), .latlng(let b)):
            a.latitude == b.latitude && a.longitude == b.longitude
        case (.path(let a), .path(let b)): a == b
        default: false
        }
    }

    private static func sameMaps(_ left: RulesMap, _ right: RulesMap) -> Bool {
        if left.count != right.count { return false }
        return zip(left.entries, right.entries).allSatisfy { a, b in
            a.key.hasSameBytes(as: b.key) && a.value.equals(b.value, inside: true)
        }
    }

    /// Returns true if `list` contains every element of `wanted`. Takes time proportional to both.
    static func containsAll(_ list: [RulesValue], of wanted: [RulesValue]) -> Bool {
        if list.count * wanted.count <= 64 {
            return wanted.allSatisfy { element in list.contains { $0.equals(element) } }
        }
        let elements = Set(list.map(RulesElement.init))
        return wanted.allSatisfy { elements.contains(RulesElement($0)) }
    }

    static func containsAny(_ list: [RulesValue], of wanted: [RulesValue]) -> Bool {
        let elements = Set(list.map(RulesElement.init))
        return wanted.contains { elements.contains(RulesElement($0)) }
    }

    /// Returns the elements in order, without duplicates.
    static func unique(_ list: [RulesValue]) -> [RulesValue] {
        var seen: Set<RulesElement> = []
        return list.filter { seen.insert(RulesElement($0)).inserted }
    }
}

/// A value as an element of a set, compared and hashed like the language's `==`.
struct RulesElement: Hashable {
    let value: RulesValue

    init(_ value: RulesValue) { self.value = value }

    static func == (left: Self, right: Self) -> Bool { left.value.equals(right.value) }

    func hash(into hasher: inout Hasher) { Self.hash(value, into: &hasher) }

    private static func hash(_ value: RulesValue, into hasher: inout Hasher) {
        switch value {
        case .null, .known, .difference: break
        case .boolean(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(Double(value))
        case .float(let value): hasher.combine(value)
        case .string(let value): value.hashBytes(into: &hasher)
        case .bytes(let value): hasher.combine(value)
        case .list(let values):
            hasher.combine(values.count)
            for value in values { hash(value, into: &hasher) }
        // A set's elements have no order, so only their number is hashed.
        case .set(let values): hasher.combine(values.count)
        case .map(let map):
            for (key, value) in map.entries {
                key.hashBytes(into: &hasher)
                hash(value, into: &hasher)
            }
        case .timestamp(let value): hasher.combine(value)
        case .duration(let value): hasher.combine(value)
        case .latlng(let value):
            hasher.combine(value.latitude)
            hasher.combine(value.longitude)
        case .path(let value): hasher.combine(value)
        }
    }
}

extension RulesValue {
    /// Returns the order of two values; nil if their types have no common order. NaN has no order.
    static func order(_ left: RulesValue, _ right: RulesValue) -> Comparison? {
        switch (left, right) {
        case (.integer(let a), .integer(let b)): return Comparison(a, b)
        case (.integer, .float), (.float, .integer), (.float, .float):
            return Value.compare(left.stored, right.stored)
        case (.string(let a), .string(let b)): return .bytes(a, b)
        case (.bytes(let a), .bytes(let b)): return .bytes(a, b)
        case (.timestamp(let a), .timestamp(let b)): return Comparison(a, b)
        case (.duration(let a), .duration(let b)): return Comparison(a, b)
        default: return nil
        }
    }

    /// The number as a document stores it.
    private var stored: Value {
        switch self {
        case .integer(let value): .integer(value)
        case .float(let value): .double(value)
        default: .null
        }
    }

    var isNaN: Bool {
        if case .float(let value) = self { value.isNaN } else { false }
    }
}
