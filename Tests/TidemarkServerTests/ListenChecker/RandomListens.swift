import TidemarkModel

/// Random commits and targets for a checked world. There are few documents in few places, so they
/// often concern each other.
struct RandomListens {
    var random: SeededRandom

    static let n = FieldPath(unchecked: ["n"])
    static let m = FieldPath(unchecked: ["m"])
    static let tags = FieldPath(unchecked: ["tags"])
    static let time = FieldPath(unchecked: ["time"])

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
    private mutating func number() -> Value { .integer(Int64(below(8))) }
    private mutating func word() -> Value { .string(["a", "b", "c"][below(3)]) }

    mutating func path() -> DocumentPath {
        let text =
            switch below(10) {
            case 0..<5: "c/d\(below(8))"
            case 5..<7: "c/d\(below(2))/s/x\(below(4))"
            case 7..<9: "e/d\(below(3))"
            default: "e/d0/s/x\(below(3))"
            }
        return DocumentPath(unchecked: text)
    }

    // MARK: - Commits

    /// - Parameter current: Returns the present document, which a mutation can write again without
    ///   a change.
    mutating func mutations(_ current: (DocumentPath) -> Document?) -> [Mutation] {
        let count = chance(8) ? 10 + below(10) : 1 + below(3)
        var isDeleted: [DocumentPath: Bool] = [:]
        return (0..<count).map { _ in mutation(current) }.filter { mutation in
            // A commit updates no document that it has deleted, and creates no document that it has
            // written.
            let canFollow: Bool
            switch (isDeleted[mutation.path], mutation.precondition, mutation.operation) {
            case (_, _, .delete), (nil, _, _), (_, .none, _): canFollow = true
            case (true?, .exists(true), _), (false?, .exists(false), _): canFollow = false
            default: canFollow = true
            }
            if canFollow {
                if case .delete = mutation.operation {
                    isDeleted[mutation.path] = true
                } else {
                    isDeleted[mutation.path] = false
                }
            }
            return canFollow
        }
    }

    private mutating func mutation(_ current: (DocumentPath) -> Document?) -> Mutation {
        let path = path()
        var precondition = Precondition.none
        // The precondition is rare, because a failed precondition undoes the whole commit.
        if chance(4) { precondition = .exists(chance(70)) }
        switch below(12) {
        case 0..<3: return Mutation(path: path, .delete, precondition: precondition)
        case 3:
            let fields = current(path)?.fields ?? [:]
            return Mutation(path: path, .set(fields), precondition: precondition)
        case 4..<6:
            return Mutation(
                path: path, .patch(["n": number()], mask: [Self.n, Self.m]),
                precondition: precondition)
        case 6: return Mutation(path: path, .patch([:], mask: []), transforms: transforms())
        default: return Mutation(path: path, .set(fields()), precondition: precondition)
        }
    }

    private mutating func fields() -> MapValue {
        var fields: [(String, Value)] = []
        if chance(85) { fields.append(("n", chance(8) ? .null : number())) }
        if chance(60) { fields.append(("m", word())) }
        if chance(40) { fields.append(("tags", .array((0..<below(3)).map { _ in word() }))) }
        return MapValue(fields)
    }

    private mutating func transforms() -> [FieldTransform] {
        switch below(4) {
        case 0: [FieldTransform(Self.time, .serverTimestamp)]
        case 1: [FieldTransform(Self.tags, .arrayUnion([word()]))]
        case 2: [FieldTransform(Self.tags, .arrayRemove([word()]))]
        default: [FieldTransform(Self.n, .increment(.integer(Int64(below(3) - 1))))]
        }
    }

    // MARK: - Targets

    mutating func target() -> ListenTarget.Kind {
        if chance(20) { return .documents((0..<1 + below(3)).map { _ in path() }) }
        while true {
            let query = query()
            if (try? query.validate()) != nil { return .query(query) }
        }
    }

    private mutating func query() -> Query {
        var query =
            switch below(10) {
            case 0..<5: Query(collectionID: "c")
            case 5: Query(parent: DocumentPath(unchecked: "c/d0"), collectionID: "s")
            case 6..<8: Query(collectionID: "s", allDescendants: true)
            case 8:
                Query(
                    parent: DocumentPath(unchecked: "c/d1"), collectionID: "s",
                    allDescendants: true)
            default: Query(collectionID: nil, allDescendants: true)
            }
        // Recursive scans do not support filters on fields.
        if query.collectionID == nil { return query }
        if chance(55) { query.filter = filter() }
        switch below(5) {
        case 0: query.orders = [Order(Self.n)]
        case 1: query.orders = [Order(Self.n, .descending)]
        case 2: query.orders = [Order(Self.m), Order(Self.n, .descending)]
        case 3: query.orders = [Order(.documentID, .descending)]
        default: break
        }
        if chance(45) { query.limit = .first(1 + below(4)) }
        if chance(20), !query.orders.isEmpty { query.limit = .last(1 + below(3)) }
        if chance(15) { query.offset = 1 + below(2) }
        if query.orders.first?.field == Self.n {
            if chance(25) { query.start = Cursor(values: [number()], before: chance(50)) }
            if chance(15) { query.end = Cursor(values: [number()], before: chance(50)) }
        }
        return query
    }

    private mutating func filter() -> Filter {
        switch below(10) {
        case 0: .field(Self.n, .equal, number())
        case 1: .field(Self.n, .lessThan, number())
        case 2: .field(Self.n, .greaterThanOrEqual, number())
        case 3: .field(Self.n, .notEqual, number())
        case 4: .field(Self.n, .isIn, .array([.integer(1), .integer(4), .null]))
        case 5: .field(Self.tags, .arrayContains, word())
        case 6: .field(Self.tags, .arrayContainsAny, .array([.string("a"), .string("c")]))
        case 7: .unary(Self.n, chance(50) ? .isNull : .isNotNull)
        case 8: .or([.field(Self.n, .lessThan, .integer(3)), .field(Self.m, .equal, word())])
        default: .and([.field(Self.m, .equal, word()), .field(Self.n, .greaterThan, number())])
        }
    }
}
