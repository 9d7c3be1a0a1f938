import TidemarkModel

/// The use of an index for one alternative of a query: leading fields that are fixed, followed by
/// the orders or by a range on the next field.
struct IndexMatch {
    private let query: CompiledQuery
    private let conjunction: Conjunction
    private let definition: IndexDefinition
    private let collection: CollectionRow?

    private var prefix: [UInt8] = []
    private var fixedCount = 0
    private var rest: ArraySlice<IndexDefinition.Field> = []
    private var isOrdered = false
    private var isReversed = false

    /// Returns nil if the index may lack rows of the query.
    init?(
        _ query: CompiledQuery, conjunction: Conjunction, definition: IndexDefinition,
        collection: CollectionRow?
    ) {
        self.query = query
        self.conjunction = conjunction
        self.definition = definition
        self.collection = collection
        rest = definition.fields[...]
        takePrefix()
        if rest.contains(where: { $0.kind == .contains }) { return nil }
        matchOrders()
        if !isOrdered {
            let known = conjunction.fields + query.orders.map(\.field)
            if !rest.allSatisfy({ known.contains($0.path) }) { return nil }
        }
    }

    /// Returns the deciding orders without those of fixed fields. The name is last.
    static func restOfOrders(_ query: CompiledQuery, _ conjunction: Conjunction) -> [Order] {
        query.decidingOrders.filter { conjunction.fixedKey($0.field) == nil }
    }

    private mutating func takePrefix() {
        while let field = rest.first {
            if let direction = field.direction {
                guard let key = conjunction.fixedKey(field.path) else { return }
                prefix += direction == .ascending ? key : key.map { ~$0 }
            } else {
                guard let element = conjunction.contains.first(where: { $0.field == field.path })
                else { return }
                prefix += element.key
            }
            fixedCount += 1
            rest.removeFirst()
        }
    }

    private mutating func matchOrders() {
        let orders = Self.restOfOrders(query, conjunction)
        guard orders.count == rest.count + 1 else { return }
        let isFlipped = orders[orders.count - 1].direction != definition.name
        for (field, order) in zip(rest, orders) {
            guard field.path == order.field, (field.direction != order.direction) == isFlipped
            else { return }
        }
        isOrdered = true
        isReversed = isFlipped
    }
}

// MARK: - The range

extension IndexMatch {
    func path(_ source: AccessPath.Source) -> AccessPath? {
        var path = AccessPath(source: source, isReversed: isReversed, isOrdered: isOrdered)
        path.range = KeyRange(prefix: prefix)
        let bounded = boundByRanges(&path.range)
        let cursorsAreExact = isOrdered && boundByCursors(&path.range)
        if fixedCount == 0, !isOrdered, bounded == 0, !definition.fields.isEmpty { return nil }
        let allBounded = bounded == conjunction.intervals.count + conjunction.nameBounds.count
        let allFixed = fixedCount == conjunction.fixed.count + conjunction.contains.count
        let nothingAfterName = query.orders.count == query.decidingOrders.count
        path.isExact =
            allFixed && allBounded && cursorsAreExact && nothingAfterName
            && !conjunction.hasRemainder && (collection != nil || query.query.parent == nil)
        path.score =
            fixedCount * 8 + (isOrdered ? 4 : 0) + (bounded > 0 ? 2 : 0) + (path.isExact ? 1 : 0)
        return path
    }

    /// - Returns: The number of comparisons that the range fulfils.
    private func boundByRanges(_ range: inout KeyRange) -> Int {
        guard let field = rest.first else { return boundByNames(&range) }
        var count = 0
        for interval in conjunction.intervals where interval.field == field.path {
            bound(&range, lower: interval.lower, upper: interval.upper, direction: field.direction!)
            count += 1
        }
        return count
    }

    private func boundByNames(_ range: inout KeyRange) -> Int {
        for name in conjunction.nameBounds {
            let place = namePlace(of: name.reference)
            let everything = (Cut.before([]), Cut.after([]))
            let (lower, upper) =
                switch name.operation {
                case .lessThan: (everything.0, place.cut(isAfter: false))
                case .lessThanOrEqual: (everything.0, place.cut(isAfter: true))
                case .greaterThan: (place.cut(isAfter: true), everything.1)
                default: (place.cut(isAfter: false), everything.1)
                }
            bound(&range, lower: lower, upper: upper, direction: definition.name)
        }
        return conjunction.nameBounds.count
    }

