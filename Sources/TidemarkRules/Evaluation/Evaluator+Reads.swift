import TidemarkModel

// Calls of built-in functions and of the file's functions.
extension Evaluator {
    mutating func call(
        _ builtin: Builtin, arguments: [RulesValue], at node: Node, nameStart: Int
    ) throws(RulesFailure) -> RulesValue {
        let call = BuiltinCall(builtin: builtin, arguments: arguments, nameStart: nameStart)
        if builtin.isRead, !arguments.contains(where: \.isKnowledge) {
            return try read(call, node)
        }
        return try BuiltinFunctions.answer(call, at: node, ledger: &ledger)
    }

    private mutating func read(
        _ call: BuiltinCall, _ node: Node
    ) throws(RulesFailure) -> RulesValue {
        guard call.arguments.count == 1, case .path(let path) = call.arguments[0] else {
            if call.arguments.count == 1, case .null = call.arguments[0] {
                throw RulesFailure(.nullValue, node)
            }
            throw call.wrong("path")
        }
        let function = RulesRead(rawValue: call.builtin.rawValue)!
        guard let lookup = reads.answer(function, path, from: documents) else {
            throw RulesFailure(
                refusal(function, path: path, reason: "Too many documents are read."), node)
        }
        switch (lookup, function) {
        case (.unavailable, _):
            throw RulesFailure(.functionNotFound(function.rawValue), node)
        case (.refused(let reason), _):
            throw RulesFailure(refusal(function, path: path, reason: reason), node)
        case (.document, .exists), (.document, .existsAfter): return .boolean(true)
        case (.missing, .exists), (.missing, .existsAfter): return .boolean(false)
        case (.document(let document), _): return .map(document)
        case (.missing, _):
            throw RulesFailure(refusal(function, path: path, reason: "There is none."), node)
        }
    }

    private func refusal(
        _ function: RulesRead, path: RulesPath, reason: String
    ) -> RulesFailure.Cause {
        .read(function.rawValue, path: path.description, reason: reason)
    }
}
