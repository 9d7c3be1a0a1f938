import Testing
import TestSupport
import TidemarkModel
import TidemarkServer

/// Compares the rows of random queries with those of their pipelines, on one server.
@Suite(.ownThread) struct `Queries and their pipelines on the server` {
    private struct Dice {
        var random: SeededRandom

        mutating func roll(_ count: Int) -> Int { .random(in: 0..<count, using: &random) }
        mutating func pick<T>(_ options: [T]) -> T { options[roll(options.count)] }

        mutating func fields() -> MapValue {
            var fields = MapValue()
            if roll(5) > 0 {
                fields["n"] = pick([
                    .integer(Int64(roll(5))), .double(Double(roll(8)) / 2), .null, .string("a"),
                ])
            }
            if roll(4) > 0 { fields["s"] = .string(pick(["", "a", "ab", "b"])) }
            if roll(3) > 0 {
                fields["l"] = .array((0..<roll(4)).map { _ in .integer(Int64(roll(4))) })
            }
            return fields
        }

        private mutating func filter() -> Filter {
            let n = FieldPath(name: "n")
            let s = FieldPath(name: "s")
            let number = Value.integer(Int64(roll(5)))
            return pick([
                .field(n, .equal, number), .field(n, .greaterThan, number),
                .field(n, .greaterThanOrEqual, .double(1.5)), .field(n, .lessThan, number),
                .field(n, .lessThanOrEqual, number), .field(s, .equal, .string("a")),
                .field(s, .greaterThan, .string("a")),
                .field(s, .isIn, .array([.string(""), .string("b"), .string("x")])),
                .field(FieldPath(name: "l"), .arrayContains, number),
                .or([.field(n, .equal, number), .field(s, .equal, .string("ab"))]),
            ])
        }

        mutating func query() -> Query {
            var query = Query(collectionID: "c", allDescendants: roll(4) == 0)
            let filters = (0..<roll(3)).map { _ in filter() }
            query.filter = filters.count > 1 ? .and(filters) : filters.first
            if roll(2) == 0 {
                let field = pick([FieldPath(name: "n"), FieldPath(name: "s"), .documentID])
                query.orders = [Order(field, pick([.ascending, .descending]))]
                if roll(4) == 0, !field.isDocumentID {
                    query.start = Cursor(values: [pick([.integer(2), .string("a")])], before: true)
                }
            }
            switch roll(4) {
            case 0: query.limit = .first(1 + roll(6))
            case 1 where !query.orders.isEmpty: query.limit = .last(1 + roll(6))
            case 2: query.offset = roll(3)
            default: break
            }
            return query
        }
    }

    /// A cursor of a query compares all types, and that of a pipeline one.
    private func isComparable(_ query: Query, _ documents: [MapValue]) -> Bool {
        guard let start = query.start?.values.first, let field = query.orders.first?.field else {
            return true
        }
        return documents.allSatisfy { fields in
            guard let value = fields[field] else { return true }
            return value.isNumber == start.isNumber && value != .null
        }
    }

    @Test func `have the same rows in the same order`() throws {
        var (compared, rows) = (0, 0)
        for seed in UInt64(0)..<40 {
            var dice = Dice(random: SeededRandom(seed: seed))
            let server = try TestServer.enterprise()
            let paths = (0..<24).map { "c/\($0)" } + (0..<8).map { "d/x/c/\($0)" }
            let documents = paths.map { _ in dice.fields() }
            let writes = zip(paths, documents).map { set($0, $1) }
            _ = try server.replies(.commit(CommitRequest(mutations: writes)))
            for _ in 0..<250 {
                let query = dice.query()
                guard isComparable(query, documents),
                    let wanted = try? server.query(query).compactMap(\.document)
                else { continue }
                let request = ExecutePipelineRequest(pipeline: try Pipeline(query))
                var found: [ExecutePipelineReply.Row] = []
                for case .executePipeline(let part) in try server.replies(.executePipeline(request))
                {
                    found += part.rows
                }
                try #require(
                    found.map(\.path) == wanted.map { $0.path }, "seed \(seed): \(query)")
                #expect(found.map(\.fields) == wanted.map(\.fields))
                compared += 1
                rows += wanted.count
            }
        }
        #expect(compared > 8_000 && rows > compared, "\(compared) queries, \(rows) rows")
    }
}
