import TidemarkModel

struct WhereStage: CompiledStage {
    let condition: CompiledExpression

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        MappedStream(input, run: outer.run) { row in
            condition.evaluate(Scope(row: row, run: outer.run)).isTrue
        }
    }
}

/// A field of a row that a stage makes.
struct Alias: Sendable {
    let path: FieldPath
    let value: CompiledExpression

    /// True if the row keeps its document because the field is one of the document's.
    var keepsName: Bool { if case .name = value { path.isDocumentID } else { false } }
}

extension [Alias] {
    /// True if a value can become part of another one, which can make values large.
    var nests: Bool { contains { $0.path.segments.count > 1 } }

    /// Returns the values for one row, the shorter paths first. Absent values have nil.
    func values(
        _ row: PipelineRow, _ run: RunState
    ) throws(PipelineError) -> [(FieldPath, Value?)] {
        let scope = Scope(row: row, run: run)
        var result: [(FieldPath, Value?)] = []
        result.reserveCapacity(count)
        for alias in self {
            result.append((alias.path, try alias.value.evaluate(scope).output()))
        }
        return result
    }
}

struct SelectStage: CompiledStage {
    let aliases: [Alias]
    /// The parts of the document that were selected under their own names.
    let keeps: PipelineRow.Parts

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        let nests = aliases.nests
        return MappedStream(input, run: outer.run) { row throws(PipelineError) in
            row = try selected(row, outer.run)
            if nests { try row.checkSize(upTo: outer.run.context.limits.valueBytes) }
            return true
        }
    }

    func selected(_ row: PipelineRow, _ run: RunState) throws(PipelineError) -> PipelineRow {
        var fields = MapValue()
        for (path, value) in try aliases.values(row, run) {
            if let value { fields[path] = value }
        }
        var result = PipelineRow(fields: fields)
        result.variables = row.variables
        if !keeps.isEmpty || row.score != nil { result.take(keeps, from: row) }
        return result
    }
}

struct AddFieldsStage: CompiledStage {
    let aliases: [Alias]

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        let nests = aliases.nests
        return MappedStream(input, run: outer.run) { row throws(PipelineError) in
            #if TIDEMARK_DEFECTS
                if PipelineDefect.planted == .siblingsSeen {
                    for alias in aliases {
                        let values = try [alias].values(row, outer.run)
                        row.change { $0[alias.path] = values[0].1 }
                    }
                    return true
                }
            #endif
            // Every expression sees the row before the stage.
            let values = try aliases.values(row, outer.run)
            row.change { fields in
                for (path, value) in values { fields[path] = value }
            }
            if nests { try row.checkSize(upTo: outer.run.context.limits.valueBytes) }
            return true
        }
    }
}

struct RemoveFieldsStage: CompiledStage {
    let paths: [FieldPath]

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        MappedStream(input, run: outer.run) { row in
            row.change { fields in for path in paths { fields[path] = nil } }
            if paths.contains(.documentID) { row.take([.createTime, .updateTime], from: row) }
            return true
        }
    }
}

/// The stage `let`: binds variables.
struct DefineStage: CompiledStage {
    let variables: [(slot: Int, value: CompiledExpression)]

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        let slots = (variables.map(\.slot).max() ?? -1) + 1
        return MappedStream(input, run: outer.run) { row in
            let scope = Scope(row: row, run: outer.run)
            while row.variables.count < slots { row.variables.append(.absent) }
            for variable in variables {
                row.variables[variable.slot] = variable.value.evaluate(scope)
            }
            return true
        }
    }
}

/// The stage `replace_with`: a map becomes the row.
struct ReplaceStage: CompiledStage {
    enum Mode: String, Sendable {
        case full = "full_replace"
        case mergeOverwriting = "merge_overwrite_existing"
        case mergeKeeping = "merge_keep_existing"
        // Another name of the same in Google's core for iOS.
        case mergePreferNest = "merge_prefer_nest"
    }

    let value: CompiledExpression
    let mode: Mode

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        MappedStream(input, run: outer.run) { row throws(PipelineError) in
            let outcome = value.evaluate(Scope(row: row, run: outer.run))
            let map: MapValue
            if outcome.isNothing {
                map = MapValue()
            } else if case .map(let fields)? = try outcome.output() {
                map = fields
            } else {
                throw .invalid("replace_with expects a map.")
            }
            row.fields = merged(row, map)
            row.dropDocument()
            return true
        }
    }

    private func merged(_ row: PipelineRow, _ map: MapValue) -> MapValue {
        if mode == .full { return map }
        let (first, second) = mode == .mergeKeeping ? (map, row.fields) : (row.fields, map)
        return MapValue((first.entries + second.entries).map { ($0.key, $0.value) })
    }
}
