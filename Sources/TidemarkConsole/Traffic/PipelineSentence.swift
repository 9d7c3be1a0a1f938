import TidemarkModel

extension Pipeline {
    /// The pipeline in one line, stage by stage:
    /// `collection /books | where greater_than(rating, 4) | sort rating descending | limit 3`.
    var sentence: String {
        if stages.isEmpty { return "a pipeline without stages" }
        return stages.map(\.sentence).joined(separator: " | ")
    }
}

extension Pipeline.Stage {
    var sentence: String {
        // The first argument of a collection group is an empty reference.
        let texts = arguments.map(\.sentence).filter { !$0.isEmpty }
        let settings = options.map { "\($0.key): \($0.value.sentence)" }
        return ([name] + texts + settings).joined(separator: " ")
    }
}

extension Pipeline.Expression {
    fileprivate var sentence: String {
        switch self {
        case .constant(let value): QueryLiteral.text(value)
        case .reference(let text), .field(let text): text
        case .variable(let name): "$" + name
        case .function(let name, let arguments, _):
            "\(name)(\(arguments.map(\.sentence).joined(separator: ", ")))"
        case .pipeline(let pipeline): "(\(pipeline.sentence))"
        case .array(let elements): "[\(elements.map(\.sentence).joined(separator: ", "))]"
        case .map(let entries): Self.sentence(entries)
        }
    }

    /// The entries of a map; an order of a `sort` as in a query.
    private static func sentence(_ entries: [Pipeline.Entry]) -> String {
        let direction = entries.first { $0.key == "direction" }?.value
        if entries.count == 2, case .constant(.string(let direction))? = direction,
            let key = entries.first(where: { $0.key == "expression" })
        {
            return "\(key.value.sentence) \(direction)"
        }
        let texts = entries.map { entry in
            // A selected field has its own name as its alias.
            if case .field(let path) = entry.value, path.hasSameBytes(as: entry.key) { return path }
            return "\(entry.key): \(entry.value.sentence)"
        }
        return "{\(texts.joined(separator: ", "))}"
    }
}
