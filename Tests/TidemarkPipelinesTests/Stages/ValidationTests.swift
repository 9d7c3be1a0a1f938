import Testing
import TidemarkModel

@testable import TidemarkPipelines

struct `A pipeline that is refused` {
    private func message(_ lines: String) -> String {
        message(pipeline(lines))
    }

    private func message(_ pipeline: Pipeline, limits: PipelineLimits = .production) -> String {
        do throws(PipelineError) {
            _ = try pipeline.validated(in: testDatabase, limits: limits)
            return "accepted"
        } catch {
            #expect(error.code == .invalidArgument)
            return error.message
        }
    }

    @Test(arguments: [
        ("fold ref'/a'", "Unknown stage: fold"),
        ("collection ref'/a'\nfold x", "Unknown stage: fold"),
        ("where true", "A pipeline cannot start with the stage where."),
        ("collection ref'/a'\ncollection ref'/b'", "only at the start"),
        ("collection ref'/a'\nwhere zip(a)", "Unknown function: zip"),
        ("collection ref'/a'\nwhere equal(a)", "Function equal expects 2 arguments, but got 1."),
        (
            "collection ref'/a'\nwhere and()",
            "Function and expects at least 1 argument, but got 0."
        ),
        ("collection ref'/a'\nwhere $x", "unknown variable: x"),
        ("collection ref'/a'\nwhere array_filter(a, b, true)", "to be STRING_VALUE, but was FIELD"),
        (
            "collection ref'/a'\nselect a",
            "Expected fields to be MAP_VALUE, but was FIELD_REFERENCE_VALUE."
        ),
        ("collection 'a'", "Expected collection to be REFERENCE_VALUE, but was STRING_VALUE."),
        ("collection ref'/a/b'", "names a document"),
        ("collection ref'projects/q/databases/(default)/documents/a'", "another database"),
        ("collection_group ref'', 'a/b'", "is no id"),
        ("documents ref'/a/b', ref'/a/b'", "twice"),
        ("subcollection 'a'", "start of a nested pipeline"),
        ("literals 1", "Expected literals to be MAP_VALUE, but was INTEGER_VALUE."),
        ("collection ref'/a'\nlimit -1", "limit must be non-negative, but was -1."),
        ("collection ref'/a'\nlimit 'x'", "Expected limit to be INTEGER_VALUE"),
        ("collection ref'/a'\nlimit 1 | {x: 1}", "has no option \"x\""),
        ("collection ref'/a'\naggregate {}", "requires at least one accumulator"),
        ("collection ref'/a'\naggregate {n: median(a)}", "Unknown aggregate function: median"),
        ("collection ref'/a'\naggregate {n: sum()}", "expects 1 argument"),
        ("collection ref'/a'\nsort a", "Expected ordering to be MAP_VALUE"),
        ("collection ref'/a'\nsort {expression: a, direction: 'up'}", "wrong direction"),
        ("collection ref'/a'\nsample 2.0, 'percent'", "from 0 to 1"),
        ("collection ref'/a'\nfind_nearest v, vec[1], 'taxi'", "Unknown distance measure: taxi"),
        ("collection ref'/a'\nreplace_with a, 'half'", "Unknown mode of replace_with: half"),
        ("collection ref'/a'\nadd_fields {__name__: 1}", "reserved"),
        ("collection ref'/a'\nwhere a..b", "is no field path"),
    ])
    func `says why`(lines: String, text: String) {
        #expect(message(lines).contains(text), "\(message(lines))")
    }

    @Test func `has too many stages, expressions, variables, or too deep ones`() {
        let limit = Pipeline.Stage(name: "limit", arguments: [.constant(.integer(1))])
        let start = pipeline("literals {a: 1}").stages
        let long = Pipeline(stages: start + Array(repeating: limit, count: 1_000))
        #expect(message(long) == "A pipeline may have at most 200 stages.")
        let fits = Pipeline(stages: start + Array(repeating: limit, count: 199))
        #expect(message(fits) == "accepted")

        var deep = Pipeline.Expression.field("a")
        for _ in 0..<1_000 { deep = .call("not", [deep]) }
        let stage = Pipeline.Stage(name: "where", arguments: [deep])
        #expect(
            message(Pipeline(stages: start + [stage]))
                == "The expressions of a pipeline may be nested at most 100 levels deep.")

