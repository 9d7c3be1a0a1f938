/// Which documents, in which order, and which part of them.
public struct Query: Sendable {
    /// The document below which the collection lies; nil for the root.
    public var parent: DocumentPath?
    /// Nil for documents of every collection below `parent`.
    public var collectionID: String?
    /// Whether collections of that id at any depth below `parent` take part: a collection group.
    public var allDescendants: Bool
    public var filter: Filter?
    /// As the caller gave them; ``normalizedOrders`` has the implicit ones too.
    public var orders: [Order]
    public var start: Cursor?
    public var end: Cursor?
    /// Rows to skip; each is billed. Never negative.
    public var offset: Int
    public var limit: Limit?
    /// The fields to return; nil for all of them, `[.documentID]` for none.
    public var projection: [FieldPath]?
    /// Keeps the rows nearest to a vector, nearest first.
    public var findNearest: FindNearest?

    public enum Limit: Hashable, Sendable {
        case first(Int)
        /// The last rows, in the query's order. On the wire the orders are flipped instead.
        case last(Int)

        public var count: Int {
            switch self {
            case .first(let count), .last(let count): count
            }
        }
    }

    public init(
        parent: DocumentPath? = nil, collectionID: String?, allDescendants: Bool = false,
        filter: Filter? = nil, orders: [Order] = [], start: Cursor? = nil, end: Cursor? = nil,
        offset: Int = 0, limit: Limit? = nil, projection: [FieldPath]? = nil,
        findNearest: FindNearest? = nil
    ) {
        precondition(offset >= 0)
        self.parent = parent
        self.collectionID = collectionID
        self.allDescendants = allDescendants
        self.filter = filter
        self.orders = orders
        self.start = start
        self.end = end
        self.offset = offset
        self.limit = limit
        self.projection = projection
        self.findNearest = findNearest
    }

    public init(collection: CollectionPath) {
        self.init(parent: collection.parent, collectionID: collection.id)
    }

    /// The one collection the query reads; nil for groups and recursive scans.
    public var collection: CollectionPath? {
        guard !allDescendants, let collectionID else { return nil }
        guard let parent else { return CollectionPath(unchecked: collectionID) }
        return CollectionPath(unchecked: parent.text + "/" + collectionID)
    }
}

extension Query {
    /// A text that two queries share only when they are equal: a key for stored targets, and a name
    /// for logs. Costs about as many bytes as the query has on the wire. All ASCII, so that Swift's own
    /// equality of strings, and so a dictionary, tells two ids apart.
    ///
    /// Implicit orders are not written out, and a limit to the last rows is not one to the first: take
    /// the id of ``wireForm`` to know what the server is asked.
    public var canonicalID: String { canonicalID(orders: orders) }

    /// The id that it has with other orders.
    package func canonicalID(orders: [Order]) -> String {
        var text = CanonicalText()
        text.append(self, orders: orders)
        return text.escaped
    }
}

extension Query: Hashable {
    public static func == (left: Query, right: Query) -> Bool {
        left.parent == right.parent
            && left.collectionID.map(ByteString.init) == right.collectionID.map(ByteString.init)
            && left.allDescendants == right.allDescendants && left.filter == right.filter
            && left.orders == right.orders && left.start == right.start && left.end == right.end
            && left.offset == right.offset && left.limit == right.limit
            && left.projection == right.projection && left.findNearest == right.findNearest
    }

    /// Leaves out what rarely tells queries apart.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(parent)
        collectionID?.hashBytes(into: &hasher)
        hasher.combine(filter)
        hasher.combine(orders)
        hasher.combine(start)
        hasher.combine(limit)
    }
}

public enum Direction: Hashable, Sendable {
    case ascending, descending

    public var flipped: Direction { self == .ascending ? .descending : .ascending }
}

public struct Order: Hashable, Sendable {
    public var field: FieldPath
    public var direction: Direction

    public init(_ field: FieldPath, _ direction: Direction = .ascending) {
        self.field = field
        self.direction = direction
    }
}

/// A place in a query's order: values for a prefix of its orders, and on which side of what equals them.
public struct Cursor: Hashable, Sendable {
    /// At most one for each normalised order; names as ``Value/reference(_:)``.
    public var values: [Value]
    /// True for just before the rows with these values: `start(at:)` and `end(before:)`.
    public var before: Bool

    public init(values: [Value], before: Bool) {
        self.values = values
        self.before = before
    }
}

public indirect enum Filter: Hashable, Sendable {
    case field(FieldPath, Operator, Value)
    case unary(FieldPath, UnaryOperator)
    case and([Filter])
    case or([Filter])

    public enum Operator: Hashable, Sendable, CaseIterable {
        case lessThan, lessThanOrEqual, greaterThan, greaterThanOrEqual, equal, notEqual
        case arrayContains, isIn, arrayContainsAny, notIn
    }

    public enum UnaryOperator: Hashable, Sendable, CaseIterable {
        case isNaN, isNull, isNotNaN, isNotNull
    }
}

/// One figure over the rows of a query.
public struct Aggregation: Sendable {
    public enum Operator: Hashable, Sendable {
        /// Counts no further than `upTo`, when given.
        case count(upTo: Int64?)
        case sum(FieldPath)
        case average(FieldPath)
    }

    /// The name in the result; empty ones are named `field_1`, `field_2` … by the server.
    public var alias: String
    public var operation: Operator

    public init(alias: String, _ operation: Operator) {
        self.alias = alias
        self.operation = operation
    }
}

extension Aggregation: Hashable {
    public static func == (left: Aggregation, right: Aggregation) -> Bool {
        left.alias.hasSameBytes(as: right.alias) && left.operation == right.operation
    }

    public func hash(into hasher: inout Hasher) {
        alias.hashBytes(into: &hasher)
        hasher.combine(operation)
    }
}
