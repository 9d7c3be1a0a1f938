import SwiftSyntax

/// A field that a write stores, as far as the code shows it.
struct WrittenField {
    /// The key; nil if only the running app knows it.
    let key: String?
    let value: ExprSyntax
    /// True if a replacement of the value changes only this write.
    let isInCall: Bool
    /// True inside a list, in which transforms are not allowed.
    let isInList: Bool

    /// The types whose initializers have labels that are not fields, even if the app extends them.
    private static let timeTypes: Set<String> = ["Timestamp", "Date"]

    static func fields(of operation: Operation, _ context: CheckContext) -> [WrittenField] {
        guard let data = data(of: operation) else { return [] }
        var found: [WrittenField] = []
        collect(data, isInCall: true, isInList: false, in: context, depth: 0, into: &found)
        if let name = data.bare.as(DeclReferenceExprSyntax.self)?.baseName.bare {
            found += assigned(to: name, before: operation.node, context)
        }
        return found
    }

    /// Returns the argument with the fields: `setData(x)`, `addDocument(data: x)`.
    static func data(of operation: Operation) -> ExprSyntax? {
        guard let call = operation.call else { return nil }
        switch operation.kind {
        case .setData, .updateData: return call.arguments.first?.expression
        case .addDocument: return call.argument("data") ?? call.argument("from")
        default: return nil
        }
    }

    private static func collect(
        _ node: ExprSyntax, isInCall: Bool, isInList: Bool, in context: CheckContext, depth: Int,
        into found: inout [WrittenField]
    ) {
        guard depth < 5 else { return }
        var bare = node.bare
        if let sequence = bare.as(SequenceExprSyntax.self), sequence.elements.count == 3,
            Array(sequence.elements)[1].is(UnresolvedAsExprSyntax.self),
            let first = sequence.elements.first
        {
            bare = first.bare
        }
        if let dictionary = bare.as(DictionaryExprSyntax.self),
            case .elements(let elements) = dictionary.content
        {
            for element in elements {
                var key: String?
                if case .text(let text) = context.evaluator.value(element.key) { key = text }
                found.append(
                    WrittenField(
                        key: key, value: element.value, isInCall: isInCall, isInList: isInList))
                collect(
                    element.value, isInCall: isInCall, isInList: isInList, in: context,
                    depth: depth + 1,
                    into: &found)
            }
        } else if let list = bare.as(ArrayExprSyntax.self) {
            for element in list.elements {
                collect(
                    element.expression, isInCall: isInCall, isInList: true, in: context,
                    depth: depth + 1,
                    into: &found)
            }
        } else if bare.is(DeclReferenceExprSyntax.self), depth < 3,
            let definition = context.definition(of: bare)
        {
            collect(
                definition, isInCall: false, isInList: isInList, in: context, depth: depth + 1,
                into: &found)
        } else if let call = bare.as(FunctionCallExprSyntax.self) {
            if call.calledName == "arrayUnion" {
                for argument in call.arguments {
                    collect(
                        argument.expression, isInCall: isInCall, isInList: true, in: context,
                        depth: depth + 1, into: &found)
                }
            } else if let name = call.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName
                .bare,
                context.project.types[name] != nil, !timeTypes.contains(name)
            {
                // This code creates a value of one of the project's types.
                for argument in call.arguments {
                    found.append(
                        WrittenField(
                            key: argument.label?.bare, value: argument.expression, isInCall: false,
                            isInList: isInList))
                }
            }
        }
    }

    /// Returns the assignments `data["key"] = value` before the write, in its function.
    private static func assigned(
        to name: String, before node: ExprSyntax, _ context: CheckContext
    ) -> [WrittenField] {
        guard let function = node.enclosingFunction else { return [] }
        return function.all(SequenceExprSyntax.self).compactMap { sequence in
            let elements = Array(sequence.elements)
            guard elements.count == 3, sequence.position < node.position,
                elements[1].is(AssignmentExprSyntax.self),
                let target = elements[0].bare.as(SubscriptCallExprSyntax.self),
                target.calledExpression.lastName == name,
                let key = target.arguments.first?.expression,
                case .text(let text) = context.evaluator.value(key)
            else { return nil }
            return WrittenField(key: text, value: elements[2], isInCall: true, isInList: false)
        }
    }
}
