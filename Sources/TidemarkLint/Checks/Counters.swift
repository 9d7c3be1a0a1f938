import SwiftSyntax

/// The check `counter-overwritten`: a number that is read, changed and written back.
enum Counters {
    static func findings(in context: CheckContext) -> [Finding] {
        var seen: Set<Place> = []
        return context.operations.flatMap { operation -> [Finding] in
            guard operation.kind == .updateData || operation.kind == .setData,
                !operation.node.isInTransaction, operation.receiver != .transaction,
                !isNew(operation)
            else { return [] }
            return WrittenField.fields(of: operation, context).compactMap { field in
                let file = context.file(of: field.value)
                guard let key = field.key,
                    isReadAndChanged(
                        field.value, key: key, operation: operation, in: context, depth: 0),
                    seen.insert(file.place(of: field.value)).inserted
                else { return nil }
                return context.finding(
                    .counterOverwritten, in: file, at: field.value,
                    "`\(key)` is read, changed and written back.",
                    because: "Of two devices that do so at the same time, one loses its change; "
                        + "offline, all but the last are lost.",
                    mend: "Write `FieldValue.increment(Int64(1))`, or read and write in a "
                        + "transaction.",
                    fix: fix(field, key: key, operation: operation, in: context))
            }
        }
    }

    /// Returns true if this write creates the document, which therefore has no earlier value.
    private static func isNew(_ operation: Operation) -> Bool {
        guard case .document(let facts) = operation.receiver else { return false }
        return facts.path.last == QueryFacts.newID
    }

    private static func isReadAndChanged(
        _ value: ExprSyntax, key: String, operation: Operation, in context: CheckContext,
        depth: Int
    ) -> Bool {
        guard depth < 3 else { return false }
        let bare = value.bare
        if let sequence = bare.as(SequenceExprSyntax.self) {
            return isChange(sequence, key: key, in: context)
        }
        if let name = bare.as(DeclReferenceExprSyntax.self),
            let definition = context.definition(of: bare),
            definition.is(SequenceExprSyntax.self),
            name.enclosingFunction?.encloses(definition) == true
        {
            return isReadAndChanged(
                definition, key: key, operation: operation, in: context, depth: depth + 1)
        }
        return isChangedBefore(bare, key: key, operation: operation)
    }

    /// Returns true for `likes + 1`, `(data["likes"] as? Int ?? 0) + 1`.
    private static func isChange(
        _ sequence: SequenceExprSyntax, key: String, in context: CheckContext
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
        // This is `post.likes`, also in `(post.likes ?? 0)`.
        return first.all(MemberAccessExprSyntax.self).contains {
            same($0.declName.baseName.bare, key) && $0.declName.baseName.bare != "count"
        }
    }

    /// Returns true for `post.likes += 1` before `["likes": post.likes]`.
    private static func isChangedBefore(
        _ value: ExprSyntax, key: String, operation: Operation
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

    /// Returns the fix for `["likes": post.likes + 1]` in an update of the document of `post`. If
    /// the write replaces a document or a map in it, an increment would start from nothing.
    private static func fix(
        _ field: WrittenField, key: String, operation: Operation, in context: CheckContext
    ) -> Finding.Fix? {
        guard field.isInCall, !field.isInList, !key.contains("."), let call = operation.call,
            operation.kind == .updateData && !isInMap(field.value) || call.merges,
            let sequence = field.value.bare.as(SequenceExprSyntax.self)
        else { return nil }
        let elements = Array(sequence.elements)
        guard elements.count == 3, let number = elements[2].as(IntegerLiteralExprSyntax.self),
            let amount = Int(number.literal.text.filter { $0 != "_" }),
            let symbol = elements[1].as(BinaryOperatorExprSyntax.self)?.operator.text,
            let member = elements[0].as(MemberAccessExprSyntax.self),
            same(member.declName.baseName.bare, key),
            let owner = member.base?.as(DeclReferenceExprSyntax.self)?.baseName.bare,
            names(operation, owner: owner, in: context)
        else { return nil }
        let text = "FieldValue.increment(Int64(\(symbol == "-" ? -amount : amount)))"
        return Finding.Fix(edits: [.replacing(field.value, text)])
    }

    private static func isInMap(_ value: ExprSyntax) -> Bool {
        value.ancestors.count { $0.is(DictionaryExprSyntax.self) } > 1
    }

    /// Returns true if a member of `owner` names the written document, as in `document(post.id)`.
    private static func names(
        _ operation: Operation, owner: String, in context: CheckContext
    ) -> Bool {
        guard let call = operation.call else { return false }
        let target = call.argument("forDocument") ?? call.receiver
        guard let target else { return false }
        return [target, context.definition(of: target)].compactMap { $0 }.contains { expression in
            expression.all(MemberAccessExprSyntax.self).contains { member in
                member.base?.as(DeclReferenceExprSyntax.self)?.baseName.bare == owner
                    && ["id", "uid", "documentID", "reference", "ref"].contains(
                        member.declName.baseName.bare)
            }
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

extension FunctionCallExprSyntax {
    /// True for `setData(…, merge: true)`.
    fileprivate var merges: Bool {
        argument("merge")?.as(BooleanLiteralExprSyntax.self)?.literal.text == "true"
    }
}
