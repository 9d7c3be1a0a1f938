import TidemarkModel

/// The properties of a value that are certain for all results of a query.
///
/// Properties that are not stated may hold or not. A value that is not certain to exist may be
/// missing.
public struct Knowledge: Sendable {
    /// A group of types whose values can be compared with each other.
    enum Kind: Hashable, Sendable {
        case boolean, number, string, bytes, timestamp, latlng, path, list, map
    }

    /// A bound of the possible values.
    struct Bound: Sendable {
        let value: RulesValue
        let isIncluded: Bool
    }

    /// True if the value is the map of a document's fields.
    var isDocument = false
    /// The field of the documents; nil for computed values and values from elsewhere.
    var field: FieldPath?
    var kind: Kind?
    /// True if every result has the field.
    var isThere = false
    var isNotNull = false
    var lower: Bound?
    var upper: Bound?
    var excluded: [RulesValue] = []
    /// Known elements of a list.
    var elements: [RulesValue] = []
    /// Members of a map that certainly exist, or about which something is known.
    var members: [(key: String, value: RulesValue)] = []
}

extension Knowledge: CustomStringConvertible {
    public var description: String {
        let name = field.map { "resource.data.\($0)" } ?? "a value"
        return "unknown (\(name) differs between results)"
    }
}

extension Knowledge {
    func member(_ name: String) -> RulesValue? {
        members.first { $0.key.hasSameBytes(as: name) }?.value
    }

    /// Returns the knowledge of a member; empty knowledge if there is none.
    func memberOrUnknown(_ name: String) -> RulesValue {
        if let member = member(name) { return member }
        var unknown = Knowledge()
        unknown.field = isDocument ? FieldPath(name: name) : field?.appending(name)
        #if TIDEMARK_DEFECTS
            if RulesDefect.planted == .missingFieldsThere { unknown.isThere = true }
        #endif
        return .known(unknown)
    }

    /// Returns true if the map certainly has a member with that name.
    func hasMember(_ name: String) -> Bool {
        switch member(name) {
        case .known(let knowledge)?: return knowledge.isThere
        case nil:
            #if TIDEMARK_DEFECTS
                if RulesDefect.planted == .missingFieldsThere { return true }
            #endif
            return false
        default: return true
        }
    }

    /// Returns true if every possible value equals `value`, false if none does, and nil if neither
    /// is certain.
    func equals(_ value: RulesValue) -> Bool? {
        guard isThere else { return nil }
        if case .null = value { return isNotNull ? false : nil }
        if let kind, kind != value.kind { return false }
        if excluded.contains(where: { $0.equals(value) }) { return false }
        guard kind == value.kind, kind != nil else { return nil }
        if isOutside(value) { return false }
        if let lower, let upper, lower.isIncluded, upper.isIncluded,
            lower.value.equals(upper.value),
            lower.value.equals(value)
        {
            return true
        }
        return nil
    }

    private func isOutside(_ value: RulesValue) -> Bool {
        if value.isNaN { return lower != nil || upper != nil }
        if let lower, let order = RulesValue.order(value, lower.value),
            order == .ascending || (order == .equal && !lower.isIncluded)
        {
            return true
        }
        if let upper, let order = RulesValue.order(value, upper.value),
            order == .descending || (order == .equal && !upper.isIncluded)
        {
            return true
        }
        return false
    }

    /// Returns true if `value < other` for every possible value, false if for none, and nil if
    /// neither is certain.
    ///
    /// - Parameter orEqual: True to test `<=` instead.
    func isBelow(_ other: RulesValue, orEqual: Bool) -> Bool? {
        guard isThere, let kind, kind == other.kind, !other.isNaN else { return nil }
        if let upper, let order = RulesValue.order(upper.value, other) {
            if order == .ascending { return true }
            if order == .equal, orEqual || !upper.isIncluded { return true }
        }
        if let lower, let order = RulesValue.order(lower.value, other) {
            if order == .descending { return false }
            if order == .equal, !orEqual || !lower.isIncluded { return false }
        }
        return nil
    }

    func contains(_ element: RulesValue) -> Bool {
        elements.contains { $0.equals(element) }
    }
}

extension RulesValue {
    /// The group of types with which the value can be compared; nil for null and for types that
    /// documents cannot hold.
    var kind: Knowledge.Kind? {
        switch self {
        case .boolean: .boolean
        case .integer, .float: .number
        case .string: .string
        case .bytes: .bytes
        case .timestamp: .timestamp
        case .latlng: .latlng
        case .path: .path
        case .list: .list
        case .map: .map
        case .null, .set, .duration, .difference, .known: nil
        }
    }

    var isKnowledge: Bool {
        if case .known = self { true } else { false }
    }

    var isMap: Bool {
        if case .map = self { true } else { false }
    }

    /// True if the value or one of its elements differs between results.
    var holdsKnowledge: Bool {
        switch self {
        case .known: true
        case .list(let values), .set(let values): values.contains(where: \.holdsKnowledge)
        case .map(let map): map.entriesMade.contains { $0.value.holdsKnowledge }
        default: false
        }
    }

    /// Returns true if the value has the type after `is`; nil if that is not known.
    func isOf(_ type: Node.TypeName) -> Bool? {
        if case .known(let knowledge) = self { return knowledge.isOf(type) }
        return switch type {
        case .bool: if case .boolean = self { true } else { false }
        case .bytes: if case .bytes = self { true } else { false }
        case .float: if case .float = self { true } else { false }
        case .int: if case .integer = self { true } else { false }
        case .list: if case .list = self { true } else { false }
        case .latlng: if case .latlng = self { true } else { false }
        case .map: if case .map = self { true } else { false }
        case .number: number != nil
        case .path: if case .path = self { true } else { false }
        case .string: if case .string = self { true } else { false }
        case .timestamp: if case .timestamp = self { true } else { false }
        case .duration: if case .duration = self { true } else { false }
        case .mapDiff: if case .difference = self { true } else { false }
        case .constraint, .set: false
        }
    }
}

extension Knowledge {
    fileprivate func isOf(_ type: Node.TypeName) -> Bool? {
        guard isThere, let kind else { return nil }
        let wanted: Kind? =
            switch type {
            case .bool: .boolean
            case .number: .number
            case .string: .string
            case .bytes: .bytes
            case .timestamp: .timestamp
            case .latlng: .latlng
            case .path: .path
            case .list: .list
            case .map: .map
            case .int, .float: kind == .number ? nil : kind
            case .constraint, .set, .duration, .mapDiff: nil
            }
        switch type {
        case .int, .float: return kind == .number ? nil : false
        default: return wanted == kind
        }
    }
}
