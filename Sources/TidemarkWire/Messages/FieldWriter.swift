import TidemarkModel

extension WireWriter: FieldCoder {
    mutating func field<T: WireField>(_ number: UInt64, _ value: inout T) {
        if !value.isDefault { write(value, as: number) }
    }

    mutating func field<T: WireField>(_ number: UInt64, _ value: inout T?, of oneOf: OneOf?) {
        if let value { write(value, as: number) }
    }

    /// Writes numbers packed into one field.
    mutating func field<T: WireField>(_ number: UInt64, _ values: inout [T]) {
        if values.isEmpty { return }
        guard T.wireType == 0 else {
            for value in values { write(value, as: number) }
            return
        }
        message(number) { writer in
            for value in values { value.write(to: &writer) }
        }
    }

    /// Writes the entries in the order of their keys: equal messages have equal bytes.
    mutating func field<T: WireField>(_ number: UInt64, _ map: inout [String: T]) {
        if map.isEmpty { return }
        for (key, value) in map.sorted(by: { $0.key.precedesInBytes($1.key) }) {
            message(number) { writer in
                writer.write(key, as: 1)
                writer.write(value, as: 2)
            }
        }
    }

    mutating func unknown(_ found: inout Bool) {}

    private mutating func write<T: WireField>(_ value: T, as number: UInt64) {
        tag(number, T.wireType)
        value.write(to: &self)
    }
}
