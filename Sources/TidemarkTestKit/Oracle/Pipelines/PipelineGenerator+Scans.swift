package import TidemarkModel

extension PipelineGenerator {
    /// Makes a pipeline of conditions, an order and a limit, as queries have them, and documents
    /// that often lack a field.
    package mutating func scan() -> (pipeline: Pipeline, documents: [Document]) {
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
            return Self.document("c/d\(id)", fields)
        }
        return (Pipeline(stages: stages), documents)
    }

    mutating func scanCondition() -> Pipeline.Expression {
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

    /// Makes a pipeline of conditions and an order on the times in `a`, some of which an index can
    /// answer.
    ///
    /// - Parameter time: A time near those of the documents.
    package mutating func times(around time: Timestamp) -> Pipeline {
        let a = Pipeline.Expression.field("a")
        var stages = [Pipeline.Stage(name: "collection", arguments: [.reference("/c")])]
        if chance(60) {
            let bound = time.advanced(by: .seconds(pick([-7_200, -3_600, -60, 0, 60])))
            let operation = pick([
                "less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal",
            ])
            let condition = Pipeline.Expression.call(operation, [a, .constant(.timestamp(bound))])
            stages.append(.init(name: "where", arguments: [condition]))
        }
        if chance(70) {
            let direction = Value.string(pick(["ascending", "descending"]))
            let order = Pipeline.Expression.map([
                .init(key: "expression", value: a),
                .init(key: "direction", value: .constant(direction)),
            ])
            stages.append(.init(name: "sort", arguments: [order]))
            if chance(60) {
                let count = Pipeline.Expression.constant(.integer(Int64(number(1...3))))
                stages.append(.init(name: "limit", arguments: [count]))
            }
        }
        if chance(30) {
            let figures = [("f1", "count"), ("f2", "minimum"), ("f3", "maximum")].map {
                Pipeline.Entry(key: $0, value: .call($1, $1 == "count" ? [] : [a]))
            }
            stages.append(.init(name: "aggregate", arguments: [.map(figures), .map([])]))
        }
        return Pipeline(stages: stages)
    }
}

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
    package mutating func figuresOfFields() -> (pipeline: Pipeline, documents: [Document]) {
        variables = []
        let chosen = (0..<number(1...4)).map { _ in pick(Self.keys) }
        let documents = (0..<number(2...14)).map { id in
            var fields = MapValue()
            for name in ["a", "ab", "b", "z"] {
                if let value = pick(chosen) { fields[name] = value }
            }
            if chance(70) { fields["n"] = .integer(Int64(number(-2...3))) }
            return Self.document("c/d\(id)", fields)
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

// MARK: - Without an order

extension PipelineGenerator {
    /// Makes a pipeline whose figures do not depend on the order of documents.
    package mutating func figures() -> Pipeline {
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
}
