import TidemarkModel

/// Checks the options of the stage `search`.
struct SearchCompiler {
    let arguments: StageArguments

    func compile() throws(PipelineError) -> SearchStage {
        try arguments.expect(
            0...0,
            options: [
                "query", "limit", "offset", "retrieval_depth", "language_code", "sort",
                "add_fields",
            ])
        guard let option = arguments.option("query") else {
            throw .invalid("The stage search needs a query.")
        }
        var query = option
        if case .constant(.string) = option { query = .call("document_matches", [option]) }
        try checkLanguage()
        var environment = arguments.environment
        environment.search = .query
        environment.findings.searches = true
        let condition = try environment.compile(query)
        environment.search = .result
        return SearchStage(
            condition: condition,
            queries: try Self.queries(in: query, allowsPrefixes: environment.isOnDevice),
            sort: try sort(environment),
            fields: try fields(environment), depth: try count("retrieval_depth"),
            offset: try count("offset") ?? 0, limit: try count("limit"))
    }

    private func count(_ name: String) throws(PipelineError) -> Int? {
        guard let option = arguments.option(name) else { return nil }
        return try arguments.count(option, as: name)
    }

    private func sort(_ environment: Environment) throws(PipelineError) -> [SortStage.Key] {
        guard let option = arguments.option("sort") else { return [] }
        guard case .array(let orderings) = option else {
            if case .map = option { return try environment.keys([option]) }
            throw .expected("ARRAY_VALUE", for: "sort", but: option)
        }
        return try environment.keys(orderings)
    }

    private func fields(_ environment: Environment) throws(PipelineError) -> [Alias] {
        guard let option = arguments.option("add_fields") else { return [] }
        let stage = Pipeline.Stage(name: "search", arguments: [option])
        return try StageArguments(stage: stage, environment: environment)
            .aliases(0, as: "add_fields")
    }

    /// Returns the texts that the documents of a query are searched for.
    private static func queries(
        in expression: Pipeline.Expression, allowsPrefixes: Bool
    ) throws(PipelineError) -> [SearchQuery] {
        guard case .function(let name, let arguments, _) = expression else { return [] }
        if name == "document_matches", case .constant(.string(let text))? = arguments.first {
            return [try SearchQuery(text, allowsPrefixes: allowsPrefixes)]
        }
        var queries: [SearchQuery] = []
        for argument in arguments {
            queries += try Self.queries(in: argument, allowsPrefixes: allowsPrefixes)
        }
        return queries
    }

    /// Returns the terms that every document contains for which a search's query is true; empty if
    /// none is known.
    static func terms(
        in query: Pipeline.Expression, allowsPrefixes: Bool
    ) -> [SearchTerm] {
        if case .constant(.string(let text)) = query {
            let query = try? SearchQuery(text, allowsPrefixes: allowsPrefixes)
            return query?.terms ?? []
        }
        guard case .function(let name, let arguments, _) = query else { return [] }
        switch name {
        case "document_matches" where arguments.count == 1:
            guard case .constant(.string) = arguments[0] else { return [] }
            return terms(in: arguments[0], allowsPrefixes: allowsPrefixes)
        case "and":
            return arguments.flatMap { argument in
                if case .function = argument {
                    return terms(in: argument, allowsPrefixes: allowsPrefixes)
                }
                return []
            }
        default: return []
        }
    }

    private func checkLanguage() throws(PipelineError) {
        guard let option = arguments.option("language_code") else { return }
        let code = try arguments.string(option, as: "language_code")
        let language = code.split(separator: "-").first.map(String.init) ?? ""
        guard Self.languages.contains(language) else {
            throw .invalid("Unknown language code: \(code)")
        }
    }

    /// The codes of ISO 639-1.
    private static let languages = Set(
        """
        aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da
        de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy
        hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg
        li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or
        os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta
        te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
        """.split { $0 == " " || $0 == "\n" }.map(String.init))
}

extension Environment {
    /// Returns the keys of orderings.
    func keys(
        _ orderings: [Pipeline.Expression]
    ) throws(PipelineError) -> [SortStage.Key] {
        var keys: [SortStage.Key] = []
        for argument in orderings {
            guard case .map(let entries) = argument else {
                throw .expected("MAP_VALUE", for: "ordering", but: argument)
            }
            var (value, isDescending): (CompiledExpression?, Bool) = (nil, false)
            for entry in entries {
                switch (entry.key, entry.value) {
                case ("expression", let expression): value = try compile(expression)
                case ("direction", .constant(.string("ascending"))): isDescending = false
                case ("direction", .constant(.string("descending"))): isDescending = true
                default: throw .invalid("An ordering has a wrong \(entry.key).")
                }
            }
            guard let value else { throw .invalid("An ordering has no expression.") }
            keys.append(SortStage.Key(value: value, isDescending: isDescending))
        }
        return keys
    }
}