    private func bound(
        _ range: inout KeyRange, lower: Cut, upper: Cut, direction: Direction
    ) {
        let isAscending = direction == .ascending
        range.raise(to: (isAscending ? lower : upper.inverted).prefixed(by: prefix))
        range.drop(to: (isAscending ? upper : lower.inverted).prefixed(by: prefix))
    }
}

// MARK: - Cursors

extension IndexMatch {
    /// - Returns: True if the range is exactly the one that the cursors allow.
    private func boundByCursors(_ range: inout KeyRange) -> Bool {
        var isExact = true
        if let start = query.query.start {
            let (cut, exact) = cut(start, isStart: true)
            isExact = isExact && exact
            // In a backward read, the first rows are at the upper end.
            if isReversed { range.drop(to: cut) } else { range.raise(to: cut) }
        }
        if let end = query.query.end {
            let (cut, exact) = cut(end, isStart: false)
            isExact = isExact && exact
            if isReversed { range.raise(to: cut) } else { range.drop(to: cut) }
        }
        return isExact
    }

    /// Returns the cursor's position among the keys, and whether the position expresses the cursor
    /// exactly.
    private func cut(_ cursor: Cursor, isStart: Bool) -> (Cut, isExact: Bool) {
        var head = prefix
        var fields = rest
        for (position, (order, value)) in zip(query.orders, cursor.values).enumerated() {
            if order.field.isDocumentID {
                return cutAtName(
                    value, order: order, head: head, cursor: cursor, isStart: isStart,
                    isLast: position == cursor.values.count - 1)
            }
            if let fixed = conjunction.fixedKey(order.field) {
                let key = KeyWriter.key(of: value)
                if fixed == key { continue }
                let isBefore = KeyRange.precedes(fixed, key) == (order.direction == .ascending)
                return (placed(head, isAfter: isBefore), true)
            }
            let field = fields.removeFirst()
            head += KeyWriter.key(of: value, field.direction!)
        }
        return (placed(head, isAfter: !cursor.before), true)
    }

    private func cutAtName(
        _ value: Value, order: Order, head: [UInt8], cursor: Cursor, isStart: Bool,
        isLast: Bool
    ) -> (Cut, isExact: Bool) {
        let isAscending = order.direction == .ascending
        func name(_ key: [UInt8]) -> [UInt8] {
            head + (definition.name == .ascending ? key : key.map { ~$0 })
        }
        switch namePlace(of: value) {
        case .belowAll: return (placed(head, isAfter: !isAscending), true)
        case .aboveAll: return (placed(head, isAfter: isAscending), true)
        case .justAbove(let key): return (placed(name(key), isAfter: isAscending), true)
        case .at(let key):
            // Values after the name concern at most one row, which is tested.
            let isAfter = isLast ? !cursor.before : !isStart
            return (placed(name(key), isAfter: isAfter), isLast)
        }
    }

    /// Converts a cut in the query's order to a cut in key order.
    private func placed(_ head: [UInt8], isAfter: Bool) -> Cut {
        Cut(prefix: head, isAfter: isAfter != isReversed)
    }
}

// MARK: - Names

extension IndexMatch {
    /// The position of a value among the names of an index, in ascending order.
    private enum NamePlace {
        case belowAll, aboveAll
        case at([UInt8])
        /// The position between this name and the next.
        case justAbove([UInt8])

        func cut(isAfter: Bool) -> Cut {
            switch self {
            case .belowAll: .before([])
            case .aboveAll: .after([])
            case .at(let key): Cut(prefix: key, isAfter: isAfter)
            case .justAbove(let key): .after(key)
            }
        }
    }

    private func namePlace(of value: Value) -> NamePlace {
        guard case .reference(let reference) = value else {
            let own = KeyWriter.tag(rank: Self.referenceRank)
            return KeyWriter.tag(rank: value.typeRank) < own ? .belowAll : .aboveAll
        }
        switch Comparison.bytes(reference.database.name, query.database.name) {
        case .ascending: return .belowAll
        case .descending: return .aboveAll
        case .equal: break
        }
        guard let collection else { return .at(reference.path.pathKey) }
        var writer = KeyWriter()
        writer.appendSegments(of: reference.path.text)
        let key = writer.bytes
        guard key.starts(with: collection.key) else {
            return KeyRange.precedes(key, collection.key) ? .belowAll : .aboveAll
        }
        let below = key[collection.key.count...]
        let end = below.withUnsafeBytes { KeyWriter.segment(in: $0)?.end } ?? below.count
        let name = Array(below.prefix(end))
        return end == below.count ? .at(name) : .justAbove(name)
    }

    private static let referenceRank: UInt8 = 7
}
