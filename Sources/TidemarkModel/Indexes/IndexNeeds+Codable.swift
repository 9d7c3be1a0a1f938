// The file that a test run writes and `tidemark indexes` reads. It holds the names of collections
// and fields and the kinds of queries, but no values.

extension IndexNeeds: Codable {
    private enum Key: String, CodingKey { case needs, dropped }

    /// Encodes the needs in sorted order, so the same queries give the same file.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(
            sorted.map { WrittenNeed($0.shape, queries: $0.count) }, forKey: .needs)
        if dropped > 0 { try container.encode(dropped, forKey: .dropped) }
    }

    /// - Throws: A `DecodingError` that names the position of an invalid need.
    package init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: Key.self)
        var list = try container.nestedUnkeyedContainer(forKey: .needs)
        while !list.isAtEnd {
            let need = try list.decode(WrittenNeed.self)
            do throws(InvalidPath) { note(try need.shape, times: max(0, need.queries)) } catch {
                throw DecodingError.dataCorruptedError(
                    in: list, debugDescription: error.message)
            }
        }
        drop(try container.decodeIfPresent(Int.self, forKey: .dropped) ?? 0)
    }
}

/// The encoded form of one need.
private struct WrittenNeed: Codable {
    struct Part: Codable {
        var fieldPath: String
        var order: IndexOrder
    }

    struct Vector: Codable {
        var fieldPath: String
        var dimension: Int
    }

    enum IndexOrder: String, Codable {
        case ascending = "ASCENDING"
        case descending = "DESCENDING"

        init(_ direction: Direction) {
            self = direction == .ascending ? .ascending : .descending
        }

        var direction: Direction { self == .ascending ? .ascending : .descending }
    }

    var collectionGroup: String
    var queryScope: IndexScope
    /// Fields that a query compares with one value.
    var equal: [String]?
    /// Fields whose arrays must contain one element.
    var contains: [String]?
    var orders: [Part]?
    /// Fields that only sums and averages read.
    var summed: [String]?
    /// Missing if at most one document can match.
    var nameOrder: IndexOrder?
    var nearest: Vector?
    var queries: Int

    init(_ shape: IndexShape, queries: Int) {
        let need = shape.need
        collectionGroup = shape.group.text
        queryScope = shape.scope
        equal = Self.some(need.sortedFixed.filter { !$0.isElement }.map(\.field.encoded))
        contains = Self.some(need.sortedFixed.filter(\.isElement).map(\.field.encoded))
        orders = Self.some(
            need.orders.map {
                Part(fieldPath: $0.field.encoded, order: IndexOrder($0.direction))
            })
        summed = Self.some(need.sortedSummed.map(\.encoded))
        nameOrder = need.nameDirection.map(IndexOrder.init)
        if case .vector(let dimension)? = shape.vector?.mode, let path = shape.vector?.path {
            nearest = Vector(fieldPath: path.encoded, dimension: dimension)
        }
        self.queries = queries
    }

    private static func some<T>(_ values: [T]) -> [T]? { values.isEmpty ? nil : values }

    var shape: IndexShape {
        get throws(InvalidPath) {
            var fixed: Set<IndexNeed.Fixed> = []
            for path in equal ?? [] {
                fixed.insert(IndexNeed.Fixed(field: try FieldPath(encoded: path), isElement: false))
            }
            for path in contains ?? [] {
                fixed.insert(IndexNeed.Fixed(field: try FieldPath(encoded: path), isElement: true))
            }
            var ordered: [Order] = []
            for part in orders ?? [] {
                ordered.append(
                    Order(try FieldPath(encoded: part.fieldPath), part.order.direction))
            }
            var figures: Set<FieldPath> = []
            for path in summed ?? [] { figures.insert(try FieldPath(encoded: path)) }
            var vector: IndexedField?
            if let nearest {
                vector = IndexedField(
                    try FieldPath(encoded: nearest.fieldPath),
                    .vector(dimension: nearest.dimension))
            }
            return IndexShape(
                group: collectionGroup, scope: queryScope,
                need: IndexNeed(
                    fixed: fixed, orders: ordered, summed: figures,
                    nameDirection: nameOrder?.direction),
                vector: vector)
        }
    }
}

extension IndexScope: Codable {}
