import TidemarkModel

extension Query {
    /// Decodes a query as production does: a query without `from` reads every document below
    /// `parent`.
    ///
    /// - Throws: `INVALID_ARGUMENT` or `UNIMPLEMENTED` with a sentence.
    init(parent: String, _ wire: StructuredQueryMessage, _ names: Names) throws(RPCStatus) {
        if wire.from.count > 1 {
            throw .invalidArgument("A query can have only one collection selector.")
        }
        self.init(parent: try names.parent(parent), collectionID: nil)
        allDescendants = wire.from.first?.allDescendants ?? true
        if let id = wire.from.first?.collectionID, !id.isEmpty {
            try DocumentPath.checkCollectionID(id)
            collectionID = id
        }
        filter = try wire.where?.decoded()
        orders.reserveCapacity(wire.orderBy.count)
        for order in wire.orderBy { orders.append(try order.decoded()) }
        start = try wire.startAt?.decoded()
        end = try wire.endAt?.decoded()
        try setWindow(wire)
        try setProjection(wire)
        findNearest = try wire.findNearest?.decoded()
    }

    private mutating func setWindow(_ wire: StructuredQueryMessage) throws(RPCStatus) {
        if wire.offset < 0 { throw .invalidArgument("The offset of a query cannot be negative.") }
        offset = Int(wire.offset)
        guard let count = wire.limit?.value else { return }
        if count < 0 { throw .invalidArgument("The limit of a query cannot be negative.") }
        limit = .first(Int(count))
    }

    /// A projection without fields returns all fields.
    private mutating func setProjection(_ wire: StructuredQueryMessage) throws(RPCStatus) {
        guard let select = wire.select, !select.fields.isEmpty else { return }
        var paths: [FieldPath] = []
        for field in select.fields { paths.append(try field.decoded()) }
        projection = paths
    }
}

extension OrderMessage {
    /// An order without a direction is ascending.
    func decoded() throws(RPCStatus) -> Order {
        let path = try field.decoded()
        switch direction {
        case 0, Self.ascending: return Order(path, .ascending)
        case Self.descending: return Order(path, .descending)
        default: throw .invalidArgument("An order has an unknown direction.")
        }
    }
}

extension FilterMessage {
    /// Protobuf's limit of 100 nested messages bounds the depth.
    func decoded() throws(RPCStatus) -> Filter {
        if let filter = fieldFilter {
            return .field(
                try filter.field.decoded(), try Filter.Operator(wire: filter.op),
                try Value(wire: filter.value))
        }
        if let filter = unaryFilter {
            return .unary(
                try filter.field.decoded(), try Filter.UnaryOperator(wire: filter.op))
        }
        guard let compositeFilter else { throw .invalidArgument("A filter has no kind set.") }
        return try compositeFilter.decoded()
    }
}

extension FilterMessage.Composite {
    func decoded() throws(RPCStatus) -> Filter {
        var parts: [Filter] = []
        parts.reserveCapacity(filters.count)
        for filter in filters { parts.append(try filter.decoded()) }
        switch op {
        case Self.and: return .and(parts)
        case Self.or: return .or(parts)
        default:
            // Production accepts an empty composite filter without an operator.
            if parts.isEmpty { return .and([]) }
            throw .invalidArgument("A composite filter has no operator that this server knows.")
        }
    }
}

/// The `order_by` text of ListDocuments, for example `a desc, b.c`.
enum OrderClause {
    static func encode(_ orders: [Order]) -> String {
        orders.map { $0.field.encoded + ($0.direction == .descending ? " desc" : "") }
            .joined(separator: ",")
    }

    static func decode(_ text: String) throws(RPCStatus) -> [Order] {
        if text.utf8.allSatisfy({ $0 == UInt8(ascii: " ") }) { return [] }
        var result: [Order] = []
        for part in parts(of: text) {
            guard let order = order(part) else {
                throw .invalidArgument("Invalid order by clause \"\(text)\".")
            }
            result.append(order)
        }
        return result
    }

    /// Splits the text at commas outside backticks.
    private static func parts(of text: String) -> [String] {
        var parts = [String.UnicodeScalarView()]
        var isQuoted = false
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if scalar == ",", !isQuoted {
                parts.append(String.UnicodeScalarView())
                continue
            }
            if scalar == "`", !isEscaped { isQuoted.toggle() }
            isEscaped = scalar == "\\" && isQuoted && !isEscaped
            parts[parts.count - 1].append(scalar)
        }
        return parts.map { String($0) }
    }

    private static func order(_ part: String) -> Order? {
        var rest = Substring(part).unicodeScalars
        while rest.first == " " { rest.removeFirst() }
        while rest.last == " " { rest.removeLast() }
        var direction = Direction.ascending
        for (word, meaning) in [(" asc", Direction.ascending), (" desc", .descending)]
        where String(rest.suffix(word.utf8.count)).lowercased() == word {
            direction = meaning
            rest = rest.dropLast(word.utf8.count)
            while rest.last == " " { rest.removeLast() }
            break
        }
        guard let field = try? FieldPath(encoded: String(rest)) else { return nil }
        return Order(field, direction)
    }
}
