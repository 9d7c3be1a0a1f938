import TidemarkModel

/// Members, elements and slices of values.
enum ValueAccess {
    /// Evaluates `value.name`.
    static func member(
        _ name: String, of value: RulesValue, at node: Node, ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> RulesValue {
        switch value {
        case .map(let map):
            guard let member = map[name] else {
                throw RulesFailure(.undefinedProperty(name), node)
            }
            try useConversion(member, at: node, ledger: &ledger)
            return member
        case .known(let knowledge): return knowledge.memberOrUnknown(name)
        case .null: throw RulesFailure(.nullValue, node)
        default: throw RulesFailure(.undefinedProperty(name), node)
        }
    }

    /// Counts the work of converting a document's list when it is read.
    private static func useConversion(
        _ value: RulesValue, at node: Node, ledger: inout EvaluationLedger
    ) throws(RulesFailure) {
        if case .list(let values) = value { try ledger.use(values.count, at: node) }
    }

    /// Evaluates `value[index]`.
    static func element(
        of value: RulesValue, at index: RulesValue, _ node: Node,
        _ ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> RulesValue {
        switch (value, index) {
        case (.known(let knowledge), .string(let name)): return knowledge.memberOrUnknown(name)
        case (.known, _), (_, .known): return .known(Knowledge())
        case (.map, .string(let name)):
            return try member(name, of: value, at: node, ledger: &ledger)
        case (.list(let values), .integer(let index)):
            return values[try place(index, in: values.count, node)]
        case (.path(let path), .integer(let index)):
            return .string(path.segments[try place(index, in: path.segments.count, node)])
        case (.string(let text), .integer(let index)):
            try ledger.use(text.utf8.count, at: node)
            let scalars = Array(text.unicodeScalars)
            return .string(String(scalars[try place(index, in: scalars.count, node)]))
        case (.bytes(let bytes), .integer(let index)):
            return .bytes([bytes[try place(index, in: bytes.count, node)]])
        case (.null, _): throw RulesFailure(.nullValue, node)
        default:
            throw RulesFailure(
                .unsupported(
                    received: "\(value.typeName)[\(index.typeName)]",
                    expected: "map[string], list[int], string[int] or path[int]"), node)
        }
    }

    private static func place(_ index: Int64, in count: Int, _ node: Node) throws(RulesFailure)
        -> Int
    {
        guard index >= 0, index < count else {
            throw RulesFailure(.outOfBounds(index: index, size: count), node)
        }
        return Int(index)
    }

    /// Evaluates `value[first:second]`. Production's checks are unusually strict: the first end
    /// must be an index even of an empty slice, and so must the position before the second end.
    static func slice(
        _ value: RulesValue, from first: RulesValue, to second: RulesValue, at node: Node,
        ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> RulesValue {
        if value.isKnowledge || first.isKnowledge || second.isKnowledge {
            return .known(Knowledge())
        }
        guard case .integer(let first) = first, case .integer(let second) = second else {
            throw RulesFailure(.unsupported(received: "slice", expected: "two ints"), node)
        }
        switch value {
        case .list(let values):
            return .list(
                Array(values[try range(from: first, to: second, in: values.count, at: node)]))
        case .string(let text):
            try ledger.use(text.utf8.count, at: node)
            let scalars = Array(text.unicodeScalars)
            var part = String.UnicodeScalarView()
            part.append(
                contentsOf: scalars[try range(from: first, to: second, in: scalars.count, at: node)]
            )
            return .string(String(part))
        case .bytes(let bytes):
            return .bytes(
                Array(bytes[try range(from: first, to: second, in: bytes.count, at: node)]))
        case .null: throw RulesFailure(.nullValue, node)
        default:
            throw RulesFailure(
                .unsupported(received: "\(value.typeName)[int:int]", expected: "list or string"),
                node)
        }
    }

    private static func range(
        from first: Int64, to second: Int64, in count: Int, at node: Node
    ) throws(RulesFailure) -> Range<Int> {
        guard first >= 0, first < count else {
            throw RulesFailure(.outOfBounds(index: first, size: count), node)
        }
        guard second >= 1, second <= count else {
            throw RulesFailure(.outOfBounds(index: second &- 1, size: count), node)
        }
        guard first <= second else {
            throw RulesFailure(.outOfBounds(index: second, size: count), node)
        }
        return Int(first)..<Int(second)
    }
}
