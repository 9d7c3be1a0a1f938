import TidemarkModel

/// Methods of lists, sets, maps and paths.
enum CollectionMethods {
    private static func useBoth(
        _ call: MethodCall, values: [RulesValue], others: [RulesValue],
        ledger: inout EvaluationLedger
    ) throws(RulesFailure) {
        try ledger.use(values.count + others.count, at: call.node)
    }

    static func answer(
        _ call: MethodCall, list values: [RulesValue], _ ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> RulesValue {
        switch call.method {
        case .size:
            try call.expectNone()
            return .integer(Int64(values.count))
        case .toSet:
            try call.expectNone()
            try ledger.use(RulesValue.list(values).extent, at: call.node)
            return .set(RulesValue.unique(values))
        case .join: return .string(try joined(call, values: values, ledger: &ledger))
        case .concat:
            guard case .list(let others)? = call.arguments.first, call.arguments.count == 1 else {
                throw call.wrong(expected: "list")
            }
            return try Operators.joined(values, others, at: call.node, ledger: &ledger)
        case .removeAll:
            let others = try call.elements()
            try useBoth(call, values: values, others: others, ledger: &ledger)
            let removed = Set(others.map(RulesElement.init))
            return .list(values.filter { !removed.contains(RulesElement($0)) })
        case .hasAll, .hasAny, .hasOnly:
            return .boolean(try has(call, values: values, ledger: &ledger))
        default: throw call.notFound
        }
    }

    private static func has(
        _ call: MethodCall, values: [RulesValue], ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> Bool {
        let others = try call.elements()
        try useBoth(call, values: values, others: others, ledger: &ledger)
        switch call.method {
        case .hasAll: return RulesValue.containsAll(values, of: others)
        case .hasAny: return RulesValue.containsAny(values, of: others)
        default: return RulesValue.containsAll(others, of: values)
        }
    }

    private static func joined(
        _ call: MethodCall, values: [RulesValue], ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> String {
        let separator = try call.string()
        var texts: [String] = []
        var size = 0
        for value in values {
            let text = try BuiltinFunctions.text(of: value, call.node, call.nameStart)
            size += text.utf8.count + separator.utf8.count
            if size > EvaluationLedger.mostElements { throw RulesFailure(.tooComplex, call.node) }
            texts.append(text)
        }
        try ledger.use(size + values.count, at: call.node)
        return texts.joined(separator: separator)
    }

    static func answer(
        _ call: MethodCall, set values: [RulesValue], _ ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> RulesValue {
        switch call.method {
        case .size:
            try call.expectNone()
            return .integer(Int64(values.count))
        case .hasAll, .hasAny, .hasOnly:
            return .boolean(try has(call, values: values, ledger: &ledger))
        case .union:
            let others = try call.elements(orList: false)
            try useBoth(call, values: values, others: others, ledger: &ledger)
            return .set(RulesValue.unique(values + others))
        case .intersection, .difference:
            let others = try call.elements(orList: false)
            try useBoth(call, values: values, others: others, ledger: &ledger)
            let elements = Set(others.map(RulesElement.init))
            let keeps = call.method == .intersection
            return .set(values.filter { elements.contains(RulesElement($0)) == keeps })
        default: throw call.notFound
        }
    }

    static func answer(
        _ call: MethodCall, map: RulesMap, ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> RulesValue {
        switch call.method {
        case .size:
            try call.expectNone()
            return .integer(Int64(map.count))
        case .keys:
            try call.expectNone()
            return .list(map.keys)
        case .values:
            try call.expectNone()
            try ledger.use(RulesValue.map(map).extent, at: call.node)
            return .list(map.entries.map(\.value))
        case .get: return try found(call, map)
        case .diff:
            guard case .map(let other)? = call.arguments.first, call.arguments.count == 1 else {
                throw call.wrong(expected: "map")
            }
            try ledger.use(RulesValue.map(map).extent + RulesValue.map(other).extent, at: call.node)
            return .difference(MapDifference(from: other, to: map))
        default: throw call.notFound
        }
    }

    /// Returns the member at a key or at a path of keys; the default if there is none.
    private static func found(_ call: MethodCall, _ map: RulesMap) throws(RulesFailure)
        -> RulesValue
    {
        guard call.arguments.count == 2 else { throw call.wrong(expected: "string,any") }
        switch call.arguments[0] {
        case .string(let key): return map[key] ?? call.arguments[1]
        case .list(let keys):
            var value = RulesValue.map(map)
            for key in keys {
                guard case .string(let key) = key else {
                    throw call.wrong(expected: "list of strings,any")
                }
                guard case .map(let inner) = value, let next = inner[key] else {
                    return call.arguments[1]
                }
                value = next
            }
            return value
        default: throw call.wrong(expected: "string,any")
        }
    }

    static func answer(
        _ call: MethodCall, _ difference: MapDifference
    ) throws(RulesFailure) -> RulesValue {
        let keys: [RulesValue]
        switch call.method {
        case .addedKeys: keys = difference.added
        case .removedKeys: keys = difference.removed
        case .changedKeys: keys = difference.changed
        case .unchangedKeys: keys = difference.unchanged
        case .affectedKeys: keys = difference.added + difference.removed + difference.changed
        default: throw call.notFound
        }
        try call.expectNone()
        return .set(keys)
    }

    static func answer(_ call: MethodCall, _ path: RulesPath) throws(RulesFailure) -> RulesValue {
        guard call.method == .bind else { throw call.notFound }
        guard case .map(let bindings)? = call.arguments.first, call.arguments.count == 1 else {
            throw call.wrong(expected: "map")
        }
        var used: Set<String> = []
        var segments: [String] = []
        for segment in path.segments {
            guard segment.hasPrefix("{"), segment.hasSuffix("}") else {
                segments.append(segment)
                continue
            }
            let name = String(segment.dropFirst().dropLast())
            guard let value = bindings[name] else {
                throw RulesFailure(cause: .undefinedProperty(name), offset: call.nameStart)
            }
            used.insert(name)
            segments.append(try BuiltinFunctions.text(of: value, call.node, call.nameStart))
        }
        if bindings.entries.contains(where: { !used.contains($0.key) }) {
            throw call.wrong(expected: "map of the path's own names")
        }
        return .path(RulesPath(segments))
    }
}
