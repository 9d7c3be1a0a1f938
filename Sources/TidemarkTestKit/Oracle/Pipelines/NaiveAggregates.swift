import TidemarkModel

extension NaivePipelines {
    func aggregate(
        _ figures: [Pipeline.Entry], by keys: [Pipeline.Entry], over rows: [NaiveRow],
        outer: NaiveRow?
    ) -> [NaiveRow] {
        if rows.contains(where: \.isFailed) { return [.failed] }
        var groups: [(key: MapValue, rows: [NaiveRow])] = keys.isEmpty ? [([:], [])] : []
        for row in rows {
            var key = MapValue()
            for entry in keys {
                let found = evaluate(entry.value, row)
                if found == .failed { return [.failed] }
                if found != .missing { key[entry.key] = found.orNull }
            }
            let index = groups.firstIndex { NaiveValues.same(.map($0.key), .map(key)) }
            guard let index else {
                groups.append((key, [row]))
                continue
            }
            noteForms([.map(groups[index].key), .map(key)])
            groups[index].rows.append(row)
        }
        var result: [NaiveRow] = []
        for group in groups {
            var fields = group.key
            for figure in figures {
                guard let value = self.figure(figure.value, group.rows) else { return [.failed] }
                fields[figure.key] = value
            }
            result.append(NaiveRow(fields: fields, variables: outer?.variables ?? [:]))
        }
        return result
    }

    /// Returns nil if an argument fails.
    private func figure(_ call: Pipeline.Expression, _ rows: [NaiveRow]) -> Value? {
        guard case .function(let name, let arguments, _) = call else { return nil }
        guard let argument = arguments.first else { return .integer(Int64(rows.count)) }
        let found = rows.map { evaluate(argument, $0) }
        if name == "count_if" { return .integer(Int64(found.count { $0 == .bool(true) })) }
        if found.contains(.failed) { return nil }
        let all = found.map { $0.orNull! }
        let values = all.filter { $0 != .null }
        switch name {
        case "count": return .integer(Int64(values.count))
        case "count_distinct": return .integer(Int64(unique(values).count))
        case "array_agg", "array_agg_distinct":
            choices.note(order(of: rows, leavesOpen: all))
            if name == "array_agg" { return .array(all) }
            for value in all { noteForms(all.filter { NaiveValues.same($0, value) }) }
            return .array(unique(all))
        case "first", "last":
            let chosen = name == "first" ? rows.first?.rank : rows.last?.rank
            let candidates = zip(rows, all).filter { $0.0.rank == chosen }.map(\.1)
            choices.note(!areIdentical(candidates))
            return (name == "first" ? all.first : all.last) ?? .null
        case "minimum", "maximum":
            let order = name == "minimum" ? -1 : 1
            let found = values.reduce(nil) { best($0, $1, order: order) } ?? .null
            noteForms(values.filter { NaiveValues.same($0, found) })
            return found
        default: return sum(name, values)
        }
    }

    private func unique(_ values: [Value]) -> [Value] {
        values.reduce(into: []) { result, value in
            if !result.contains(where: { NaiveValues.same($0, value) }) { result.append(value) }
        }
    }

    private func best(_ old: Value?, _ new: Value, order: Int) -> Value {
        guard let old else { return new }
        return NaiveValues.compare(new, old) == order ? new : old
    }

    /// The generator's numbers are multiples of a half, so their sums are exact.
    private func sum(_ name: String, _ values: [Value]) -> Value {
        let reals = values.compactMap(NaiveValues.number)
        let total = reals.reduce(0, +)
        if name == "average" { return reals.isEmpty ? .null : .double(total / Double(reals.count)) }
        let wholes = values.compactMap(NaiveValues.whole)
        return wholes.count == reals.count ? .integer(Int64(total)) : .double(total)
    }
}
