import TidemarkModel

/// A value in the emulator's format: an object whose only key names the type.
package struct ExpressionValue: Encodable, Sendable {
    private let value: RulesValue

    package init(_ value: RulesValue) { self.value = value }

    private enum Key: String, CodingKey {
        case nullValue, boolValue, intValue, floatValue, stringValue, bytesValue, durationValue
        case timestampValue, latlngValue, mapValue, listValue, setValue, pathValue, constraintValue
        case mapDiffValue
        case values, fields, segments, simple, latitude, longitude, keyStatuses, simpleConstraints
        case comparator, value
    }

    /// A name that a document gave. An encoder that makes dictionaries keeps one of two that differ
    /// only in how an accent is composed.
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch value {
        case .null: try container.encodeNil(forKey: .nullValue)
        case .boolean(let value): try container.encode(value, forKey: .boolValue)
        case .integer(let value): try container.encode(value, forKey: .intValue)
        case .float(let value) where value.isFinite:
            try container.encode(value, forKey: .floatValue)
        case .float(let value):
            try container.encode(RulesValue.shown(value), forKey: .floatValue)
        case .string(let value): try container.encode(value, forKey: .stringValue)
        case .bytes(let value):
            try container.encode(RulesBytes.base64(value), forKey: .bytesValue)
        case .timestamp(let value): try container.encode(value.rfc3339, forKey: .timestampValue)
        case .duration(let value):
            try container.encode(value.secondsText, forKey: .durationValue)
        default: try encodeParts(in: &container)
        }
    }

    private func encodeParts(in container: inout KeyedEncodingContainer<Key>) throws {
        func nested(_ key: Key) -> KeyedEncodingContainer<Key> {
            container.nestedContainer(keyedBy: Key.self, forKey: key)
        }
        switch value {
        case .list(let values):
            var list = nested(.listValue)
            try list.encode(values.map(ExpressionValue.init), forKey: .values)
        case .set(let values):
            var set = nested(.setValue)
            try set.encode(values.map(ExpressionValue.init), forKey: .values)
        case .map(let map):
            var fields = nested(.mapValue)
            var members = fields.nestedContainer(keyedBy: Name.self, forKey: .fields)
            for entry in map.entries {
                try members.encode(ExpressionValue(entry.value), forKey: Name(entry.key))
            }
        case .latlng(let point):
            var place = nested(.latlngValue)
            try place.encode(point.latitude, forKey: .latitude)
            try place.encode(point.longitude, forKey: .longitude)
        case .path(let path):
            var segments = nested(.pathValue)
            try segments.encode(
                path.segments.map { [Key.simple.rawValue: $0] }, forKey: .segments)
        case .difference(let statuses):
            var difference = nested(.mapDiffValue)
            var keys = difference.nestedContainer(keyedBy: Name.self, forKey: .keyStatuses)
            for (key, status) in statuses.statuses {
                try keys.encode(status, forKey: Name(key))
            }
        case .known(let knowledge):
            var constraint = nested(.constraintValue)
            try constraint.encode(knowledge.constraints, forKey: .simpleConstraints)
        default: break
        }
    }

    /// A comparison that holds for a value in every result of a query.
    struct Constraint: Encodable {
        let comparator: String
        let value: ExpressionValue
    }
}

extension RulesDuration {
    /// The text in seconds, for example `-1.500000000s`.
    fileprivate var secondsText: String {
        let fraction = nanoseconds.magnitude
        let sign = seconds < 0 || nanoseconds < 0 ? "-" : ""
        if fraction == 0 { return "\(sign)\(seconds.magnitude)s" }
        let digits = String(fraction)
        let zeros = String(repeating: "0", count: 9 - digits.utf8.count)
        return "\(sign)\(seconds.magnitude).\(zeros)\(digits)s"
    }
}

extension MapDifference {
    fileprivate var statuses: [(key: String, status: String)] {
        var statuses: [(key: String, status: String)] = []
        let groups = [
            ("REMOVED", removed), ("ADDED", added), ("CHANGED", changed), ("UNCHANGED", unchanged),
        ]
        for (status, keys) in groups {
            for case .string(let key) in keys { statuses.append((key, status)) }
        }
        return statuses
    }
}

extension Knowledge {
    fileprivate var constraints: [ExpressionValue.Constraint] {
        func constraint(_ comparator: String, _ value: RulesValue) -> ExpressionValue.Constraint {
            ExpressionValue.Constraint(comparator: comparator, value: ExpressionValue(value))
        }
        var all: [ExpressionValue.Constraint] = []
        if let lower { all.append(constraint(lower.isIncluded ? "GTE" : "GT", lower.value)) }
        if let upper { all.append(constraint(upper.isIncluded ? "LTE" : "LT", upper.value)) }
        all += excluded.map { constraint("NEQ", $0) }
        return all + elements.map { constraint("LIST_CONTAINS", $0) }
    }
}
