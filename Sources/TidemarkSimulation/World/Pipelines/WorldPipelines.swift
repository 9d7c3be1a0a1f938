import TidemarkModel
import TidemarkTestKit

/// A pipeline that an app of a world keeps live.
struct WorldPipeline {
    let value: Pipeline
    /// True if the pipeline determines the order of its rows.
    let isOrdered: Bool
    /// The collections that the pipeline reads.
    let collections: Set<String>

    /// Returns the rows over some documents, by the tests' own evaluator.
    func rows(of documents: [Document]) -> [NaiveRow] {
        NaivePipelines(documents: documents, database: World.database).run(value).map {
            NaiveRow(path: $0.path, fields: $0.fields)
        }
    }
}

/// Makes random pipelines over the few documents of a world. None of them fails for any document.
struct WorldPipelines {
    private typealias Expression = Pipeline.Expression
    private typealias Stage = Pipeline.Stage

    var dice: SeededRandom
    private var collections: Set<String> = []
    private var isOrdered = true

    init(seed: UInt64) { dice = SeededRandom(seed: seed) }

    mutating func next() -> WorldPipeline {
        collections = []
        isOrdered = true
        let stages = dice.chance(12) ? counters() : rooms()
        return WorldPipeline(
            value: Pipeline(stages: stages), isOrdered: isOrdered, collections: collections)
    }

    private mutating func rooms() -> [Stage] {
        var stages = source() + conditions()
        if dice.chance(35) { stages += newest() }
        for _ in 0..<dice.roll(2) { stages.append(field()) }
        switch dice.roll(10) {
        case 0...3: stages += figures()
        case 4:
            isOrdered = false
            stages.append(Stage(name: "distinct", arguments: [.map([entry("g", .field("g"))])]))
        case 5: stages.append(union())
        case 6, 7: stages.append(join())
        case 8:
            stages.append(
                Stage(
                    name: "select",
                    arguments: [
                        .map([
                            entry("n", .field("n")), entry("x", .field(dice.pick(["x", "m.x"]))),
                        ])
                    ]))
        default: break
        }
        return stages
    }

    // MARK: Rows

    private mutating func source() -> [Stage] {
        collections.insert("rooms")
        switch dice.roll(10) {
        case 0:
            let named = WorldQueries.rooms.shuffled(using: &dice).prefix(3)
            return [
                Stage(name: "documents", arguments: named.map { .reference("/" + $0.text) })
            ]
        case 1:
            return [
                Stage(
                    name: "collection_group",
                    arguments: [.reference(""), .constant(.string("rooms"))])
            ]
        default: return [collection("rooms")]
        }
    }

    private func collection(_ id: String) -> Stage {
        Stage(name: "collection", arguments: [.reference("/" + id)])
    }

    private func entry(_ key: String, _ value: Expression) -> Pipeline.Entry {
        Pipeline.Entry(key: key, value: value)
    }

    private mutating func conditions() -> [Stage] {
        (0..<dice.pick([0, 0, 1, 1, 2])).map { _ in
            Stage(name: "where", arguments: [condition()])
        }
    }

    private mutating func condition(depth: Int = 1) -> Expression {
        let group = Expression.constant(.integer(Int64(dice.roll(3))))
        switch dice.roll(depth > 0 ? 10 : 7) {
        case 0, 1: return .call("equal", [.field("g"), group])
        case 2: return .call("equal_any", [.field("g"), .array([group, .constant(.integer(2))])])
        case 3: return .call("exists", [.field(dice.pick(["tags", "n", "x"]))])
        case 4: return .call("greater_than", [.field("total"), group])
        case 5:
            let mark = Expression.constant(.integer(Int64(dice.roll(4))))
            return .call("array_contains", [marks, mark])
        case 6:
            return .call(
                dice.pick(["equal", "not_equal", "less_than", "greater_than_or_equal"]),
                [.field("x"), .constant(WorldQueries.random.scalar(&dice))])
        default:
            return .call(
                dice.pick(["and", "or"]),
                [condition(depth: depth - 1), condition(depth: depth - 1)]
            )
        }
    }

    /// The marks of a room; no marks if there is none. Other values than arrays are not written.
    private var marks: Expression { .call("if_absent", [.field("marks"), .array([])]) }

    private func ordering(_ field: String, isDescending: Bool) -> Expression {
        .map([
            entry("expression", .field(field)),
            entry("direction", .constant(.string(isDescending ? "descending" : "ascending"))),
        ])
    }

