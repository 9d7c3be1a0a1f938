import TidemarkModel

extension Pipeline {
    /// The pipeline in one line, in the form of ``PipelineText``:
    /// `books | where rating > 4 | sort rating desc | limit 3`.
    ///
    /// A stage that the pipeline bar cannot read, for example one that writes, has its name with
    /// its arguments and options.
    var sentence: String {
        guard let first = stages.first else { return "a pipeline without stages" }
        let later = stages.dropFirst().map { $0.text ?? $0.plain }
        return ([first.source ?? first.plain] + later).joined(separator: " | ")
    }
}

extension Pipeline.Stage {
    /// The name with the arguments and options, for stages without a form of their own.
    fileprivate var plain: String {
        let texts = arguments.map { $0.text() }.filter { !$0.isEmpty }
        let settings = options.map { "\($0.key): \($0.value.text())" }
        return ([name] + texts + settings).joined(separator: " ")
    }

    /// The first stage; nil if it has no form of its own.
    fileprivate var source: String? {
        let hasOptions = !options.isEmpty
        switch (name, arguments.first) {
        case _ where hasOptions: return nil
        case ("collection", .reference(let path)?) where arguments.count == 1:
            return Self.path(path)
        case ("collection_group", .reference("")?) where arguments.count == 2:
            guard case .constant(.string(let id)) = arguments[1] else { return nil }
            return Self.path("**/" + id)
        case ("database", nil): return "**"
        case ("documents", .reference?):
            return "documents " + arguments.map { Self.path($0.text()) }.joined(separator: ", ")
        case ("subcollection", .constant(.string(let path))?) where arguments.count == 1:
            return "subcollection " + Self.path(path)
        default: return nil
        }
    }

    /// Returns a path without its first slash, in quotes if it has signs.
    private static func path(_ text: String) -> String {
        let path = text.hasPrefix("/") ? String(text.dropFirst()) : text
        return Pipeline.Expression.name(path)
    }

    /// A later stage; nil if it has no form of its own.
    fileprivate var text: String? {
        switch (name, arguments.count) {
        case ("where", 1), ("limit", 1), ("offset", 1):
            return options.isEmpty ? "\(name) \(arguments[0].text())" : nil
        case ("replace_with", 2):
            guard case .constant(.string("full_replace")) = arguments[1] else { return nil }
            return "replace_with \(arguments[0].text())"
        case ("select", 1), ("add_fields", 1), ("distinct", 1), ("let", 1):
            return arguments[0].selections.map { "\(name) \($0)" }
        case ("aggregate", 1), ("aggregate", 2):
            guard let figures = arguments[0].selections else { return nil }
            let groups = arguments.count == 2 ? arguments[1].selections ?? "" : ""
            return "aggregate \(figures)" + (groups.isEmpty ? "" : " by \(groups)")
        case ("remove_fields", _), ("sort", _):
            if arguments.isEmpty || !options.isEmpty { return nil }
            return "\(name) " + arguments.map { $0.order ?? $0.text() }.joined(separator: ", ")
        case ("union", 1):
            guard case .pipeline(let other) = arguments[0] else { return nil }
            return "union (from \(other.sentence))"
        case ("search", 0):
            guard options.count == 1, options[0].key == "query" else { return nil }
            return "search \(options[0].value.text())"
        default: return rareText
        }
    }

    private var rareText: String? {
        switch (name, arguments.count) {
        case ("sample", 2):
            guard case .constant(.string(let unit)) = arguments[1] else { return nil }
            return "sample \(arguments[0].text()) \(unit)"
        case ("unnest", 2):
            let index = options.first { $0.key == "index_field" }?.value.text()
            return "unnest \(arguments[0].text()) as \(arguments[1].text())"
                + (index.map { " index \($0)" } ?? "")
        case ("find_nearest", 3):
            guard case .constant(.string(let measure)) = arguments[2] else { return nil }
            let words = ["limit": "limit", "distance_field": "distance"]
            let settings = ["limit", "distance_field"].compactMap { key in
                options.first { $0.key == key }.map { " \(words[key] ?? key) \($0.value.text())" }
            }
            return "find_nearest \(arguments[0].text()) to \(arguments[1].text()) by \(measure)"
                + settings.joined()
        default: return nil
        }
    }
}

extension Pipeline.Expression {
    /// Returns the expression as a text.
    ///
    /// - Parameter rank: The rank of the sign beside the expression; an expression whose own sign
    ///   binds less is in parentheses.
    fileprivate func text(beside rank: Int = 0) -> String {
        switch self {
        case .constant(let value): return QueryLiteral.text(value)
        case .reference(let text): return text
        case .field(let path): return path
        case .variable(let name): return "$" + name
        case .function(let name, let arguments, _):
            return Self.text(of: name, arguments, beside: rank)
        case .pipeline(let pipeline): return "from \(pipeline.sentence)"
        case .array(let elements):
            return "[\(elements.map { $0.text() }.joined(separator: ", "))]"
        case .map(let entries):
            let texts = entries.map { "\(Self.name($0.key)): \($0.value.text())" }
            return "{\(texts.joined(separator: ", "))}"
        }
    }

    private static func text(
        of name: String, _ arguments: [Self], beside rank: Int
    ) -> String {
        func inner(_ own: Int, _ text: String) -> String { own <= rank ? "(\(text))" : text }
        switch (name, arguments.count) {
        case ("or", 2...), ("and", 2...):
            let own = name == "or" ? 1 : 2
            let parts = arguments.map { $0.text(beside: own) }
            return inner(own, parts.joined(separator: " \(name) "))
        case ("not", 1): return inner(3, "not \(arguments[0].text(beside: 2))")
        case (_, 2):
            guard let (sign, own) = PipelineOperator.signs[name] else { break }
            // Signs of one rank are read from the left; comparisons cannot follow each other.
            let left = arguments[0].text(beside: own == 4 ? 4 : own - 1)
            return inner(own, "\(left) \(sign) \(arguments[1].text(beside: own))")
        default: break
        }
        return "\(name)(\(arguments.map { $0.text() }.joined(separator: ", ")))"
    }

    /// The entries of a map as named values; nil if the expression is no map.
    fileprivate var selections: String? {
        guard case .map(let entries) = self else { return nil }
        return entries.map { entry in
            // A selected field has its own name as its alias.
            if case .field(let path) = entry.value, path.hasSameBytes(as: entry.key) { return path }
            return "\(entry.value.text()) as \(Self.name(entry.key))"
        }.joined(separator: ", ")
    }

    /// The order of a `sort`; nil if the expression is none.
    fileprivate var order: String? {
        guard case .map(let entries) = self, entries.count == 2,
            case .constant(.string(let direction))? =
                entries.first(where: { $0.key == "direction" })?.value,
            let key = entries.first(where: { $0.key == "expression" })
        else { return nil }
        return key.value.text() + (direction == "descending" ? " desc" : "")
    }

    /// Returns a name as it is, or in quotes if it has spaces or signs.
    fileprivate static func name(_ name: String) -> String {
        let isPlain =
            !name.isEmpty
            && name.allSatisfy { !$0.isWhitespace && !"[](),{}:|\"`\\".contains($0) }
        return isPlain ? name : QueryLiteral.text(.string(name))
    }
}
