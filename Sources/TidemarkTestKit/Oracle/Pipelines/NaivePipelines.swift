package import TidemarkModel

/// Runs pipelines over lists. A row whose making fails stays in its place as a failed row, because
/// a later limit may leave it out.
package struct NaivePipelines {
    let documents: [Document]
    let database: DatabaseID
    let choices = NaiveChoices()

    package init(documents: [Document], database: DatabaseID) {
        self.documents = documents
        self.database = database
    }

    /// Returns the rows of a pipeline over the documents.
    package func run(_ pipeline: Pipeline) -> [NaiveRow] { run(pipeline, outer: nil) }

    func run(_ pipeline: Pipeline, outer: NaiveRow?) -> [NaiveRow] {
        var rows = source(pipeline.stages[0], outer)
        for stage in pipeline.stages.dropFirst() {
            choices.beginStage()
            rows = apply(stage, to: rows, outer: outer)
        }
        return rows
    }

    private func source(_ stage: Pipeline.Stage, _ outer: NaiveRow?) -> [NaiveRow] {
        let all = documents.sorted {
            $0.path.text.utf8.lexicographicallyPrecedes($1.path.text.utf8)
        }
        func found(_ isWanted: (String) -> Bool) -> [NaiveRow] {
            all.filter { isWanted($0.path.text) }.map {
                NaiveRow(path: $0.path.text, fields: $0.fields, variables: outer?.variables ?? [:])
            }
        }
        func collection(of path: String) -> String {
            path.split(separator: "/").dropLast().joined(separator: "/")
        }
        switch (stage.name, stage.arguments.first) {
        case ("collection", .reference(let text)?):
            return found { collection(of: $0) == text.dropFirst() }
        case ("collection_group", _):
            guard case .constant(.string(let id)) = stage.arguments[1] else { return [] }
            return found { collection(of: $0).split(separator: "/").last ?? "" == id }
        case ("database", _): return found { _ in true }
        case ("documents", _):
            return stage.arguments.flatMap { argument -> [NaiveRow] in
                guard case .reference(let text) = argument else { return [] }
                return found { $0 == text.dropFirst() }
            }
        case ("subcollection", .constant(.string(let id))?):
            guard let path = outer?.path else { return [] }
            return found { collection(of: $0) == path + "/" + id }
        default:
            let empty = NaiveRow(fields: MapValue(), variables: outer?.variables ?? [:])
            return stage.arguments.enumerated().map { rank, argument in
                guard case .some(.map(let fields)) = evaluate(argument, empty) else {
                    return .failed
                }
                return NaiveRow(fields: fields, variables: empty.variables, rank: rank)
            }
        }
    }

    private func apply(
        _ stage: Pipeline.Stage, to rows: [NaiveRow], outer: NaiveRow?
    ) -> [NaiveRow] {
        let first = stage.arguments.first
        switch stage.name {
        case "where":
            return rows.filter { row in
                row.isFailed || evaluate(first!, row) == .bool(true)
            }
        case "select", "distinct":
            let chosen = each(rows) { row in
                select(entries(first), row, keepsName: stage.name == "select")
            }
            return stage.name == "select" ? chosen : distinct(chosen)
        case "add_fields": return each(rows) { row in add(entries(first), row) }
        case "remove_fields":
            return each(rows) { row in
                var row = row
                for case .field(let text) in stage.arguments {
                    NaiveValues.set(NaiveValues.path(text)[...], in: &row.fields!, to: nil)
                }
                return row
            }
        case "let":
            return each(rows) { row in
                var result = row
                for entry in entries(first) {
                    result.variables[entry.key] = evaluate(entry.value, row)
                }
                return result
            }
        case "replace_with":
            return each(rows) { row in
                let found = evaluate(first!, row)
                guard let value = found.isNothing ? .map([:]) : found.orNull,
                    let fields = NaiveValues.fields(value)
                else { return row.failing }
                return NaiveRow(fields: fields, variables: row.variables, rank: row.rank)
            }
        case "limit":
            noteCut(rows, at: count(first))
            return Array(rows.prefix(count(first)))
        case "offset":
            noteCut(rows, at: count(first))
            let skipped = rows.prefix(count(first))
            return skipped.contains(where: \.isFailed)
                ? [.failed] : Array(rows.dropFirst(skipped.count))
        case "sort": return sort(stage.arguments.map { entries($0) }, rows)
        case "unnest": return unnest(stage, rows)
        case "union":
            guard case .pipeline(let other)? = first else { return [] }
            // The variables of the other pipeline end with it.
            let others = each(run(other, outer: outer)) { row in
                NaiveRow(path: row.path, fields: row.fields, variables: outer?.variables ?? [:])
            }
            return unordered(rows + others)
        case "aggregate":
            return aggregate(
                entries(first), by: entries(stage.arguments.dropFirst().first), over: rows,
                outer: outer)
        default: preconditionFailure("the generator makes no stage \(stage.name)")
        }
    }

    private func each(_ rows: [NaiveRow], _ change: (NaiveRow) -> NaiveRow) -> [NaiveRow] {
        rows.map { $0.isFailed ? $0 : change($0) }
    }

    private func entries(_ argument: Pipeline.Expression?) -> [Pipeline.Entry] {
        if case .map(let entries)? = argument { entries } else { [] }
    }

    private func count(_ argument: Pipeline.Expression?) -> Int {
        if case .constant(.integer(let count))? = argument { Int(count) } else { 0 }
    }

    private func add(_ entries: [Pipeline.Entry], _ row: NaiveRow) -> NaiveRow {
        var result = row
        for entry in entries {
            let found = evaluate(entry.value, row)
            if found == .failed { return row.failing }
            let value = found == .missing ? nil : found.orNull
            NaiveValues.set(NaiveValues.path(entry.key)[...], in: &result.fields!, to: value)
        }
        return result
    }

    private func select(
        _ entries: [Pipeline.Entry], _ row: NaiveRow, keepsName: Bool
    ) -> NaiveRow {
        let wanted = entries.filter { $0.key != "__name__" }
        var result = row
        result.fields = MapValue()
        for entry in wanted {
            let found = evaluate(entry.value, row)
            if found == .failed { return row.failing }
            if found != .missing {
                NaiveValues.set(
                    NaiveValues.path(entry.key)[...], in: &result.fields!, to: found.orNull)
            }
        }
        if !keepsName || wanted.count == entries.count { result.path = nil }
        return result
    }

    private func distinct(_ rows: [NaiveRow]) -> [NaiveRow] {
        var result: [NaiveRow] = []
        for row in rows {
            let known = result.first { other in
                guard let a = row.fields, let b = other.fields else { return false }
                return NaiveValues.same(.map(a), .map(b))
            }
            if let known {
                noteForms([.map(known.fields!), .map(row.fields!)])
            } else {
                result.append(row)
            }
        }
        return unordered(result)
    }

    private func sort(_ orderings: [[Pipeline.Entry]], _ rows: [NaiveRow]) -> [NaiveRow] {
        if rows.contains(where: \.isFailed) { return [.failed] }
        let keyed = rows.enumerated().map { index, row in
            let keys = orderings.map { entries -> Value in
                evaluate(entries.first { $0.key == "expression" }!.value, row).orNull ?? .null
            }
            return (keys: keys, index: index, row: row)
        }
        let sorted = keyed.sorted { left, right in
            for (place, entries) in orderings.enumerated() {
                let order = NaiveValues.compare(left.keys[place], right.keys[place])
                if order == 0 { continue }
                let isDown = entries.contains { $0.value == .constant(.string("descending")) }
                return isDown ? order > 0 : order < 0
            }
            return left.index < right.index
        }
        // Rows with the same keys come in any order.
        var rank = 0
        return sorted.indices.map { index in
            var row = sorted[index].row
            if index > 0 {
                let pairs = zip(sorted[index - 1].keys, sorted[index].keys)
                if !pairs.allSatisfy({ NaiveValues.same($0, $1) }) { rank += 1 }
            }
            row.rank = rank
            return row
        }
    }

    private func unnest(_ stage: Pipeline.Stage, _ rows: [NaiveRow]) -> [NaiveRow] {
        guard case .field(let alias) = stage.arguments[1] else { return [] }
        let index = stage.options.first.map { option -> String in
            if case .field(let name) = option.value { name } else { "" }
        }
        return ranked(rows) { row -> [NaiveRow] in
            if row.isFailed { return [row] }
            let found = evaluate(stage.arguments[0], row)
            if found == .failed { return [row.failing] }
            guard let elements = NaiveValues.list(found.orNull!) else {
                var row = row
                if let index { row.fields![index] = .null }
                return [row]
            }
            return elements.enumerated().map { place, element in
                var row = row
                NaiveValues.set(NaiveValues.path(alias)[...], in: &row.fields!, to: element)
                if let index { row.fields![index] = .integer(Int64(place)) }
                return row
            }
        }
    }
}
