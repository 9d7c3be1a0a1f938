import TidemarkModel

/// A pipeline as code for Tidemark's API, and for Google's libraries for JavaScript and Python.
struct PipelineCode {
    let pipeline: Pipeline
    let language: QueryCode.Language

    private var expressions: ExpressionCode { ExpressionCode(language: language) }
    private var values: ValueCode { ValueCode(language: language) }

    var text: QueryCode.Text {
        QueryCode.Text(language: language.rawValue, text: lines.joined(separator: "\n"))
    }

    private var lines: [String] {
        let stages = pipeline.stages.dropFirst().map { "    ." + stage($0) }
        switch language {
        case .Swift, .JavaScript: return [source] + stages
        case .Python: return ["pipeline = (", "    " + source] + stages + [")"]
        }
    }

    /// The pipeline on one line, for the arguments of stages and functions.
    var nested: String {
        source + pipeline.stages.dropFirst().map { "." + stage($0) }.joined()
    }

    // MARK: Sources

    private var source: String {
        guard let stage = pipeline.stages.first else { return "" }
        let names = stage.arguments.map { argument in
            switch argument {
            case .reference(let path), .constant(.string(let path)):
                values.quote(path.hasPrefix("/") ? String(path.dropFirst()) : path)
            default: expressions.operand(argument)
            }
        }
        if stage.name == "subcollection" {
            return switch language {
            case .Swift: "Subcollection(\(names[0]))"
            case .JavaScript: "subcollection(\(names[0]))"
            case .Python: "PipelineSource.subcollection(\(names[0]))"
            }
        }
        let root = values.literal(
            "firestore.pipeline()", script: "db.pipeline()", python: "db.pipeline()")
        switch stage.name {
        case "collection": return "\(root).collection(\(names[0]))"
        case "collection_group":
            let name = language == .Python ? "collection_group" : "collectionGroup"
            return "\(root).\(name)(\(names.last ?? ""))"
        case "documents":
            let documents = names.map { name in
                values.literal(
                    "firestore.document(\(name))", script: "doc(db, \(name))",
                    python: "db.document(\(name))")
            }.joined(separator: ", ")
            return "\(root).documents(\(language == .Python ? documents : "[\(documents)]"))"
        default: return "\(root).\(stage.name)()"
        }
    }

    // MARK: Stages

    private func stage(_ stage: Pipeline.Stage) -> String {
        let first = stage.arguments.first ?? .constant(.null)
        let name = language == .Python ? stage.name : ExpressionCode.camelCase(stage.name)
        switch stage.name {
        case "where": return "where(\(expressions.condition(first)))"
        case "limit", "offset": return "\(name)(\(expressions.operand(first)))"
        case "select", "add_fields", "distinct": return "\(name)(\(list(selections(first))))"
        case "let": return "define(\(list(selections(first))))"
        case "remove_fields": return "\(name)(\(list(stage.arguments.map(fieldName))))"
        case "sort": return "sort(\(list(stage.arguments.map(order))))"
        case "replace_with":
            let value = expressions.expression(first)
            return language == .Swift ? "replace(with: \(value))" : "\(name)(\(value))"
        case "aggregate": return aggregate(stage)
        case "union":
            guard case .pipeline(let other) = first else { return "" }
            let code = PipelineCode(pipeline: other, language: language).nested
            return language == .Swift ? "union(with: \(code))" : "union(\(code))"
        case "unnest": return unnest(stage)
        case "sample": return sample(stage)
        case "find_nearest": return findNearest(stage)
        case "search": return search(stage)
        default: return "\(name)()"
        }
    }

    /// Returns arguments, which only Swift's API has in a list.
    private func list(_ parts: [String]) -> String {
        let joined = parts.joined(separator: ", ")
        return language == .Swift ? "[\(joined)]" : joined
    }

    private func fieldName(_ field: Pipeline.Expression) -> String {
        guard case .field(let path) = field else { return "" }
        return values.quote(path)
    }

    private func entries(_ map: Pipeline.Expression) -> [Pipeline.Entry] {
        guard case .map(let entries) = map else { return [] }
        return entries
    }

    private func selections(_ map: Pipeline.Expression) -> [String] {
        entries(map).map { named($0, expressions.expression($0.value)) }
    }

