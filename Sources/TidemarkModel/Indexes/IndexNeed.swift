/// The requirements of one conjunction of a query for an index: fields with a fixed value or array
/// element, in any order, followed by these orders.
package struct IndexNeed: Hashable, Sendable {
    /// A field that one comparison fixes.
    package struct Fixed: Hashable, Sendable {
        package let field: FieldPath
        /// True if the comparison fixes an element of an array.
        package let isElement: Bool
    }

    package private(set) var fixed: Set<Fixed> = []
    /// The orders, without the document's name.
    package private(set) var orders: [Order] = []
    /// Fields that only aggregations read. They follow the orders, in any sequence.
    package private(set) var summed: Set<FieldPath> = []
    /// The direction in which the document name breaks ties; nil if at most one document can match.
    package private(set) var nameDirection: Direction?

    package init(
        fixed: Set<Fixed>, orders: [Order], summed: Set<FieldPath>, nameDirection: Direction?
    ) {
        self.fixed = fixed
        self.orders = orders
        self.summed = summed
        self.nameDirection = nameDirection
    }

    package init(_ conjunction: [Filter], of query: Query, summed fields: [FieldPath]) {
        var isNameFixed = false
        for comparison in conjunction {
            guard let part = Self.fixed(by: comparison) else { continue }
            if part.field.isDocumentID { isNameFixed = true } else { fixed.insert(part) }
        }
        let all = query.normalizedOrders
        // A field with the same value in all rows does not order them.
        orders = all.filter { !$0.field.isDocumentID && !isConstant($0.field) }
        summed = Set(fields).filter { field in
            !isConstant(field) && !orders.contains { $0.field == field }
        }
        let name = all.first { $0.field.isDocumentID }
        nameDirection = isNameFixed ? nil : name?.direction ?? .ascending
    }

    private func isConstant(_ field: FieldPath) -> Bool {
        fixed.contains(Fixed(field: field, isElement: false))
    }

    private static func fixed(by comparison: Filter) -> Fixed? {
        switch comparison {
        case .field(let field, .equal, _): Fixed(field: field, isElement: false)
        case .field(let field, .arrayContains, _): Fixed(field: field, isElement: true)
        case .unary(let field, .isNull), .unary(let field, .isNaN):
            Fixed(field: field, isElement: false)
        case .field, .unary, .and, .or: nil
        }
    }

    /// The direction for appended fields: the direction of the last order.
    var direction: Direction { nameDirection ?? orders.last?.direction ?? .ascending }

    var sortedFixed: [Fixed] {
        fixed.sorted { a, b in a.field == b.field ? !a.isElement : a.field < b.field }
    }

    var sortedSummed: [FieldPath] { summed.sorted() }
}

extension IndexNeed.Fixed {
    /// The field as a part of an index, in an arbitrary direction.
    var indexed: IndexedField {
        IndexedField(field, isElement ? .contains : .ordered(.ascending))
    }

    func isServed(by part: IndexedField) -> Bool {
        guard part.path == field else { return false }
        return switch part.mode {
        case .ordered: !isElement
        case .contains: isElement
        case .vector: false
        }
    }
}

extension IndexNeed {
    /// Returns the fixed fields that an index of `parts` fixes. Returns nil if the index cannot
    /// serve this need, because it holds too few documents or has another order.
    func coverage(by parts: [IndexedField]) -> Set<Fixed>? {
        let tail = orders.count + summed.count + 1
        guard parts.count >= tail, serves(suffix: parts.suffix(tail)) else { return nil }
        var covered: Set<Fixed> = []
        for part in parts.dropLast(tail) {
            guard let match = fixed.first(where: { $0.isServed(by: part) }) else { return nil }
            covered.insert(match)
        }
        return covered
    }

    private func serves(suffix: ArraySlice<IndexedField>) -> Bool {
        var rest = suffix
        for order in orders {
            guard rest.removeFirst() == IndexedField(order.field, .ordered(order.direction)) else {
                return false
            }
        }
        let figures = rest.prefix(summed.count)
        guard Set(figures.map(\.path)) == summed,
            figures.allSatisfy({ $0.mode == .ordered(direction) })
        else { return false }
        guard let name = rest.last, name.path.isDocumentID, case .ordered(let way) = name.mode
        else { return false }
        return nameDirection.map { $0 == way } ?? true
    }

    /// Returns the composite index that serves this need alone.
    func composite(group: String, scope: IndexScope) -> CompositeIndex {
        let figures = sortedSummed.map { Order($0, direction) }
        let suffix = orders + figures + [Order(.documentID, direction)]
        return CompositeIndex(
            group: group, scope: scope,
            fields: sortedFixed.map(\.indexed)
                + suffix.map { IndexedField($0.field, .ordered($0.direction)) })
    }

    /// A single-field index, and the fixed fields that it covers.
    struct SingleField {
        let field: IndexedField
        let covers: Set<Fixed>
    }

    /// The single-field indexes that can serve this need or a part of it.
    var singleFields: [SingleField] {
        let way = direction
        switch (orders.count, summed.count) {
        case (0, 0):
            return sortedFixed.compactMap { part in
                let mode: IndexedField.Mode = part.isElement ? .contains : .ordered(way)
                let field = IndexedField(part.field, mode)
                // Entries of array elements are ordered by ascending name only.
                return serves(field) ? SingleField(field: field, covers: [part]) : nil
            }
        case (1, 0):
            let field = IndexedField(orders[0].field, .ordered(orders[0].direction))
            return serves(field) ? [SingleField(field: field, covers: [])] : []
        case (0, 1):
            let field = IndexedField(sortedSummed[0], .ordered(way))
            return [SingleField(field: field, covers: [])]
        default: return []
        }
    }

    private func serves(_ field: IndexedField) -> Bool {
        let whole = CompositeIndex(group: "", scope: .collection, fields: [field])
        return coverage(by: whole.fields) != nil
    }
}
