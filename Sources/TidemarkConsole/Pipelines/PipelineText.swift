import TidemarkModel

/// A pipeline in the form of the console's pipeline bar, its stages separated by `|`:
///
///     books | where rating > 4 and genre == "novel"
///     | aggregate count() as books, average(rating) as rating by author
///     | sort rating desc | limit 3
///
/// The first stage is a collection, `**/reviews` for a collection group, `**` for the database,
/// `documents books/a, books/b`, or `subcollection reviews` inside of a nested pipeline. The other
/// stages have the names of the protocol. Values are written as in ``QueryText``, fields by their
/// names, functions by their names in the protocol with their arguments in parentheses, variables
/// as `$name`, and nested pipelines as `array(from reviews | …)`.
enum PipelineText {
    /// - Throws: ``QueryTextError`` with a sentence about the problem and its place.
    static func parse(
        _ text: String, in database: DatabaseID
    ) throws(QueryTextError) -> Pipeline {
        let tokens = try QueryToken.tokens(of: text, signs: QueryToken.pipelineSigns)
        var reader = QueryText(tokens: tokens, database: database)
        let pipeline = try reader.pipeline()
        if let extra = reader.token() {
            throw QueryTextError("Unexpected \"\(extra.text)\". Stages are separated by |.")
        }
        return pipeline
    }

    /// A text of each stage, to begin with.
    static let templates: [(name: String, text: String)] = [
        ("where", "where field == 1"), ("select", "select field, field + 1 as next"),
        ("add_fields", "add_fields field + 1 as next"), ("remove_fields", "remove_fields field"),
        ("aggregate", "aggregate count() as count, sum(field) as total by group"),
        ("distinct", "distinct field"), ("sort", "sort field desc"), ("limit", "limit 10"),
        ("offset", "offset 10"), ("unnest", "unnest list as element index place"),
        ("union", "union (from collection)"), ("sample", "sample 10 documents"),
        ("let", "let field as name"), ("replace_with", "replace_with map"),
        ("search", "search \"words\""),
        ("find_nearest", "find_nearest field to vector[1, 0] by cosine limit 10"),
    ]
}

extension QueryText {
    mutating func pipeline() throws(QueryTextError) -> Pipeline {
        try enter()
        defer { depth -= 1 }
        var pipeline = Pipeline(stages: [try source()])
        while takeSign("|") { pipeline.stages.append(try stage()) }
        return pipeline
    }

    /// Counts an expression or pipeline around the place. The caller counts it off.
    mutating func enter() throws(QueryTextError) {
        depth += 1
        if depth > Self.maxDepth { throw QueryTextError("The pipeline is nested too deeply.") }
    }

    // MARK: Sources

    private mutating func source() throws(QueryTextError) -> Pipeline.Stage {
        if case .word? = token(1) {
            if takeWord("documents") {
                var names: [Pipeline.Expression] = []
                repeat { names.append(.reference("/" + (try path()))) } while takeSign(",")
                return Pipeline.Stage(name: "documents", arguments: names)
            }
            if takeWord("subcollection") {
                return Pipeline.Stage(
                    name: "subcollection", arguments: [.constant(.string(try path()))])
            }
        }
        let text = try path()
        if text == "**" { return Pipeline.Stage(name: "database") }
        if text.hasPrefix("**/") {
            let id = String(text.dropFirst(3))
            return Pipeline.Stage(
                name: "collection_group", arguments: [.reference(""), .constant(.string(id))])
        }
        return Pipeline.Stage(name: "collection", arguments: [.reference("/" + text)])
    }

    private mutating func path() throws(QueryTextError) -> String {
        switch take() {
        case .word(let text)?, .string(let text)?:
            return text.hasPrefix("/") ? String(text.dropFirst()) : text
        case .sign?, nil:
            throw QueryTextError("A pipeline must begin with a collection, as in books | limit 3.")
        }
    }

    // MARK: Stages

