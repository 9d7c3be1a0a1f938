/// A query: the documents to read, their order, and the part to return.
public struct Query: Sendable {
    /// The document below which the collection lies; nil for the root.
    public var parent: DocumentPath?
    /// The id of the collection; nil for documents of every collection below `parent`.
    public var collectionID: String?
    /// True for a collection group: includes collections with that id at any depth below `parent`.
    public var allDescendants: Bool
    public var filter: Filter?
    /// The explicit orders. ``normalizedOrders`` includes the implicit ones.
    public var orders: [Order]
    public var start: Cursor?
    public var end: Cursor?
    /// The number of rows to skip; each is billed. Never negative.
    public var offset: Int
    public var limit: Limit?
    /// The fields to return; nil for all fields, `[.documentID]` for none.
    public var projection: [FieldPath]?
    /// Keeps the rows nearest to a vector, nearest first.
    public var findNearest: FindNearest?

    public enum Limit: Hashable, Sendable {
        case first(Int)
        /// The last rows, in the query's order. The wire form reverses the orders instead.
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

    /// The one collection that the query reads; nil for groups and recursive scans.
    public var collection: CollectionPath? {
        guard !allDescendants, let collectionID else { return nil }
        guard let parent else { return CollectionPath(unchecked: collectionID) }
        return CollectionPath(unchecked: parent.text + "/" + collectionID)
    }
}

extension Query {
    /// A text that two queries share only if they are equal: a key for stored targets, and a name
    /// in logs. Its length is about that of the query on the wire. The text is ASCII, so Swift's
    /// string equality, and therefore a dictionary, distinguishes two ids.
    ///
    /// The text omits implicit orders, and it distinguishes a limit to the last rows from a limit
    /// to the first rows. Use the id of ``wireForm`` to compare the queries that a server receives.
    public var canonicalID: String { canonicalID(orders: orders) }

    /// Returns the canonical id that the query would have with other orders.
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

    /// Omits the properties in which queries rarely differ.
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

/// A position in a query's order: values for a prefix of its orders, before or after the rows that
/// equal them.
public struct Cursor: Hashable, Sendable {
    /// The values, at most one for each normalized order. Document names are
    /// ``Value/reference(_:)``.
    public var values: [Value]
    /// True for the position before the rows with these values: `start(at:)` and `end(before:)`.
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

/// An aggregation over the rows of a query.
public struct Aggregation: Sendable {
    public enum Operator: Hashable, Sendable {
        /// Counts the rows, at most up to `upTo` if it is set.
        case count(upTo: Int64?)
        case sum(FieldPath)
        case average(FieldPath)
    }

    /// The name of the result. The server names empty aliases `field_1`, `field_2` and so on.
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
