import TidemarkModel

/// The facts about each document that matches one conjunction of a query's filter.
struct QueryFacts {
    /// The document's name, if the query fixes it.
    private(set) var name: ReferenceValue?
    private var root = Tree()

    /// A field and the fields inside it.
    fileprivate struct Tree {
        var exact: RulesValue?
        var knowledge = Knowledge()
        var children: [(key: String, tree: Tree)] = []

        mutating func change(_ path: ArraySlice<String>, _ body: (inout Tree) -> Void) {
            guard let key = path.first else { return body(&self) }
            let index = children.firstIndex { $0.key.hasSameBytes(as: key) }
            if index == nil { children.append((key, Tree())) }
            children[index ?? children.count - 1].tree.change(path.dropFirst(), body)
        }
    }

    /// - Parameters:
    ///   - conjunction: Comparisons that hold for every such document.
    ///   - query: The query, whose orders and cursors are facts too.
    init(_ conjunction: [Filter], of query: Query) {
        for filter in conjunction {
            switch filter {
            case .field(let field, let operation, let operand):
                note(field, operation: operation, operand: operand)
            case .unary(let field, let operation): note(field, operation)
            case .and, .or: break
            }
        }
        let orders = query.normalizedOrders
        for order in orders where !order.field.isDocumentID {
            change(order.field) { tree in
                tree.knowledge.isThere = true
                #if TIDEMARK_DEFECTS
                    if RulesDefect.planted == .orderedFieldsAreNumbers {
                        tree.knowledge.kind = .number
                    }
                #endif
            }
        }
        noteCursors(of: query, orders)
    }

    /// The value of `resource.data`.
    var data: RulesValue {
        var knowledge = Self.knowledge(of: root, at: nil)
        knowledge.kind = .map
        knowledge.isThere = true
        knowledge.isNotNull = true
        knowledge.isDocument = true
        return .known(knowledge)
    }

    private mutating func change(_ field: FieldPath, _ body: (inout Tree) -> Void) {
        root.change(field.segments[...], body)
    }

    private static func value(of tree: Tree, at field: FieldPath) -> RulesValue {
        tree.exact ?? .known(knowledge(of: tree, at: field))
    }

    private static func knowledge(of tree: Tree, at field: FieldPath?) -> Knowledge {
        var knowledge = tree.knowledge
        knowledge.field = field
        for (key, child) in tree.children {
            let path = field?.appending(key) ?? FieldPath(name: key)
            let value = value(of: child, at: path)
            knowledge.members.append((key, value))
            if knowledge.hasMember(key) {
                knowledge.kind = .map
                knowledge.isThere = true
                knowledge.isNotNull = true
            }
        }
        return knowledge
    }
}

// MARK: Filters

extension QueryFacts {
    private mutating func note(
        _ field: FieldPath, operation: Filter.Operator, operand: Value
    ) {
        if field.isDocumentID {
            if operation == .equal, case .reference(let reference) = operand { name = reference }
            return
        }
        change(field) { tree in
            tree.knowledge.isThere = true
            tree.knowledge.isNotNull = true
            switch operation {
            case .equal: tree.noteEqual(operand)
            case .notEqual: tree.knowledge.excluded.append(RulesValue(operand))
            case .notIn:
                if case .array(let values) = operand {
                    tree.knowledge.excluded += values.map { RulesValue($0) }
                }
            case .arrayContains:
                tree.knowledge.kind = .list
                if operand.isScalar || !operand.holdsNumbers {
                    tree.knowledge.elements.append(RulesValue(operand))
                }
            case .arrayContainsAny: tree.knowledge.kind = .list
            case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
                tree.noteRange(operation, RulesValue(operand))
            // Alternatives normally become conjunctions of their own; here there were too many of
            // them.
            case .isIn: break
            }
        }
    }

    private mutating func note(_ field: FieldPath, _ operation: Filter.UnaryOperator) {
        if field.isDocumentID { return }
        change(field) { tree in
            tree.knowledge.isThere = true
            switch operation {
            case .isNull: tree.exact = .null
            case .isNaN: tree.exact = .float(.nan)
            case .isNotNull, .isNotNaN: tree.knowledge.isNotNull = true
            }
        }
    }
}

