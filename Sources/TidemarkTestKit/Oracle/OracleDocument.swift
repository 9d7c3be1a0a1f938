package import TidemarkModel

/// A document with pending writes on top, as a client must show it. The effects of mutations and
/// transforms are written from Firestore's documentation ("Add data", "Update a document"), for
/// tests to compare with.
package struct OracleDocument {
    /// The fields; nil if the document does not exist.
    package private(set) var fields: MapValue?
    /// True if a pending write affects the document.
    package private(set) var isWritten = false
    /// The version on the server; nil if the document does not exist there, or if the version is
    /// not known.
    private let version: Timestamp?

    package init(fields: MapValue?, version: Timestamp?) {
        self.fields = fields
        self.version = fields == nil ? nil : version
    }

    /// - Parameter time: The time of the write on the device's clock.
    package mutating func apply(_ mutation: Mutation, at time: Timestamp) {
        switch mutation.precondition {
        case .none: break
        case .exists(let isThere): if (fields != nil) != isThere { return }
        case .updateTime(let wanted): if fields == nil || version != wanted { return }
        }
        switch mutation.operation {
        case .verify: return
        case .delete: fields = nil
        case .set(let all): fields = transformed(all, transforms: mutation.transforms, time: time)
        case .patch(let some, let mask):
            var new = fields ?? MapValue()
            for field in mask {
                new = Self.with(Self.value(field.segments[...], some), at: field.segments[...], new)
            }
            fields = transformed(new, transforms: mutation.transforms, time: time)
        }
        isWritten = true
    }

    private func transformed(
        _ fields: MapValue, transforms: [FieldTransform], time: Timestamp
    ) -> MapValue {
        var fields = fields
        for transform in transforms {
            let path = transform.field.segments[...]
            let old = Self.value(path, fields)
            fields = Self.with(
                Self.value(transform.operation, old: old, time: time), at: path, fields)
        }
        return fields
    }

    private static func value(
        _ operation: FieldTransform.Operation, old: Value?, time: Timestamp
    ) -> Value {
        switch operation {
        case .serverTimestamp:
            var previous = old
            if case .pendingServerTimestamp(_, let real)? = old { previous = real }
            return .pendingServerTimestamp(localWriteTime: time, previous: previous)
        case .increment(let step): return sum(old, step)
        case .arrayUnion(let values):
            return .array(
                values.reduce(elements(old)) { all, value in
                    all.contains { OracleOrder.compare($0, value) == 0 } ? all : all + [value]
                })
        case .arrayRemove(let values):
            return .array(
                elements(old).filter { element in
                    !values.contains { OracleOrder.compare($0, element) == 0 }
                })
        case .maximum, .minimum: preconditionFailure("no world writes these")
        }
    }

    /// Adds numbers. A value that is not a number counts as missing.
    private static func sum(_ old: Value?, _ step: Value) -> Value {
        switch (old, step) {
        case (.integer(let a)?, .integer(let b)):
            let sum = Int128(a) + Int128(b)
            return .integer(Int64(clamping: sum))
        case (.integer(let a)?, .double(let b)): return .double(Double(a) + b)
        case (.double(let a)?, .integer(let b)): return .double(a + Double(b))
        case (.double(let a)?, .double(let b)): return .double(a + b)
        default: return step
        }
    }

    private static func elements(_ value: Value?) -> [Value] {
        if case .array(let elements)? = value { elements } else { [] }
    }

    // MARK: Fields of fields

    private static func value(_ path: ArraySlice<String>, _ fields: MapValue) -> Value? {
        guard let name = path.first else { return nil }
        let found = entry(name, fields)
        if path.count == 1 { return found }
        guard case .map(let inner)? = found else { return nil }
        return value(path.dropFirst(), inner)
    }

    /// Sets or removes a value at a path. Setting creates maps along the path and replaces values
    /// that are not maps. Removing creates no maps.
    private static func with(
        _ value: Value?, at path: ArraySlice<String>, _ fields: MapValue
    ) -> MapValue {
        guard let name = path.first else { return fields }
        var new = value
        if path.count > 1 {
            var inner = MapValue()
            if case .map(let map)? = entry(name, fields) {
                inner = map
            } else if value == nil {
                return fields
            }
            new = .map(with(value, at: path.dropFirst(), inner))
        }
        let key = Array(name.utf8)
        let others = fields.filter { Array($0.key.utf8) != key }.map { ($0.key, $0.value) }
        return MapValue(others + (new.map { [(name, $0)] } ?? []))
    }

    private static func entry(_ name: String, _ fields: MapValue) -> Value? {
        let key = Array(name.utf8)
        return fields.first { Array($0.key.utf8) == key }?.value
    }
}
