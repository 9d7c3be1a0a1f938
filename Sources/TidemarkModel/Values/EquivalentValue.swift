/// A value whose `==` is ``Value/isEquivalent(to:)``: `3` and `3.0` are the same element of a set.
///
/// With such a set, an array transform takes linear time. Comparing all pairs would let one small
/// request keep a server busy for minutes.
package struct EquivalentValue: Hashable, Sendable {
    package let value: Value

    package init(value: Value) { self.value = value }

    package static func == (left: EquivalentValue, right: EquivalentValue) -> Bool {
        left.value.isEquivalent(to: right.value)
    }

    package func hash(into hasher: inout Hasher) { Self.hash(value, into: &hasher) }

    private static func hash(_ value: Value, into hasher: inout Hasher) {
        switch value {
        case .integer(let number): hasher.combine(number)
        case .double(let number): hash(number, into: &hasher)
        case .geoPoint(let point):
            hash(point.latitude, into: &hasher)
            hash(point.longitude, into: &hasher)
        case .array(let values):
            hasher.combine(values.count)
            for element in values { hash(element, into: &hasher) }
        case .vector(let vector):
            hasher.combine(vector.array.count)
            for component in vector.array { hash(component, into: &hasher) }
        case .map(let fields):
            hasher.combine(fields.count)
            for entry in fields {
                entry.key.hashBytes(into: &hasher)
                hash(entry.value, into: &hasher)
            }
        case .pendingServerTimestamp(let time, _): hasher.combine(time)
        case .null, .boolean, .timestamp, .string, .bytes, .reference: hasher.combine(value)
        }
    }

    /// An integral double hashes as its integer, which also maps `-0.0` to `0`.
    private static func hash(_ number: Double, into hasher: inout Hasher) {
        if number >= -0x1p63, number < 0x1p63, Double(Int64(number)) == number {
            hasher.combine(Int64(number))
        } else {
            Value.hash(storedDouble: number, into: &hasher)
        }
    }
}
