package import TidemarkModel

extension PipelineGenerator {
    package mutating func pipeline() -> Pipeline { pipeline(nesting: 0) }

    mutating func pipeline(nesting: Int) -> Pipeline {
        var stages = [source(nesting: nesting)]
        if chance(40) { stages += indexed() }
        for _ in 0..<number(1...(nesting == 0 ? 5 : 2)) { stages.append(stage(nesting: nesting)) }
        return Pipeline(stages: stages)
    }

    /// Returns stages that a source can answer from an index.
    private mutating func indexed() -> [Pipeline.Stage] {
        let field = Pipeline.Expression.field(pick(["n", "n", "s", "a"]))
        let operation = pick([
            "equal", "less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal",
        ])
        let operand = Pipeline.Expression.constant(
            chance(75) ? .integer(Int64(number(-1...2))) : .string(text()))
        var conditions = [Pipeline.Expression.call(operation, [field, operand])]
        if chance(50) { conditions.append(.call("exists", [field])) }
        if chance(25) { conditions.append(condition()) }
        let joined = chance(20) ? "or" : "and"
        var stages = [Pipeline.Stage(name: "where", arguments: [.call(joined, conditions)])]
        if chance(60) { stages.append(sort()) }
        if chance(60) {
            let count = Pipeline.Expression.constant(.integer(Int64(number(1...4))))
            stages.append(.init(name: "limit", arguments: [count]))
        }
        return stages
    }

    private mutating func source(nesting: Int) -> Pipeline.Stage {
        if nesting == 1, chance(40) {
            return .init(name: "subcollection", arguments: [.constant(.string("s"))])
        }
        switch number(0...9) {
        case 0: return .init(name: "database")
        case 1:
            return .init(
                name: "collection_group",
                arguments: [.reference(""), .constant(.string(pick(["s", "c"])))])
        case 2:
            return .init(
                name: "documents", arguments: [.reference("/c/d2"), .reference("/c/d1")])
        case 3:
            let rows = (0..<number(1...4)).map { _ in
                Pipeline.Expression.map([
                    .init(key: "a", value: .constant(value())),
                    .init(key: "n", value: .constant(.integer(Int64(number(0...2))))),
                ])
            }
            return .init(name: "literals", arguments: rows)
        default:
            return .init(name: "collection", arguments: [.reference(pick(["/c", "/c", "/e"]))])
        }
    }

    mutating func entries(_ keys: [String]) -> Pipeline.Expression {
        var chosen = keys.filter { _ in chance(45) }
        if chosen.isEmpty { chosen = [pick(keys)] }
        return .map(chosen.map { .init(key: $0, value: expression(.any)) })
    }

    private mutating func stage(nesting: Int) -> Pipeline.Stage {
        switch number(0...14) {
        case 0, 1, 2: return .init(name: "where", arguments: [expression(.boolean)])
        case 3: return .init(name: "select", arguments: [entries(["a", "n", "m.x", "l"])])
        case 4: return .init(name: "add_fields", arguments: [entries(["a", "z", "m.y"])])
        case 5:
            return .init(name: "remove_fields", arguments: [.field(pick(["a", "m.x", "none"]))])
        case 6, 7: return sort()
        case 8:
            return .init(
                name: pick(["limit", "offset"]),
                arguments: [.constant(.integer(Int64(number(0...4))))])
        case 9:
            let groups = entries(["a", "n"])
            variables = []
            return .init(name: "distinct", arguments: [groups])
        case 10, 11: return aggregate()
        case 12: return unnest()
        case 13:
            return nesting == 0 ? nested() : .init(name: "where", arguments: [expression(.boolean)])
        default:
            if chance(50) { return .init(name: "replace_with", arguments: [expression(.map)]) }
            let value = expression(.any)
            if !variables.contains("v") { variables.append("v") }
            return .init(name: "let", arguments: [.map([.init(key: "v", value: value)])])
        }
    }

    mutating func sort() -> Pipeline.Stage {
        let orderings = (0..<number(1...2)).map { _ in
            Pipeline.Expression.map([
                .init(
                    key: "expression",
                    value: chance(60) ? .field(pick(["a", "n", "s"])) : expression(.any)),
                .init(
                    key: "direction",
                    value: .constant(.string(pick(["ascending", "descending"])))),
            ])
        }
        return .init(name: "sort", arguments: orderings)
    }

    static let figuresWithoutOrder = [
        "count", "count_if", "count_distinct", "sum", "average", "minimum", "maximum",
    ]

    mutating func aggregate(
        of names: [String] = figuresWithoutOrder
            + ["first", "last", "array_agg", "array_agg_distinct"]
    ) -> Pipeline.Stage {
        let figures = ["f1", "f2"].map { key in
            let name = pick(names)
            let argument = expression(
                name == "count_if" ? .boolean : name == "sum" ? .number : .any)
            return Pipeline.Entry(
                key: key, value: .call(name, name == "count" && chance(50) ? [] : [argument]))
        }
        let keys = ["g", "a"].filter { _ in chance(50) }.map {
            Pipeline.Entry(
                key: $0, value: chance(60) ? .field(pick(["a", "n", "b"])) : expression(.any))
        }
        variables = []
        return .init(name: "aggregate", arguments: [.map(figures), .map(keys)])
    }

    mutating func unnest() -> Pipeline.Stage {
        .init(
            name: "unnest", arguments: [expression(.list), .field("u")],
            options: chance(50) ? [.init(key: "index_field", value: .field("i"))] : [])
    }

    /// Returns a union, or fields of a subquery.
    private mutating func nested() -> Pipeline.Stage {
        let known = variables
        defer { variables = known }
        if chance(40) {
            variables = []
            return .init(name: "union", arguments: [.pipeline(pipeline(nesting: 2))])
        }
        var inner = pipeline(nesting: 1)
        let kind = pick(["array", "scalar"])
        if kind == "scalar", chance(80) {
            inner.stages.append(.init(name: "limit", arguments: [.constant(.integer(1))]))
        }
        return .init(
            name: "add_fields",
            arguments: [.map([.init(key: "q", value: .call(kind, [.pipeline(inner)]))])])
    }
}
