import Testing
import TestSupport
import TidemarkModel

@testable import TidemarkPipelines

/// Pipelines that would need endless memory or time end with a sentence.
@Suite(.ownThread) struct `A run beyond its bounds` {
    /// Endless documents, of which the count is known.
    private struct Endless: PipelineSource {
        final class Documents: PipelineDocuments {
            var count = 0
            let text = String(repeating: "x", count: 95) + " word"

            func next() throws(PipelineError) -> Document? {
                count += 1
                return document(
                    "c/d\(count)",
                    [
                        "n": .integer(Int64(count)), "s": .string(text),
                        "v": .vector(VectorValue([Double(count), 1])),
                    ])
            }
        }

        let documents = Documents()

        func open(_ scan: PipelineScan) throws(PipelineError) -> OpenScan {
            OpenScan(documents: documents)
        }
    }

    private func error(
        _ lines: String, over source: any PipelineSource = Endless(),
        _ change: (inout PipelineLimits) -> Void = { _ in }
    ) -> PipelineError? {
        var limits = PipelineLimits.production
        limits.bytes = 1_000_000
        change(&limits)
        do throws(PipelineError) {
            _ = try rows(pipeline(lines), over: source, context: testContext(limits: limits))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("sort {expression: n}", "sort"), ("distinct {n: n}", "distinct"),
        ("aggregate {c: count()}, {n: n}", "aggregate"),
        ("aggregate {a: array_agg(n)}", "aggregate"),
        ("aggregate {a: count_distinct(s), b: array_agg_distinct(n)}", "aggregate"),
        ("sample 1000000, 'documents'", "sample"),
        ("find_nearest v, vec[0, 1], 'euclidean'", "find_nearest"),
        ("search | {query: 'word'}", "search"),
        ("aggregate {a: array_agg_distinct(n)}, {s: s}", "aggregate"),
        ("unnest [1, 2, 3], u\nsort {expression: u}", "sort"),
    ])
    func `holds rows up to its memory, and names the stage`(stage: String, name: String) {
        let source = Endless()
        let found = error("collection ref'/c'\n" + stage, over: source)
        #expect(found?.code == .resourceExhausted)
        #expect(
            found?.message
                == "The stage \(name) needs more memory than a query may use: 1000000 bytes.")
        #expect(source.documents.count < 20_000)
    }

    @Test func `holds nothing for a group of many rows, or the first of an order`() throws {
        var limits = PipelineLimits.production
        (limits.bytes, limits.steps) = (20_000, 200_000)
        for stage in [
            "aggregate {c: count(), s: sum(n), m: maximum(n)}", "sort {expression: n}\nlimit 5",
        ] {
            let found = error("collection ref'/c'\n" + stage) { $0 = limits }
            #expect(found?.message == "The pipeline needs more than 200000 steps.")
        }
    }

    /// Returns the maximum memory of a run's stages, and the reason of its end.
    private func held(_ pipeline: Pipeline) throws -> (bytes: Int, reason: PipelineError?) {
        var limits = PipelineLimits.production
        (limits.bytes, limits.steps) = (1_000_000, 60_000)
        let run = try pipeline.validated(in: testDatabase)
            .run(over: Endless(), context: testContext(limits: limits))
        do throws(PipelineError) {
            while try run.next() != nil {}
            return (run.mostBytesHeld, nil)
        } catch { return (run.mostBytesHeld, error) }
    }

    /// Each stage sees at least 10,000 documents.
    @Test(arguments: [
        "where exists(n)", "select {n: n}", "add_fields {m: n}", "remove_fields n", "let {v: n}",
        "replace_with {n: n}", "unnest [1, 2], u", "offset 5", "limit 1000000",
        "sample 0.5, 'percent'", "aggregate {n: count(), m: maximum(s), f: first(s), l: last(s)}",
        "aggregate {n: sum(n), a: average(n)}, {s: s}", "distinct {s: s}",
        "sort {expression: n, direction: 'descending'}\nlimit 5", "sample 5, 'documents'",
        "find_nearest v, vec[0, 1], 'euclidean' | {limit: 5}",
    ])
    func `holds nothing for rows that pass, and few of those that it ranks`(stage: String) throws {
        let (bytes, reason) = try held(pipeline("collection ref'/c'\n" + stage))
        #expect(reason?.message == "The pipeline needs more than 60000 steps.")
        #expect(bytes < 5_000)
    }

    @Test func `holds nothing for a union, and the rows of one subquery at a time`() throws {
        let all = pipeline("collection ref'/c'")
        let union = Pipeline.Stage(name: "union", arguments: [.pipeline(all)])
        let (bytes, reason) = try held(Pipeline(stages: all.stages + [union]))
        #expect(reason?.message == "The pipeline needs more than 60000 steps." && bytes == 0)
        for kind in ["array", "scalar"] {
            let inner = kind == "array" ? all : pipeline("collection ref'/c'\nsort {expression: n}")
            let join = Pipeline.Stage(
                name: "add_fields",
                arguments: [.map([.init(key: "q", value: .call(kind, [.pipeline(inner)]))])])
            let (bytes, reason) = try held(Pipeline(stages: all.stages + [join]))
            let stage = kind == "array" ? "array" : "sort"
            #expect(
                reason?.message
                    == "The stage \(stage) needs more memory than a query may use: 1000000 bytes.")
            #expect(bytes < 1_002_000)
        }
    }

    @Test func `makes no value or row of endless size`() {
        let double = (0..<100).map { _ in "add_fields {a: array(a, a)}" }.joined(separator: "\n")
        #expect(
            error("literals {a: 'x'}\n" + double)?.message.contains("larger than 16777216") == true)
        let text = (0..<100).map { _ in "add_fields {a: string_concat(a, a)}" }.joined(
            separator: "\n")
        #expect(error("literals {a: 'x'}\n" + text)?.message.contains("larger than") == true)
        let row = (0..<60).map { "add_fields {f\($0): a}" }.joined(separator: "\n")
        let big = "literals {a: string_repeat('x', 1000000)}\n" + row
        #expect(error(big)?.message == "A row of the pipeline is larger than 16777216 bytes.")
        for stage in [
            "add_fields {a: [a, a]}", "add_fields {a: {l: a, r: a}}", "select {a.l: a, a.r: a}",
            "add_fields {a.l: a, a.r: a}", "unnest [a], a.l\nadd_fields {a.r: a}",
        ] {
            let stages = (0..<60).map { _ in stage }.joined(separator: "\n")
            let found = error("literals {a: {x: 1}}\n" + stages + "\nwhere equal(a, a)")
            #expect(found?.message.contains("larger than 16777216 bytes") == true, "\(stage)")
        }
        let map = (0..<100).map { _ in "add_fields {a: map_set(a, 'l', a, 'r', a)}" }
        #expect(
            error("literals {a: {}}\n" + map.joined(separator: "\n"))?.message.contains(
                "larger than") == true)
        let all = (0..<100).map { _ in "add_fields {a: current_document(), b: current_document()}" }
        #expect(
            error("literals {a: {x: 1}}\n" + all.joined(separator: "\n"))?.message.contains(
                "larger than") == true)
    }

    @Test func `stops expressions and rows without end`() {
        let list = "[" + (0..<100).map { "\($0)" }.joined(separator: ", ") + "]"
        var body = "$a"
        for level in 0..<8 {
            body =
                "array_transform(\(list), 'v\(level)', array_length(\(body == "$a" ? list : body)))"
        }
        let loops = error("literals {a: 1}\nwhere equal(\(body), 1)") { $0.steps = 100_000 }
        #expect(loops?.code == .resourceExhausted)
        let unnests = (0..<8).map { "unnest \(list), u\($0)" }.joined(separator: "\n")
        let rows = error("literals {a: 1}\n\(unnests)\nwhere false") { $0.steps = 100_000 }
        #expect(rows?.message == "The pipeline needs more than 100000 steps.")
    }

    @Test(arguments: ["regex_contains", "regex_match", "regex_find", "regex_find_all"])
    func `counts the steps of regular expressions`(function: String) {
        let text = String(repeating: "a", count: 20_000)
        let list = "[" + (0..<100).map { "\($0)" }.joined(separator: ", ") + "]"
        let pipeline = """
            literals {t: '\(text)'}
            unnest \(list), u
            where equal(\(function)(t, '(a*)*b'), 1)
            """
        #expect(error(pipeline) { $0.steps = 10_000_000 } == nil)
        let slow = error(pipeline) { $0.steps = 100_000 }
        #expect(slow?.message == "The pipeline needs more than 100000 steps.")
    }

    /// Five hundred megabytes of a text of one, or as many elements of an array.
    @Test(arguments: ["string_concat", "concat", "array_concat", "map_merge"])
    func `refuses a large result before it is made`(function: String) {
        let part =
            switch function {
            case "array_concat": "[" + (0..<1_000).map { "\($0)" }.joined(separator: ",") + "]"
            case "map_merge": "{" + (0..<1_000).map { "k\($0): 1" }.joined(separator: ",") + "}"
            default: "'" + String(repeating: "x", count: 10_000) + "'"
            }
        let arguments = Array(repeating: "p", count: 500).joined(separator: ", ")
        let pipeline = "literals {p: \(part)}\nselect {q: \(function)(\(arguments))}"
        let found = error(pipeline) {
            $0.valueBytes = 100_000
            $0.steps = 100_000
        }
        if function == "map_merge" {
            #expect(found?.message == "The pipeline needs more than 100000 steps.")
        } else {
            #expect(found?.message == "\(function): the result is larger than 100000 bytes.")
        }
    }

    @Test func `ends when its caller asks, with the caller's reason`() throws {
        let reason = PipelineError(.cancelled, "The call was cancelled.")
        let context = PipelineContext(
            database: testDatabase, now: .epoch, seed: 1, interruption: { reason })
        let run = try pipeline("collection ref'/c'\nwhere false").validated(in: testDatabase)
            .run(over: Endless(), context: context)
        #expect(throws: reason) { try run.next() }
        #expect(throws: reason) { try run.next() }
    }

    @Test(arguments: [
        "aggregate {c: count()}, {n: n}", "aggregate {a: array_agg(n)}",
        "aggregate {a: count_distinct(n)}, {s: s}",
    ])
    func `refuses groups and their values when documents are given one at a time`(
        stage: String
    ) throws {
        var limits = PipelineLimits.production
        limits.bytes = 1_000_000
        let valid = try pipeline("collection ref'/c'\n" + stage).validated(in: testDatabase)
        #expect(StreamedGroups.takesFields(valid))
        for fieldsOnly in [false, true] {
            let groups = try StreamedGroups(valid, context: testContext(limits: limits))
            let documents = Endless.Documents()
            let error = #expect(throws: PipelineError.self) {
                while let document = try documents.next() {
                    try groups.add(document, fieldsOnly: fieldsOnly)
                }
            }
            #expect(
                error?.message
                    == "The stage aggregate needs more memory than a query may use: 1000000 bytes.")
            #expect(documents.count < 20_000)
        }
    }

    @Test func `releases what a subquery held, for each row`() throws {
        let inner = Pipeline.Expression.call(
            "array",
            [
                .pipeline(
                    pipeline(
                        "collection ref'/books'\nsort {expression: n}\nwhere exists(n)\nlimit 1"))
            ])
        let field = Pipeline.Entry(key: "q", value: inner)
        let rows = (0..<2_000).map { "{a: \($0)}" }.joined(separator: ", ")
        var stages = pipeline("literals \(rows)").stages
        stages.append(.init(name: "select", arguments: [.map([field])]))
        let run = try Pipeline(stages: stages).validated(in: testDatabase)
            .run(over: ListSource(books), context: testContext())
        var count = 0
        while try run.next() != nil { count += 1 }
        #expect(count == 2_000 && run.mostBytesHeld < 5_000, "\(run.mostBytesHeld)")
    }
}
