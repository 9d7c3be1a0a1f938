import TidemarkModel

struct SortStage: CompiledStage {
    struct Key: Sendable {
        let value: CompiledExpression
        let isDescending: Bool
    }

    let keys: [Key]
    /// The number of rows that later stages need; nil for all.
    let limit: Int?
    /// True if the source can deliver this order. Its rows need no sort then.
    let mayBeSorted: Bool

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        if mayBeSorted, input.isSorted { return input }
        return DeferredStream { () throws(PipelineError) in
            var rows = RankedRows(stage: "sort", limit: limit, outer.run) { left, right in
                isBefore(left, right)
            }
            while let row = try input.next() {
                try outer.run.step()
                let scope = Scope(row: row, run: outer.run)
                let key = keys.map { $0.value.evaluate(scope).sortKey }
                try rows.add(row, key: key)
            }
            return rows.stream()
        }
    }

    private func isBefore(_ left: [Value], _ right: [Value]) -> Bool? {
        for (index, key) in keys.enumerated() {
            switch Value.compare(left[index], right[index]) {
            case .equal: continue
            case .ascending: return !key.isDescending
            case .descending: return key.isDescending
            }
        }
        return nil
    }
}

/// Rows in an order, all or the first ones alone. Equal rows keep their order of arrival.
///
/// If there is a limit, a heap holds no more rows than that.
struct RankedRows {
    struct Ranked {
        let row: PipelineRow
        let key: [Value]
        let arrival: Int
        let size: Int
    }

    private let limit: Int?
    private let run: RunState
    private let memory: Reservation
    /// Returns true if the left key comes first, and nil if the keys are equal.
    private let isBefore: ([Value], [Value]) -> Bool?
    /// The rows. If there is a limit, they are a heap whose first row is the last in the order.
    private var rows: [Ranked] = []
    private var arrivals = 0

    init(
        stage: String, limit: Int?, _ run: RunState,
        isBefore: @escaping ([Value], [Value]) -> Bool?
    ) {
        (self.limit, self.run, self.isBefore) = (limit, run, isBefore)
        memory = Reservation(run, stage: stage)
    }

    private func precedes(_ left: Ranked, _ right: Ranked) -> Bool {
        isBefore(left.key, right.key) ?? (left.arrival < right.arrival)
    }

    mutating func add(_ row: PipelineRow, key: [Value]) throws(PipelineError) {
        arrivals += 1
        let keySize = key.reduce(0) { $0 + $1.size(upTo: run.context.limits.valueBytes) }
        let ranked = Ranked(
            row: row, key: key, arrival: arrivals,
            size: row.size(upTo: run.context.limits.valueBytes) + keySize + 48)
        guard let limit else {
            try memory.add(ranked.size)
            rows.append(ranked)
            return
        }
        if rows.count < limit {
            try memory.add(ranked.size)
            rows.append(ranked)
            rise()
        } else if limit > 0, precedes(ranked, rows[0]) {
            memory.remove(rows[0].size)
            try memory.add(ranked.size)
            rows[0] = ranked
            sink()
        }
    }

    private mutating func rise() {
        var index = rows.count - 1
        while index > 0, precedes(rows[(index - 1) / 2], rows[index]) {
            rows.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func sink() {
        var index = 0
        while true {
            var last = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < rows.count && precedes(rows[last], rows[child]) { last = child }
            if last == index { return }
            rows.swapAt(index, last)
            index = last
        }
    }

    /// Returns the rows in order. Each row's memory is released when it is delivered.
    func stream() -> any RowStream {
        var rest = rows.sorted { precedes($0, $1) }[...]
        let memory = memory
        return GeneratedStream { () throws(PipelineError) in
            guard let next = rest.popFirst() else { return nil }
            memory.remove(next.size)
            return next.row
        }
    }
}