    private mutating func stage() throws(QueryTextError) -> Pipeline.Stage {
        guard case .word(let name)? = take() else {
            throw QueryTextError("A stage is missing after |.")
        }
        switch name {
        case "where", "replace_with":
            var arguments = [try expression()]
            if name == "replace_with" { arguments.append(.constant(.string("full_replace"))) }
            return Pipeline.Stage(name: name, arguments: arguments)
        case "select", "add_fields", "distinct", "let":
            return Pipeline.Stage(name: name, arguments: [.map(try selections())])
        case "remove_fields":
            var fields: [Pipeline.Expression] = []
            repeat { fields.append(try field()) } while takeSign(",")
            return Pipeline.Stage(name: name, arguments: fields)
        case "limit", "offset":
            let count = Int64(try count(after: name))
            return Pipeline.Stage(name: name, arguments: [.constant(.integer(count))])
        case "sort":
            var orders: [Pipeline.Expression] = []
            repeat { orders.append(try ordering()) } while takeSign(",")
            return Pipeline.Stage(name: name, arguments: orders)
        default: return try rareStage(name)
        }
    }

    private mutating func rareStage(
        _ name: String
    ) throws(QueryTextError) -> Pipeline.Stage {
        switch name {
        case "aggregate": return try aggregate()
        case "unnest": return try unnest()
        case "sample": return try sample()
        case "find_nearest": return try findNearest()
        case "union":
            return Pipeline.Stage(name: name, arguments: [.pipeline(try nestedInParentheses())])
        case "search":
            return Pipeline.Stage(
                name: name, options: [Pipeline.Entry(key: "query", value: try expression())])
        case "delete", "update", "insert", "upsert":
            throw QueryTextError("The pipeline bar only reads. \"\(name)\" changes documents.")
        default:
            let names = PipelineText.templates.map(\.name).sorted().joined(separator: ", ")
            throw QueryTextError("\"\(name)\" is no stage. The stages are \(names).")
        }
    }

    private mutating func nestedInParentheses() throws(QueryTextError) -> Pipeline {
        guard takeSign("("), takeWord("from") else {
            throw QueryTextError("Expected a pipeline, as in union (from books | limit 3).")
        }
        let nested = try pipeline()
        try close(")")
        return nested
    }

    mutating func close(_ sign: String) throws(QueryTextError) {
        guard takeSign(sign) else { throw QueryTextError("A closing \(sign) is missing.") }
    }

    private mutating func aggregate() throws(QueryTextError) -> Pipeline.Stage {
        var groups: [Pipeline.Entry] = []
        let figures = try selections()
        if takeWord("by") { groups = try selections() }
        return Pipeline.Stage(name: "aggregate", arguments: [.map(figures), .map(groups)])
    }

    private mutating func unnest() throws(QueryTextError) -> Pipeline.Stage {
        let value = try expression()
        guard takeWord("as") else {
            throw QueryTextError("Expected a name for the element, as in unnest tags as tag.")
        }
        let alias = try field()
        let index =
            takeWord("index")
            ? [Pipeline.Entry(key: "index_field", value: try field())] : []
        return Pipeline.Stage(name: "unnest", arguments: [value, alias], options: index)
    }

    private mutating func sample() throws(QueryTextError) -> Pipeline.Stage {
        if case .word(let text)? = take(), let number = Double(text) {
            if takeWord("percent") {
                return Pipeline.Stage(
                    name: "sample",
                    arguments: [.constant(.double(number)), .constant(.string("percent"))])
            }
            if takeWord("documents"), let count = Int64(text) {
                return Pipeline.Stage(
                    name: "sample",
                    arguments: [.constant(.integer(count)), .constant(.string("documents"))])
            }
        }
        throw QueryTextError(
            "Expected sample 10 documents, or sample 0.1 percent for a tenth of the rows.")
    }

    private mutating func findNearest() throws(QueryTextError) -> Pipeline.Stage {
        let field = try field()
        guard takeWord("to") else { throw QueryTextError("Expected \"to\" and a vector.") }
        let vector = try expression()
        guard takeWord("by"), case .word(let measure)? = take() else {
            throw QueryTextError("Expected by euclidean, by cosine or by dot_product.")
        }
        var options: [Pipeline.Entry] = []
        if takeWord("limit") {
            let count = Int64(try count(after: "limit"))
            options.append(Pipeline.Entry(key: "limit", value: .constant(.integer(count))))
        }
        if takeWord("distance") {
            options.append(Pipeline.Entry(key: "distance_field", value: try self.field()))
        }
        return Pipeline.Stage(
            name: "find_nearest", arguments: [field, vector, .constant(.string(measure))],
            options: options)
    }
}
