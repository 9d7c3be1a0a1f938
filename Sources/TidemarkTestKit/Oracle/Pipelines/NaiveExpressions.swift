package import TidemarkModel

/// A row; nil fields for one whose making has failed.
package struct NaiveRow: Equatable {
    package var path: String?
    package var fields: MapValue?
    var variables: [String: Naive] = [:]
    /// Rows with the same rank stand together, and the pipeline leaves their order open.
    var rank = 0

    var isFailed: Bool { fields == nil }

    package static let failed = NaiveRow()

    /// Equal wherever the rows stand.
    package static func == (left: NaiveRow, right: NaiveRow) -> Bool {
        left.path == right.path && left.fields == right.fields && left.variables == right.variables
    }

    /// The row in the same place, without a result.
    var failing: NaiveRow {
        var row = NaiveRow.failed
        row.rank = rank
        return row
    }

    package init(path: String? = nil, fields: MapValue? = nil) {
        self.path = path
        self.fields = fields
    }

    init(
        path: String? = nil, fields: MapValue?, variables: [String: Naive], rank: Int = 0
    ) {
        self.init(path: path, fields: fields)
        self.variables = variables
        self.rank = rank
    }
}

extension NaivePipelines {
    func evaluate(_ expression: Pipeline.Expression, _ row: NaiveRow) -> Naive {
        switch expression {
        case .constant(let value): return .some(value)
        case .reference(let text): return .some(reference(String(text.dropFirst())))
        case .field("__name__"): return row.path.map { .some(reference($0)) } ?? .missing
        case .field(let text):
            let path = NaiveValues.path(text)
            return NaiveValues.get(path[...], row.fields!).map(Naive.some) ?? .missing
        case .variable(let name): return row.variables[name] ?? .missing
        case .array(let elements): return array(elements, row)
        case .map(let entries):
            var map = MapValue()
            for entry in entries {
                switch evaluate(entry.value, row) {
                case .missing: continue
                case .some(let value): map[entry.key] = value
                case .failed: return .failed
                }
            }
            return .some(.map(map))
        case .pipeline: preconditionFailure("only in a call")
        case .function(let name, let arguments, _): return call(name, arguments, in: row)
        }
    }

    private func reference(_ path: String) -> Value {
        .reference(ReferenceValue(database: database, path: try! DocumentPath(path)))
    }

    private func array(_ elements: [Pipeline.Expression], _ row: NaiveRow) -> Naive {
        var values: [Value] = []
        for element in elements {
            guard let value = evaluate(element, row).orNull else { return .failed }
            values.append(value)
        }
        return .some(.array(values))
    }

    private func call(
        _ name: String, _ arguments: [Pipeline.Expression], in row: NaiveRow
    ) -> Naive {
        if case .pipeline(let nested)? = arguments.first {
            return subquery(name, run(nested, outer: row))
        }
        switch name {
        case "and", "or", "nor": return connected(name, arguments, in: row)
        case "conditional":
            switch evaluate(arguments[0], row) {
            case .some(.boolean(true)): return evaluate(arguments[1], row)
            case .some(.boolean(false)), .null, .missing: return evaluate(arguments[2], row)
            default: return .failed
            }
        case "if_error":
            let first = evaluate(arguments[0], row)
            return first == .failed ? evaluate(arguments[1], row) : first
        case "if_absent":
            let first = evaluate(arguments[0], row)
            return first == .missing ? evaluate(arguments[1], row) : first
        case "coalesce":
            var result = Naive.missing
            for argument in arguments {
                let found = evaluate(argument, row)
                if !found.isNothing { return found }
                if found == .null { result = .null }
            }
            return result
        case "array": return array(arguments, row)
        case "array_filter", "array_transform": return lambda(name, arguments, in: row)
        default: return NaiveFunctions.call(name, arguments.map { evaluate($0, row) })
        }
    }

    /// Reads from left to right up to the first error or deciding value.
    private func connected(
        _ name: String, _ arguments: [Pipeline.Expression], in row: NaiveRow
    ) -> Naive {
        let deciding = name != "and"
        var result: Naive = .bool(!deciding)
        for argument in arguments {
            let found = evaluate(argument, row)
            if found.isNothing {
                result = .null
            } else if found == .bool(deciding) {
                result = found
                break
            } else if found != .bool(!deciding) {
                return .failed
            }
        }
        guard name == "nor", case .some(.boolean(let value)) = result else { return result }
        return .bool(!value)
    }

    private func subquery(_ kind: String, _ rows: [NaiveRow]) -> Naive {
        var values: [Value] = []
        for row in rows {
            guard let fields = row.fields else { return .failed }
            if kind == "scalar", !values.isEmpty { return .failed }
            let all = fields.map(\.value)
            values.append(all.count == 1 ? all[0] : .map(fields))
        }
        if kind == "array" { choices.note(order(of: rows, leavesOpen: values)) }
        return kind == "array" ? .some(.array(values)) : values.first.map(Naive.some) ?? .null
    }

    private func lambda(
        _ name: String, _ arguments: [Pipeline.Expression], in row: NaiveRow
    ) -> Naive {
        let list = evaluate(arguments[0], row)
        if list.isNothing { return .null }
        guard case .some(let value) = list, let elements = NaiveValues.list(value),
            case .constant(.string(let alias)) = arguments[1]
        else { return .failed }
        var result: [Value] = []
        for (index, element) in elements.enumerated() {
            var inner = row
            inner.variables[alias] = .some(element)
            if arguments.count == 4, case .constant(.string(let place)) = arguments[2] {
                inner.variables[place] = .int(index)
            }
            let found = evaluate(arguments[arguments.count - 1], inner)
            guard let value = found.orNull else { return .failed }
            if name == "array_transform" {
                result.append(value)
            } else if value == .boolean(true) {
                result.append(element)
            } else if value != .boolean(false), value != .null {
                return .failed
            }
        }
        return .some(.array(result))
    }
}
