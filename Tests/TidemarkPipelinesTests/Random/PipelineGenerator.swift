import TidemarkModel

@testable import TidemarkPipelines

/// Makes random documents and pipelines that validate.
struct PipelineGenerator {
    private var random: SeededRandom
    private var variables: [String] = []
    private var depth = 0

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    private mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &random)
    }

    private mutating func chance(_ percent: Int) -> Bool { number(1...100) <= percent }

    private mutating func pick<T>(_ choices: [T]) -> T { choices.randomElement(using: &random)! }

    // MARK: Values

    private mutating func value(depth: Int = 0) -> Value {
        switch number(0...(depth < 2 ? 15 : 10)) {
        case 0: .null
        case 1: .boolean(chance(50))
        case 2, 3, 4: .integer(Int64(number(-2...3)))
        case 5, 6: .double(Double(number(-4...6)) / 2)
        case 7: .double(pick([.nan, .infinity, -0.0]))
        case 8, 9: .string(text())
        case 10: .timestamp(Timestamp(seconds: Int64(number(0...2)), nanoseconds: 0))
        case 11, 12: .array((0..<number(0...3)).map { _ in value(depth: depth + 1) })
        case 13, 14: .map(map(depth: depth + 1))
        default: .vector(VectorValue((0..<number(1...2)).map { _ in Double(number(0...1)) }))
        }
    }

    private mutating func text() -> String { pick(["", "a", "b", "ab", "ba", "a,b"]) }

    private mutating func map(depth: Int) -> MapValue {
        MapValue((0..<number(0...2)).map { _ in (pick(["x", "y"]), value(depth: depth)) })
    }

    mutating func documents() -> [Document] {
        var paths = ["c/d1", "c/d2", "c/d3", "c/d4", "c/d5", "e/d1", "e/d2"]
        paths += ["c/d1/s/k1", "c/d1/s/k2", "c/d3/s/k1"]
        return paths.filter { _ in chance(85) }.map { document($0, fields()) }
    }

    private mutating func fields() -> MapValue {
        var fields = MapValue()
        if chance(80) { fields["a"] = value() }
        if chance(80) { fields["n"] = .integer(Int64(number(-2...3))) }
        if chance(60) { fields["n"] = .double(Double(number(-4...6)) / 2) }
        if chance(80) { fields["s"] = .string(text()) }
        if chance(70) { fields["l"] = .array((0..<number(0...3)).map { _ in value(depth: 1) }) }
        if chance(70) { fields["m"] = .map(map(depth: 1)) }
        if chance(70) { fields["b"] = chance(20) ? .null : .boolean(chance(50)) }
        return fields
    }

    // MARK: Expressions

    private enum Kind: CaseIterable { case any, boolean, number, text, list, map }

    private mutating func expression(_ kind: Kind) -> Pipeline.Expression {
        depth += 1
        defer { depth -= 1 }
        // Some arguments have any type, so that type errors occur too.
        let kind = chance(4) ? pick(Kind.allCases) : kind
        if depth > 3 || chance(35) { return leaf(kind) }
        if chance(12) { return choice(kind) }
        switch kind {
        case .any: return expression(pick([.boolean, .number, .text, .list, .map]))
        case .boolean: return condition()
        case .number: return ofNumbers()
        case .text: return ofTexts()
        case .list: return ofLists()
        case .map:
            let map = expression(.map)
            let key = Pipeline.Expression.constant(.string(pick(["x", "y"])))
            return chance(60)
                ? .call("map_set", [map, key, expression(.any)])
                : .map([Pipeline.Entry(key: "x", value: expression(.any))])
        }
    }

    private mutating func leaf(_ kind: Kind) -> Pipeline.Expression {
        if chance(25), let name = variables.randomElement(using: &random) { return .variable(name) }
        if chance(60) {
            let names: [String] =
                switch kind {
                case .any: ["a", "a", "m.x", "none", "n", "s"]
                case .boolean: ["b"]
                case .number: ["n"]
                case .text: ["s"]
                case .list: ["l"]
                case .map: ["m"]
                }
            return .field(pick(names))
        }
        switch kind {
        case .any: return .constant(value())
        case .boolean: return .constant(.boolean(chance(50)))
        case .number: return .constant(chance(60) ? .integer(Int64(number(-2...3))) : .double(1.5))
        case .text: return .constant(.string(text()))
        case .list: return .array((0..<number(0...2)).map { _ in expression(.any) })
        case .map: return .constant(.map(map(depth: 1)))
        }
    }

    /// Returns an expression of any kind that chooses among others, or reads a part.
    private mutating func choice(_ kind: Kind) -> Pipeline.Expression {
        switch number(0...7) {
        case 0: .call("conditional", [expression(.boolean), expression(kind), expression(kind)])
        case 1: .call("if_error", [expression(kind), expression(kind)])
        case 2: .call("if_absent", [expression(kind), expression(kind)])
        case 3: .call("coalesce", [expression(kind), expression(kind)])
        case 4: .call("map_get", [expression(.map), .constant(.string(pick(["x", "y"])))])
        case 5: .call("array_get", [expression(.list), expression(.number)])
        case 6: .call(pick(["maximum", "minimum"]), [expression(kind), expression(kind)])
        default: .call("array_first", [expression(.list)])
        }
    }

    private mutating func condition() -> Pipeline.Expression {
        switch number(0...9) {
        case 0, 1: .call(pick(["equal", "not_equal"]), [expression(.any), expression(.any)])
        case 2, 3:
            .call(
                pick(["less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal"]),
                [expression(.number), expression(.any)])
        case 4, 5:
            .call(pick(["and", "or", "xor", "nor"]), [expression(.boolean), expression(.boolean)])
        case 6: .call(pick(["not", "is_error", "exists", "is_absent"]), [expression(.boolean)])
        case 7: .call(pick(["equal_any", "not_equal_any"]), [expression(.any), expression(.list)])
        case 8: .call("array_contains", [expression(.list), expression(.any)])
        default:
            chance(50)
                ? .call(
                    pick(["array_contains_any", "array_contains_all"]),
                    [expression(.list), expression(.list)])
                : .call(
                    pick(["starts_with", "string_contains"]),
                    [expression(.text), expression(.text)])
        }
    }

    private mutating func ofNumbers() -> Pipeline.Expression {
        switch number(0...4) {
        case 0, 1:
            .call(
                pick(["add", "subtract", "divide", "mod"]),
                [expression(.number), expression(.number)])
        case 2: .call(pick(["abs", "floor", "ceil"]), [expression(.number)])
        case 3: .call(pick(["cmp"]), [expression(.any), expression(.any)])
        default:
            chance(50)
                ? .call("array_length", [expression(.list)])
                : .call("char_length", [expression(.text)])
        }
    }

    private mutating func ofTexts() -> Pipeline.Expression {
        switch number(0...3) {
        case 0: .call("string_concat", [expression(.text), expression(.text)])
        case 1: .call(pick(["to_upper", "reverse"]), [expression(.text)])
        case 2: .call("substring", [expression(.text), expression(.number)])
        default: .call("type", [expression(.any)])
        }
    }

    private mutating func ofLists() -> Pipeline.Expression {
        switch number(0...5) {
        case 0: .call("array_concat", [expression(.list), expression(.list)])
        case 1: .call("array_reverse", [expression(.list)])
        case 2: .call("split", [expression(.text), .constant(.string(pick([",", "a", ""])))])
        case 3, 4: lambda()
        default: .call("array", [expression(.any), expression(.any)])
        }
    }

    private mutating func lambda() -> Pipeline.Expression {
        let list = expression(.list)
        let (element, index) = ("e\(depth)", "i\(depth)")
        variables.append(element)
        defer { variables.removeAll { $0 == element || $0 == index } }
        if chance(50) {
            let body = expression(.boolean)
            return .call("array_filter", [list, .constant(.string(element)), body])
        }
        variables.append(index)
        let body = expression(.any)
        return .call(
            "array_transform",
            [list, .constant(.string(element)), .constant(.string(index)), body])
    }
}