extension QueryFacts.Tree {
    /// Notes an equality. A query treats `3` and `3.0` as equal; the language does not always.
    fileprivate mutating func noteEqual(_ operand: Value) {
        let value = RulesValue(operand)
        switch operand {
        case .integer, .double:
            guard !operand.isNaN else { return }
            knowledge.kind = .number
            knowledge.tighten(lower: value, isIncluded: true)
            knowledge.tighten(upper: value, isIncluded: true)
        case .array(let values) where operand.holdsNumbers:
            knowledge.kind = .list
            knowledge.elements += values.filter { $0.isScalar || !$0.holdsNumbers }
                .map { RulesValue($0) }
        case .map where operand.holdsNumbers: knowledge.kind = .map
        case .vector: knowledge.kind = .list
        case .null: break
        default: exact = value
        }
    }

    fileprivate mutating func noteRange(_ operation: Filter.Operator, _ value: RulesValue) {
        guard let kind = value.kind, !value.isNaN else { return }
        knowledge.kind = kind
        switch operation {
        case .lessThan: knowledge.tighten(upper: value, isIncluded: false)
        case .lessThanOrEqual: knowledge.tighten(upper: value, isIncluded: true)
        case .greaterThan: knowledge.tighten(lower: value, isIncluded: false)
        default: knowledge.tighten(lower: value, isIncluded: true)
        }
    }
}

extension Value {
    fileprivate var isScalar: Bool {
        switch self {
        case .array, .map, .vector: false
        default: true
        }
    }

    /// True if the value is or contains a number, because an equal value can then have another
    /// type.
    fileprivate var holdsNumbers: Bool {
        switch self {
        case .integer, .double, .vector: true
        case .array(let values): values.contains(where: \.holdsNumbers)
        case .map(let fields): fields.contains { $0.value.holdsNumbers }
        default: false
        }
    }
}

// MARK: Cursors

extension QueryFacts {
    /// Notes the cursors, which bound the first order field across all types. Two cursors of the
    /// same type exclude all other types. A cursor of the type that a filter requires bounds that
    /// type.
    private mutating func noteCursors(of query: Query, _ orders: [Order]) {
        guard let order = orders.first, !order.field.isDocumentID else { return }
        func bound(_ cursor: Cursor?, isStart: Bool) -> Knowledge.Bound? {
            guard let cursor, let value = cursor.values.first, !value.isNaN else { return nil }
            // If the cursor has more values, rows that equal the first value lie on both sides.
            let isIncluded = cursor.values.count > 1 || cursor.before == isStart
            return Knowledge.Bound(value: RulesValue(value), isIncluded: isIncluded)
        }
        let first = bound(query.start, isStart: true)
        let last = bound(query.end, isStart: false)
        let (low, high) = order.direction == .ascending ? (first, last) : (last, first)
        change(order.field) { tree in
            if let low, let high, let kind = low.value.kind, kind == high.value.kind {
                tree.knowledge.kind = kind
                tree.knowledge.isNotNull = true
            }
            guard let kind = tree.knowledge.kind else { return }
            if let low, low.value.kind == kind {
                tree.knowledge.tighten(lower: low.value, isIncluded: low.isIncluded)
            }
            if let high, high.value.kind == kind {
                tree.knowledge.tighten(upper: high.value, isIncluded: high.isIncluded)
            }
        }
    }
}

extension Knowledge {
    fileprivate mutating func tighten(lower value: RulesValue, isIncluded: Bool) {
        guard let lower else {
            lower = Bound(value: value, isIncluded: isIncluded)
            return
        }
        let order = RulesValue.order(value, lower.value)
        if order == .descending || (order == .equal && !isIncluded) {
            self.lower = Bound(value: value, isIncluded: isIncluded)
        }
    }

    fileprivate mutating func tighten(upper value: RulesValue, isIncluded: Bool) {
        guard let upper else {
            upper = Bound(value: value, isIncluded: isIncluded)
            return
        }
        let order = RulesValue.order(value, upper.value)
        if order == .ascending || (order == .equal && !isIncluded) {
            self.upper = Bound(value: value, isIncluded: isIncluded)
        }
    }
}
