import SwiftSyntax

/// `counter-overwritten`: a number read, changed and written back.
enum Counters {
    static func findings(in context: CheckContext) -> [Finding] {
        var seen: Set<AbsolutePosition> = []
        return context.operations.flatMap { operation -> [Finding] in
            guard operation.kind == .updateData || operation.kind == .setData,
                !operation.node.isInTransaction, operation.receiver != .transaction
            else { return [] }
            return WrittenField.fields(of: operation, context).compactMap { field in
                guard let key = field.key,
                    isReadAndChanged(field.value, key, operation, context, 0),
                    seen.insert(field.value.position).inserted
                else { return nil }
                return context.finding(
                    .counterOverwritten, in: operation.file, at: field.value,
                    "`\(key)` is read, changed and written back.",
                    because: "Of two devices that do so at the same time, one loses its change; "
                        + "offline, all but the last are lost.",
                    mend: "Write `FieldValue.increment(Int64(1))`, or read and write in a "
                        + "transaction.")
            }
        }
    }

    private static func isReadAndChanged(
        _ value: ExprSyntax, _ key: String, _ operation: Operation, _ context: CheckContext,
        _ depth: Int
    ) -> Bool {
        guard depth < 3 else { return false }
        let bare = value.bare
        if let sequence = bare.as(SequenceExprSyntax.self) {
            return isChange(sequence, key, context)
        }
        if let name = bare.as(DeclReferenceExprSyntax.self),
            let definition = context.definition(of: bare),
            definition.is(SequenceExprSyntax.self),
            name.enclosingFunction?.encloses(definition) == true
        {
            return isReadAndChanged(definition, key, operation, context, depth + 1)
        }
        return isChangedBefore(bare, key, operation)
    }

    /// `likes + 1`, `(data["likes"] as? Int ?? 0) + 1`.
    private static func isChange(
        _ sequence: SequenceExprSyntax, _ key: String, _ context: CheckContext
    ) -> Bool {
        let elements = Array(sequence.elements)
        guard elements.count == 3, let symbol = elements[1].as(BinaryOperatorExprSyntax.self),
            symbol.operator.text == "+" || symbol.operator.text == "-"
        else { return false }
        let first = elements[0]
        if elements[2].is(StringLiteralExprSyntax.self) { return false }
        if context.evaluator.value(first) == .fieldOfDocument { return true }
        if first.all(SubscriptCallExprSyntax.self).contains(where: { inner in
            guard let argument = inner.arguments.first?.expression,
                case .text(let text) = context.evaluator.value(argument)
            else { return false }
            return text == lastPart(key)
        }) {
            return true
        }
        // `post.likes`, also in `(post.likes ?? 0)`.
        return first.all(MemberAccessExprSyntax.self).contains {
            same($0.declName.baseName.bare, key) && $0.declName.baseName.bare != "count"
        }
    }

    /// `post.likes += 1` before `["likes": post.likes]`.
    private static func isChangedBefore(
        _ value: ExprSyntax, _ key: String, _ operation: Operation
    ) -> Bool {
        guard value.is(MemberAccessExprSyntax.self) || value.is(DeclReferenceExprSyntax.self),
            let name = value.lastName, same(name, key),
            let function = operation.node.enclosingFunction
        else { return false }
        let text = value.trimmedDescription
        return function.all(SequenceExprSyntax.self).contains { sequence in
            let elements = Array(sequence.elements)
            guard elements.count == 3, sequence.position < operation.node.position,
                let symbol = elements[1].as(BinaryOperatorExprSyntax.self)?.operator.text,
                symbol == "+=" || symbol == "-=", elements[2].is(IntegerLiteralExprSyntax.self)
            else { return false }
            return elements[0].trimmedDescription == text
        }
    }

    private static func lastPart(_ key: String) -> String {
        key.split(separator: ".").last.map(String.init) ?? key
    }

    private static func same(_ name: String, _ key: String) -> Bool {
        func plain(_ text: String) -> String { text.lowercased().filter { $0 != "_" } }
        return plain(name) == plain(lastPart(key))
    }
}
