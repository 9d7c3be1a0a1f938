import TidemarkModel

/// The result of an aggregate function, to which values can be added and from which they can be
/// removed again, in any order.
struct LiveFigure {
    private let function: AggregateFunction
    private var count: Int64 = 0
    private var sum = ExactSum()
    private var values = ValueBag()
    private var extreme: Extreme

    /// False for functions whose result depends on the order of rows.
    static func supports(_ function: AggregateFunction) -> Bool {
        switch function {
        case .count, .countIf, .countDistinct, .sum, .average, .minimum, .maximum: true
        case .first, .last, .arrayAggregate, .arrayAggregateDistinct: false
        }
    }

    init(_ function: AggregateFunction) {
        precondition(Self.supports(function))
        self.function = function
        extreme = Extreme(isLeast: function == .minimum)
    }

    /// - Parameter value: The value; nil if absent.
    mutating func add(_ value: Value?) {
        guard let value else { return }
        switch function {
        case .sum, .average: sum.add(value)
        case .count, .countIf: if value != .null { count += 1 }
        case .countDistinct: if value != .null { _ = values.add(value) }
        case .minimum, .maximum:
            if value != .null, values.add(value) { extreme.add(value) }
        case .first, .last, .arrayAggregate, .arrayAggregateDistinct: break
        }
    }

    /// - Precondition: The value was added.
    mutating func remove(_ value: Value?) {
        guard let value else { return }
        switch function {
        case .sum, .average: sum.remove(value)
        case .count, .countIf: if value != .null { count -= 1 }
        case .countDistinct: if value != .null { _ = values.remove(value) }
        case .minimum, .maximum:
            guard value != .null, values.remove(value) else { return }
            #if TIDEMARK_DEFECTS
                if LiveDefect.planted == .extremesStay { return }
            #endif
            extreme.settle(values)
        case .first, .last, .arrayAggregate, .arrayAggregateDistinct: break
        }
    }

    var result: Value {
        switch function {
        case .count, .countIf: .integer(count)
        case .countDistinct: .integer(Int64(values.count))
        case .sum: sum.total
        case .average: sum.average
        case .minimum, .maximum: extreme.value ?? .null
        case .first, .last, .arrayAggregate, .arrayAggregateDistinct: .null
        }
    }
}

/// Values with the number of their occurrences.
private struct ValueBag {
    private var counts: [EquivalentValue: Int] = [:]

    /// The number of different values.
    var count: Int { counts.count }

    func contains(_ value: Value) -> Bool { counts[EquivalentValue(value: value)] != nil }
    /// The different values, in any order.
    var different: [Value] { counts.keys.map(\.value) }

    /// - Returns: True if the value was not there.
    mutating func add(_ value: Value) -> Bool {
        let key = EquivalentValue(value: value)
        counts[key, default: 0] += 1
        return counts[key] == 1
    }

    /// - Returns: True if this was the last occurrence.
    mutating func remove(_ value: Value) -> Bool {
        let key = EquivalentValue(value: value)
        #if TIDEMARK_DEFECTS
            if LiveDefect.planted == .distinctForgets {
                return counts.removeValue(forKey: key) != nil
            }
        #endif
        guard let count = counts[key] else { preconditionFailure("the value was not added") }
        counts[key] = count == 1 ? nil : count - 1
        return count == 1
    }
}

/// The least or the greatest of different values: a heap, in which removed values stay until they
/// come to the top, or are more than half of it.
private struct Extreme {
    private let isLeast: Bool
    private var heap: [Value] = []

    init(isLeast: Bool) { self.isLeast = isLeast }

    var value: Value? { heap.first }

    private func precedes(_ left: Value, _ right: Value) -> Bool {
        Value.compare(left, right) == (isLeast ? .ascending : .descending)
    }

    mutating func add(_ value: Value) {
        heap.append(value)
        var place = heap.count - 1
        while place > 0 {
            let parent = (place - 1) / 2
            guard precedes(heap[place], heap[parent]) else { return }
            heap.swapAt(place, parent)
            place = parent
        }
    }

    /// Drops values from the top that are no longer in the bag. Costs O(log n) on average.
    mutating func settle(_ values: ValueBag) {
        if heap.count > 2 * values.count + 16 {
            heap = []
            for value in values.different { add(value) }
        }
        while let top = heap.first, !values.contains(top) {
            let last = heap.removeLast()
            if heap.isEmpty { return }
            heap[0] = last
            sink()
        }
    }

    private mutating func sink() {
        var place = 0
        while true {
            var next = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count {
                if precedes(heap[child], heap[next]) { next = child }
            }
            if next == place { return }
            heap.swapAt(place, next)
            place = next
        }
    }
}
