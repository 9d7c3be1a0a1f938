import TidemarkModel

/// A call of a method, its receiver and arguments evaluated.
struct MethodCall {
    let node: Node
    let method: Method
    /// Where the method's name stands, in bytes.
    let nameStart: Int
    /// The first argument, where it is a pattern that is written out.
    let pattern: Pattern?
    let receiver: RulesValue
    let arguments: [RulesValue]

    /// As in `set.difference(list)`.
    var signature: String {
        let types = arguments.map(\.typeName).joined(separator: ",")
        return "\(receiver.typeName).\(method.rawValue)(\(types))"
    }

    /// The type has no such method.
    var notFound: RulesFailure {
        RulesFailure(cause: .functionNotFound(method.rawValue), offset: node.start)
    }

    /// The method takes other arguments.
    func wrong(expected: String) -> RulesFailure {
        let expected = "\(receiver.typeName).\(method.rawValue)(\(expected))"
        return RulesFailure(
            cause: .unsupported(received: signature, expected: expected), offset: nameStart)
    }

    func expectNone() throws(RulesFailure) {
        if !arguments.isEmpty { throw wrong(expected: "") }
    }

    func string() throws(RulesFailure) -> String {
        guard arguments.count == 1, case .string(let text) = arguments[0] else {
            throw wrong(expected: "string")
        }
        return text
    }

    /// A list, or a set as a list.
    func elements(orList: Bool = true) throws(RulesFailure) -> [RulesValue] {
        guard arguments.count == 1 else { throw wrong(expected: orList ? "list" : "set") }
        switch arguments[0] {
        case .list(let values) where orList: return values
        case .set(let values): return values
        default: throw wrong(expected: orList ? "list" : "set")
        }
    }
}

extension Evaluator {
    mutating func answer(_ call: MethodCall) throws(RulesFailure) -> RulesValue {
        if call.arguments.contains(where: \.isKnowledge) || call.receiver.isKnowledge {
            return known(call)
        }
        if isProof,
            call.receiver.holdsKnowledge || call.arguments.contains(where: \.holdsKnowledge),
            ![.get, .keys, .size].contains(call.method)
        {
            return .known(Knowledge())
        }
        switch call.receiver {
        case .string(let text): return try answer(call, text)
        case .bytes(let bytes): return try answer(call, bytes)
        case .list(let values): return try answer(call, list: values)
        case .set(let values): return try answer(call, set: values)
        case .map(let map): return try answer(call, map)
        case .difference(let difference): return try Self.answer(call, difference)
        case .path(let path): return try Self.answer(call, path)
        case .timestamp(let time): return try Self.answer(call, time)
        case .duration(let length): return try Self.answer(call, length)
        case .latlng(let point): return try Self.answer(call, point)
        case .null: throw failure(.nullValue, call.node)
        case .boolean, .integer, .float, .known: throw call.notFound
        }
    }

    /// What is sure of a query's results, or nothing.
    private mutating func known(_ call: MethodCall) -> RulesValue {
        guard case .known(let knowledge) = call.receiver else { return .known(Knowledge()) }
        switch (call.method, call.arguments.count) {
        case (.hasAll, 1), (.hasAny, 1):
            guard case .list(let wanted) = call.arguments[0] else { break }
            let isSure =
                call.method == .hasAll
                ? wanted.allSatisfy(knowledge.contains) : wanted.contains(where: knowledge.contains)
            if isSure, knowledge.isThere { return .boolean(true) }
            for element in wanted {
                if let text = SwiftLiteral.text(of: element), !knowledge.contains(element) {
                    lack(knowledge, .contains(text))
                }
            }
        case (.get, 2):
            if case .string(let name) = call.arguments[0], knowledge.hasMember(name) {
                return knowledge.memberOrUnknown(name)
            }
        case (.keys, 0) where knowledge.kind == .map && knowledge.isThere:
            var keys = Knowledge(kind: .list)
            keys.isThere = true
            keys.elements = knowledge.members.map(\.key).filter(knowledge.hasMember)
                .map { .string($0) }
            return .known(keys)
        default: break
        }
        return .known(Knowledge())
    }
}