// MARK: - Stages

extension PipelineGenerator {
    mutating func pipeline(nesting: Int = 0) -> Pipeline {
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

    private mutating func entries(_ keys: [String]) -> Pipeline.Expression {
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

    private mutating func sort() -> Pipeline.Stage {
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

    private static let figuresWithoutOrder = [
        "count", "count_if", "count_distinct", "sum", "average", "minimum", "maximum",
    ]

    private mutating func aggregate(
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

    private mutating func unnest() -> Pipeline.Stage {
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

// MARK: - Scans

extension PipelineGenerator {
    /// Makes a pipeline of conditions, an order and a limit, as queries have them, and documents
    /// that often lack a field.
    mutating func scan() -> (pipeline: Pipeline, documents: [Document]) {
        var stages = [Pipeline.Stage(name: "collection", arguments: [.reference("/c")])]
        for _ in 0..<number(0...2) {
            var conditions = (0..<number(1...2)).map { _ in scanCondition() }
            if conditions.count == 2 {
                conditions = [.call(pick(["and", "and", "and", "or"]), conditions)]
            }
            stages.append(.init(name: "where", arguments: conditions))
        }
        if chance(40) {
            stages.append(
                .init(
                    name: "sort",
                    arguments: (0..<number(1...2)).map { _ in
                        let direction = Value.string(pick(["ascending", "descending"]))
                        return .map([
                            .init(key: "expression", value: .field(pick(["n", "s", "a", "b"]))),
                            .init(key: "direction", value: .constant(direction)),
                        ])
                    }))
        }
        for (name, percent) in [("offset", 10), ("limit", 25)] where chance(percent) {
            stages.append(.init(name: name, arguments: [.constant(.integer(Int64(number(0...3))))]))
        }
        let documents = (0..<8).map { id in
            var fields = MapValue()
            for name in ["n", "s", "a", "b"] {
                var values: [Value?] = [nil, nil, .null, .boolean(true), .double(.nan)]
                for _ in 0..<4 {
                    values.append(
                        name == "s" ? .string(text()) : .integer(Int64(number(-1...3))))
                }
                if let value = pick(values) { fields[name] = value }
            }
            return document("c/d\(id)", fields)
        }
        return (Pipeline(stages: stages), documents)
    }

    private mutating func scanCondition() -> Pipeline.Expression {
        let name = pick(["n", "n", "s", "a", "b"])
        let field = Pipeline.Expression.field(name)
        if chance(35) { return .call("exists", [field]) }
        let operation = pick([
            "equal", "less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal",
        ])
        let isText = (name == "s") != chance(10)
        let operand = isText ? Value.string(text()) : .integer(Int64(number(-1...3)))
        return .call(operation, [field, .constant(operand)])
    }
}

// MARK: - Figures of fields

extension PipelineGenerator {
    /// Values of which several are equal, though they are encoded differently.
    private static let keys: [Value?] = [
        nil, .null, .integer(1), .double(1), .integer(0), .double(0), .double(-0.0), .double(.nan),
        .string("1"), .string(""), .boolean(true), .array([.integer(1)]), .array([.double(1)]),
        .array([.array([.double(-0.0)])]), .array([.array([.integer(0)])]),
        .map(["x": .integer(1)]), .map(["x": .double(1)]), .map(["x": .null]), .map([:]),
        .vector(VectorValue([1])), .timestamp(Timestamp(seconds: 1, nanoseconds: 0)),
    ]

    /// Makes an aggregation of fields alone, and documents for its groups.
    mutating func figuresOfFields() -> (pipeline: Pipeline, documents: [Document]) {
        variables = []
        let chosen = (0..<number(1...4)).map { _ in pick(Self.keys) }
        let documents = (0..<number(2...14)).map { id in
            var fields = MapValue()
            for name in ["a", "ab", "b", "z"] {
                if let value = pick(chosen) { fields[name] = value }
            }
            if chance(70) { fields["n"] = .integer(Int64(number(-2...3))) }
            return document("c/d\(id)", fields)
        }
        let names = [
            "count", "count_if", "count_distinct", "sum", "average", "minimum", "maximum", "first",
            "last", "array_agg", "array_agg_distinct",
        ]
        let figures = (0..<number(1...3)).map { index in
            let name = pick(names)
            let isOfRows = name == "count" && chance(40)
            let argument = Pipeline.Expression.field(pick(["n", "a", "b", "z", "aa"]))
            return Pipeline.Entry(key: "f\(index)", value: .call(name, isOfRows ? [] : [argument]))
        }
        let keys = ["a", "ab", "b", "none"].filter { _ in chance(45) }.map {
            Pipeline.Entry(key: $0, value: .field($0))
        }
        var stages = [Pipeline.Stage(name: "collection", arguments: [.reference("/c")])]
        if chance(50) {
            let condition = chance(60) ? scanCondition() : expression(.boolean)
            stages.append(.init(name: "where", arguments: [condition]))
        }
        stages.append(.init(name: "aggregate", arguments: [.map(figures), .map(keys)]))
        return (Pipeline(stages: stages), documents)
    }
}

// MARK: - Live

extension PipelineGenerator {
    /// Makes a pipeline whose figures do not depend on the order of documents.
    mutating func figures() -> Pipeline {
        var stages = [
            Pipeline.Stage(name: "collection", arguments: [.reference("/c")])
        ]
        for _ in 0..<number(0...2) {
            switch number(0...5) {
            case 0, 1: stages.append(.init(name: "where", arguments: [expression(.boolean)]))
            case 2: stages.append(.init(name: "add_fields", arguments: [entries(["a", "z"])]))
            case 3: stages.append(unnest())
            case 4: stages.append(sort())
            default:
                let value = expression(.any)
                variables.append("v")
                stages.append(
                    .init(name: "let", arguments: [.map([.init(key: "v", value: value)])]))
            }
        }
        stages.append(aggregate(of: Self.figuresWithoutOrder))
        if chance(30) {
            let condition = Pipeline.Expression.call(
                "not_equal", [.field("f1"), .constant(.integer(Int64(number(0...2))))])
            stages.append(.init(name: "where", arguments: [condition]))
        }
        return Pipeline(stages: stages)
    }

    /// Returns a document with new fields, or the path of a removed document.
    mutating func change() -> LivePipeline.Change {
        let paths = ["c/d1", "c/d2", "c/d3", "c/d4", "c/d5", "e/d1", "c/d1/s/k1"]
        let path = pick(paths)
        return chance(70)
            ? .set(document(path, fields())) : .remove(try! DocumentPath(path))
    }
}