        var nested = pipeline("literals {a: 1}")
        for _ in 0..<25 {
            let field = Pipeline.Entry(key: "a", value: .call("array", [.pipeline(nested)]))
            nested = Pipeline(
                stages: start + [.init(name: "select", arguments: [.map([field])])])
        }
        #expect(message(nested).contains("at most 20 levels deep"))

        let wide = Pipeline.Expression.array(Array(repeating: .constant(.null), count: 100_001))
        #expect(
            message(Pipeline(stages: start + [.init(name: "where", arguments: [wide])]))
                == "A pipeline may have at most 100000 expressions.")
        let names = (0..<101).map { Pipeline.Entry(key: "v\($0)", value: .field("a")) }
        #expect(
            message(Pipeline(stages: start + [.init(name: "let", arguments: [.map(names)])]))
                == "A pipeline may define at most 100 variables.")
    }

    @Test func `accepted ones name their sources, and what they do`() throws {
        let union = Pipeline.Stage(name: "union", arguments: [.pipeline(pipeline("database"))])
        let first = try Pipeline(stages: pipeline("collection ref'/a'").stages + [union])
            .validated(in: testDatabase)
        #expect(first.sources == [.collection(try CollectionPath("a")), .database])
        #expect(first.isDeterministic && first.write == nil)
        let second = try pipeline("database\nsample 1, 'documents'\ndelete")
            .validated(in: testDatabase)
        #expect(!second.isDeterministic && second.write == .delete)
    }

    @Test func `hints notify the source which documents are needed`() throws {
        let scan = try pipeline(
            """
            collection ref'/a' | {force_index: 'primary'}
            where and(exists(n), greater_than(n, 1), or(equal(s, 'x'), equal(s, 'y')))
            where exists(t)
            sort {expression: n, direction: 'descending'}, {expression: __name__}
            offset 2
            limit 3
            """
        ).validated(in: testDatabase).firstScan!
        let n = FieldPath(name: "n")
        let s = FieldPath(name: "s")
        #expect(scan.forceIndex == "primary")
        #expect(
            scan.filter
                == .and([
                    .field(n, .greaterThan, .integer(1)),
                    .or([.field(s, .equal, .string("x")), .field(s, .equal, .string("y"))]),
                ]))
        #expect(scan.orders == [Order(n, .descending), Order(.documentID)])
        // `exists(t)` is no filter, so a limit could cut too early.
        #expect(scan.limit == nil)
        let exact = try pipeline(
            "collection ref'/a'\nwhere exists(n)\nsort {expression: n}\nlimit 3"
        )
        .validated(in: testDatabase).firstScan!
        #expect(exact.orders == [Order(n)] && exact.limit == 3 && exact.filter == nil)
        // Documents without the field come first in this order, and an index lacks them.
        let all = try pipeline("collection ref'/a'\nsort {expression: n}\nlimit 3")
            .validated(in: testDatabase).firstScan!
        #expect(all.orders.isEmpty && all.limit == nil)
    }

    @Test(arguments: [
        ("", true),
        ("limit 3", true),
        ("limit 0", false),
        ("offset 1\nlimit 3", false),
        ("limit 3\nlimit 2", false),
        ("where equal(n, 1)", true),
        ("where greater_than(n, 1)\nwhere equal(s, 'x')\nsort {expression: n}\nlimit 3", true),
        ("where exists(n)\nsort {expression: n}", true),
        ("where exists(n)", false),
        ("where equal(add(n, 1), 2)", false),
        ("where less_than(n, 1)", false),
        ("sort {expression: n}", false),
        ("where equal(n, 1)\nselect {n: n}", false),
        ("limit 3\nwhere equal(n, 1)", false),
    ])
    func `knows when the rows are the documents of the scan`(
        stages: String, isFirstScan: Bool
    ) throws {
        let text = "collection ref'/a'" + (stages.isEmpty ? "" : "\n" + stages)
        #expect(try pipeline(text).validated(in: testDatabase).isFirstScan == isFirstScan)
    }
}