    private func named(_ entry: Pipeline.Entry, _ code: String) -> String {
        if case .field(let path) = entry.value, path.hasSameBytes(as: entry.key) { return code }
        let word = language == .Python ? "as_" : "as"
        return "\(code).\(word)(\(values.quote(entry.key)))"
    }

    private func order(_ ordering: Pipeline.Expression) -> String {
        var direction = "ascending"
        var key = ""
        for entry in entries(ordering) {
            if case .constant(.string(let text)) = entry.value { direction = text }
            if entry.key == "expression" { key = expressions.expression(entry.value) }
        }
        return "\(key).\(direction)()"
    }

    private func aggregate(_ stage: Pipeline.Stage) -> String {
        let figures = entries(stage.arguments[0]).map { entry in
            named(entry, expressions.figure(entry.value))
        }
        let groups = stage.arguments.count == 2 ? selections(stage.arguments[1]) : []
        if groups.isEmpty { return "aggregate(\(list(figures)))" }
        let (all, by) = (figures.joined(separator: ", "), groups.joined(separator: ", "))
        return values.literal(
            "aggregate([\(all)], groups: [\(by)])",
            script: "aggregate({accumulators: [\(all)], groups: [\(by)]})",
            python: "aggregate(\(all), groups=[\(by)])")
    }

    private func option(_ key: String, of stage: Pipeline.Stage) -> Pipeline.Expression? {
        stage.options.first { $0.key == key }?.value
    }

    private func unnest(_ stage: Pipeline.Stage) -> String {
        let (value, alias) = (expressions.expression(stage.arguments[0]), stage.arguments[1])
        let name = fieldName(alias)
        let index = option("index_field", of: stage).map(fieldName)
        return values.literal(
            "unnest(\(value).as(\(name))" + (index.map { ", indexField: \($0)" } ?? "") + ")",
            script: "unnest(\(value).as(\(name))" + (index.map { ", \($0)" } ?? "") + ")",
            python: "unnest(\(value), alias=\(name)"
                + (index.map { ", options=UnnestOptions(\($0))" } ?? "") + ")")
    }

    private func sample(_ stage: Pipeline.Stage) -> String {
        let amount = expressions.operand(stage.arguments[0])
        guard case .constant(.string("percent")) = stage.arguments[1] else {
            return language == .Swift ? "sample(count: \(amount))" : "sample(\(amount))"
        }
        return values.literal(
            "sample(percentage: \(amount))", script: "sample({percentage: \(amount)})",
            python: "sample(SampleOptions.percentage(\(amount)))")
    }

    private func findNearest(_ stage: Pipeline.Stage) -> String {
        let (field, vector) = (stage.arguments[0], expressions.operand(stage.arguments[1]))
        guard case .constant(.string(let measure)) = stage.arguments[2] else { return "" }
        let limit = option("limit", of: stage).map(expressions.operand)
        let distance = option("distance_field", of: stage).map(fieldName)
        switch language {
        case .Swift:
            return "findNearest(field: \(expressions.expression(field)), vectorValue: \(vector), "
                + "distanceMeasure: .\(ExpressionCode.camelCase(measure))"
                + (limit.map { ", limit: \($0)" } ?? "")
                + (distance.map { ", distanceField: \($0)" } ?? "") + ")"
        case .JavaScript:
            return "findNearest({field: \(fieldName(field)), vectorValue: \(vector), "
                + "distanceMeasure: \"\(measure)\"" + (limit.map { ", limit: \($0)" } ?? "")
                + (distance.map { ", distanceField: \($0)" } ?? "") + "})"
        case .Python:
            let options = [
                limit.map { "limit=\($0)" }, distance.map { "distance_field=Field.of(\($0))" },
            ].compactMap { $0 }.joined(separator: ", ")
            return "find_nearest(\(fieldName(field)), \(vector), "
                + "DistanceMeasure.\(measure.uppercased())"
                + (options.isEmpty ? "" : ", options=FindNearestOptions(\(options))") + ")"
        }
    }

    private func search(_ stage: Pipeline.Stage) -> String {
        guard let query = option("query", of: stage) else { return "" }
        let condition =
            if case .constant(.string) = query {
                expressions.operand(query)
            } else {
                expressions.condition(query)
            }
        return values.literal(
            "search(query: \(condition))", script: "search({query: \(condition)})",
            python: "search(\(condition))")
    }
}
