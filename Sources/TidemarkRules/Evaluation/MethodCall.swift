import TidemarkModel
import TidemarkPatterns

/// A call of a method, with evaluated receiver and arguments.
struct MethodCall {
    let node: Node
    let method: Method
    /// The position of the method's name, in bytes.
    let nameStart: Int
    /// The first argument, if it is a pattern literal.
    let pattern: Pattern?
    let receiver: RulesValue
    let arguments: [RulesValue]

    /// The types of the call, for example `set.difference(list)`.
    var signature: String {
        let types = arguments.map(\.typeName).joined(separator: ",")
        return "\(receiver.typeName).\(method.rawValue)(\(types))"
    }

    /// The error for a type without this method.
    var notFound: RulesFailure {
        RulesFailure(cause: .functionNotFound(method.rawValue), offset: node.start)
    }

    /// Returns the error for arguments of other types than `expected`.
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

    /// Returns the argument's elements: those of a list or of a set.
    func elements(orList: Bool = true) throws(RulesFailure) -> [RulesValue] {
        guard arguments.count == 1 else { throw wrong(expected: orList ? "list" : "set") }
        switch arguments[0] {
        case .list(let values) where orList: return values
        case .set(let values): return values
        default: throw wrong(expected: orList ? "list" : "set")
        }
    }
}

extension MethodCall {
    /// Returns the result of the method.
    func answer(_ ledger: inout EvaluationLedger) throws(RulesFailure) -> RulesValue {
        if arguments.contains(where: \.isKnowledge) || receiver.isKnowledge {
            return known(&ledger)
        }
        if ledger.isProof,
            receiver.holdsKnowledge || arguments.contains(where: \.holdsKnowledge),
            ![.get, .keys, .size].contains(method)
        {
            return .known(Knowledge())
        }
        switch receiver {
        case .string(let text): return try TextMethods.answer(self, text: text, ledger: &ledger)
        case .bytes(let bytes): return try TextMethods.answer(self, bytes: bytes, ledger: &ledger)
        case .list(let values): return try CollectionMethods.answer(self, list: values, &ledger)
        case .set(let values): return try CollectionMethods.answer(self, set: values, &ledger)
        case .map(let map): return try CollectionMethods.answer(self, map: map, ledger: &ledger)
        case .difference(let difference): return try CollectionMethods.answer(self, difference)
        case .path(let path): return try CollectionMethods.answer(self, path)
        case .timestamp(let time): return try TimeMethods.answer(self, time)
        case .duration(let length): return try TimeMethods.answer(self, length)
        case .latlng(let point): return try TimeMethods.answer(self, point)
        case .null: throw RulesFailure(.nullValue, node)
        case .boolean, .integer, .float, .known: throw notFound
        }
    }

    /// Returns the part of the result that is certain for all of a query's results.
    private func known(_ ledger: inout EvaluationLedger) -> RulesValue {
        guard case .known(let knowledge) = receiver else { return .known(Knowledge()) }
        switch (method, arguments.count) {
        case (.hasAll, 1), (.hasAny, 1):
            guard case .list(let wanted) = arguments[0] else { break }
            let isSure =
                method == .hasAll
                ? wanted.allSatisfy(knowledge.contains) : wanted.contains(where: knowledge.contains)
            if isSure, knowledge.isThere { return .boolean(true) }
            for element in wanted {
                if let text = SwiftLiteral.text(of: element), !knowledge.contains(element) {
                    ledger.lack(knowledge, .contains(text))
                }
            }
        case (.get, 2):
            if case .string(let name) = arguments[0], knowledge.hasMember(name) {
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