    /// Returns a sort whose order is determined, and usually a limit.
    private mutating func newest() -> [Stage] {
        var stages: [Stage] = []
        if dice.chance(60) {
            stages.append(Stage(name: "where", arguments: [.call("exists", [.field("n")])]))
        }
        stages.append(
            Stage(
                name: "sort",
                arguments: [
                    ordering(dice.pick(["n", "n", "total"]), isDescending: dice.chance(60)),
                    ordering("__name__", isDescending: false),
                ]))
        if dice.chance(20) {
            stages.append(Stage(name: "offset", arguments: [.constant(.integer(1))]))
        }
        if dice.chance(80) {
            let count = Expression.constant(.integer(Int64(1 + dice.roll(3))))
            stages.append(Stage(name: "limit", arguments: [count]))
        }
        return stages
    }

    private mutating func field() -> Stage {
        let made: Expression =
            switch dice.roll(3) {
            case 0: .call("array_length", [marks])
            case 1: .call("type", [.field("x")])
            default:
                .call(
                    "conditional",
                    [
                        .call("greater_than", [.field("n"), .constant(.integer(20))]),
                        .constant(.string("late")), .field("g"),
                    ])
            }
        return Stage(name: "add_fields", arguments: [.map([entry("made", made)])])
    }

    // MARK: Figures, unions, joins

    private mutating func figures() -> [Stage] {
        isOrdered = false
        var stages: [Stage] = []
        var keys = [["g"], ["x"], [], ["g", "made"]].map { $0.map { entry($0, .field($0)) } }
        if dice.chance(30) {
            stages.append(Stage(name: "unnest", arguments: [marks, .field("mark")]))
            keys = [[entry("mark", .field("mark"))]]
        }
        var all: [Expression] = [
            .call("count", []), .call("count", [.field("x")]),
            .call("count_if", [.call("equal", [.field("g"), .constant(.integer(1))])]),
            .call("sum", [.field(dice.pick(["n", "total"]))]), .call("average", [.field("n")]),
            .call("minimum", [.field(dice.pick(["n", "x"]))]),
            .call("maximum", [.field(dice.pick(["n", "x"]))]),
            .call("count_distinct", [.field(dice.pick(["g", "x", "total"]))]),
            .call("count_distinct", [.field("g")]),
        ]
        // The order of documents without a sort is that of their names.
        if dice.chance(20) {
            all = [.call("first", [.field("n")]), .call("array_agg", [.field("g")])]
        }
        let chosen = (0..<(1 + dice.roll(3))).map { entry("f\($0)", dice.pick(all)) }
        stages.append(
            Stage(name: "aggregate", arguments: [.map(chosen), .map(dice.pick(keys))]))
        if dice.chance(25) {
            stages.append(
                Stage(
                    name: "where",
                    arguments: [.call("not_equal", [.field("f0"), .constant(.integer(1))])]))
        }
        return stages
    }

    private mutating func union() -> Stage {
        isOrdered = false
        let other = dice.pick(["rooms", "accounts", "counters"])
        collections.insert(other)
        let nested = [collection(other)] + (other == "rooms" ? conditions() : [])
        return Stage(name: "union", arguments: [.pipeline(Pipeline(stages: nested))])
    }

    /// Returns a field that is computed from other rooms for each row.
    private mutating func join() -> Stage {
        let other = dice.pick(["rooms", "accounts"])
        collections.insert(other)
        var nested = [collection(other)]
        if other == "rooms" { nested += conditions() }
        let name: Expression = .call("document_id", [.field("__name__")])
        if dice.chance(50) {
            let figure = entry("f", .call("count", []))
            nested.append(Stage(name: "aggregate", arguments: [.map([figure]), .map([])]))
            return Stage(
                name: "add_fields",
                arguments: [.map([entry("q", .call("scalar", [.pipeline(.init(stages: nested))]))])]
            )
        }
        nested.append(Stage(name: "select", arguments: [.map([entry("id", name)])]))
        return Stage(
            name: "add_fields",
            arguments: [.map([entry("q", .call("array", [.pipeline(.init(stages: nested))]))])])
    }

    /// Returns a pipeline of counters, each with the rooms of a group.
    private mutating func counters() -> [Stage] {
        collections = ["counters", "rooms"]
        let condition = Expression.call(
            "equal", [.field("g"), .call("mod", [.variable("n"), .constant(.integer(3))])])
        let nested = [
            collection("rooms"), Stage(name: "where", arguments: [condition]),
            Stage(
                name: "aggregate",
                arguments: [.map([entry("f", .call("sum", [.field("n")]))]), .map([])]),
        ]
        return [
            collection("counters"),
            Stage(name: "let", arguments: [.map([entry("n", .field("n"))])]),
            Stage(
                name: "select",
                arguments: [
                    .map([
                        entry("n", .field("n")),
                        entry("q", .call("scalar", [.pipeline(.init(stages: nested))])),
                    ])
                ]),
        ]
    }
}
