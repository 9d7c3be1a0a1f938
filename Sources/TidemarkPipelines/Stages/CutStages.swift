import TidemarkModel

struct LimitStage: CompiledStage {
    let count: Int

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        var rest = count
        return GeneratedStream { () throws(PipelineError) in
            if rest == 0 { return nil }
            rest -= 1
            return try input.next()
        }
    }
}

struct OffsetStage: CompiledStage {
    let count: Int

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        var rest = count
        return GeneratedStream { () throws(PipelineError) in
            while rest > 0 {
                rest -= 1
                try outer.run.step()
                if try input.next() == nil { rest = 0 }
            }
            return try input.next()
        }
    }
}

/// The stage `distinct`: selects fields, and keeps one row of each combination of values.
struct DistinctStage: CompiledStage {
    let select: SelectStage

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        let run = outer.run
        let memory = Reservation(run, stage: "distinct")
        var seen: Set<EquivalentValue> = []
        return MappedStream(input, run: run) { row throws(PipelineError) in
            #if TIDEMARK_DEFECTS
                let whole = row
            #endif
            row = try select.selected(row, run)
            try row.checkSize(upTo: run.context.limits.valueBytes)
            row.dropDocument()
            #if TIDEMARK_DEFECTS
                if PipelineDefect.planted == .nameKept { row.take(.name, from: whole) }
            #endif
            let key = EquivalentValue(value: .map(row.fields))
            guard seen.insert(key).inserted else { return false }
            try memory.add(row.size(upTo: run.context.limits.valueBytes) + 48)
            return true
        }
    }
}

/// The stage `sample`.
struct SampleStage: CompiledStage {
    enum Amount: Sendable {
        case documents(Int)
        /// The stage keeps each row with this probability, 0 to 1.
        case fraction(Double)
    }

    let amount: Amount

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        let run = outer.run
        switch amount {
        case .fraction(let fraction):
            return MappedStream(input, run: run) { _ in run.nextFraction() < fraction }
        case .documents(let count):
            return DeferredStream { () throws(PipelineError) in
                // The rows with the least of random numbers are a fair sample in a random order.
                var rows = RankedRows(stage: "sample", limit: count, run) { left, right in
                    switch Value.compare(left[0], right[0]) {
                    case .equal: nil
                    case let order: order == .ascending
                    }
                }
                while let row = try input.next() {
                    try run.step()
                    try rows.add(row, key: [.double(run.nextFraction())])
                }
                return rows.stream()
            }
        }
    }
}

/// The stage `union`: the rows of both pipelines, one after the other.
struct UnionStage: CompiledStage {
    let other: CompiledPipeline

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        let second = DeferredStream { () throws(PipelineError) in
            try other.stream(outer: outer)
        }
        var isFirst = true
        return GeneratedStream { () throws(PipelineError) in
            if isFirst {
                if let row = try input.next() { return row }
                isFirst = false
            }
            return try second.next()
        }
    }
}

/// The stage `unnest`: one row for each element of an array.
struct UnnestStage: CompiledStage {
    let value: CompiledExpression
    let alias: FieldPath
    let index: FieldPath?

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        let run = outer.run
        var row: PipelineRow?
        var elements: [Value] = []
        var place = 0
        let nests = alias.segments.count > 1
        return GeneratedStream { () throws(PipelineError) in
            while place >= elements.count {
                guard let next = try input.next() else { return nil }
                try run.step()
                (row, elements, place) = (next, [], 0)
                let outcome = value.evaluate(Scope(row: next, run: run))
                guard case .array(let values)? = try outcome.output() else {
                    return withoutElements(next)
                }
                elements = values
            }
            guard let whole = row else { return nil }
            try run.step()
            defer { place += 1 }
            let row = with(elements[place], at: place, in: whole)
            if nests { try row.checkSize(upTo: run.context.limits.valueBytes) }
            return row
        }
    }

    /// A row without an array stays one row, whose index is null.
    private func withoutElements(_ row: PipelineRow) -> PipelineRow {
        guard let index else { return row }
        var row = row
        row.change { $0[index] = .null }
        return row
    }

    private func with(_ element: Value, at place: Int, in row: PipelineRow) -> PipelineRow {
        var row = row
        row.change { fields in
            fields[alias] = element
            if let index { fields[index] = .integer(Int64(place)) }
        }
        return row
    }
}

/// The stage `find_nearest`.
struct FindNearestStage: CompiledStage {
    let search: FindNearest
    let limit: Int?

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        let run = outer.run
        return DeferredStream { () throws(PipelineError) in
            let sign: Double = search.measure == .dotProduct ? -1 : 1
            var rows = RankedRows(stage: "find_nearest", limit: limit, run) { left, right in
                switch Value.compare(left[0], right[0]) {
                case .equal: nil
                case let order: order == .ascending
                }
            }
            while var row = try input.next() {
                try run.step()
                guard case .vector(let vector)? = row[search.field],
                    let distance = try distance(to: vector.array)
                else { continue }
                if let field = search.distanceField {
                    row.change { $0[field] = .double(distance) }
                }
                try rows.add(row, key: [.double(sign * distance)])
            }
            return rows.stream()
        }
    }

    private func distance(to vector: [Double]) throws(PipelineError) -> Double? {
        do throws(RPCStatus) { return try search.distance(to: vector) } catch {
            throw PipelineError(error.code, error.message)
        }
    }
}
