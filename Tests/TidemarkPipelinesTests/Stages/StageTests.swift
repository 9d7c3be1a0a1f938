import Testing
import TidemarkModel

@testable import TidemarkPipelines

struct `A source stage` {
    private func ids(_ lines: String) throws -> [String] {
        try rows(pipeline(lines), over: ListSource(books)).map { $0.name!.path.id }
    }

    @Test func `reads one collection, a group, all, or listed documents`() throws {
        #expect(try ids("collection ref'/books'") == ["b1", "b2", "b3", "b4", "b5"])
        let absolute = "projects/p/databases/(default)/documents/books/b1/reviews"
        #expect(try ids("collection ref'\(absolute)'") == ["r1", "r2"])
        #expect(try ids("collection_group ref'', 'reviews'") == ["r1", "r2", "r3"])
        #expect(try ids("database").count == 8)
        #expect(
            try ids("documents ref'/books/b3', ref'/books/no', ref'/books/b1'") == ["b3", "b1"])
    }

    @Test func `makes rows of literals`() throws {
        #expect(
            try fields("literals {a: add(1, 2)}, {a: absent}, {b: [1]}")
                == maps("[{a: 3}, {}, {b: [1]}]"))
    }

    @Test func `gives rows with a name and times, which fields read`() throws {
        let found = try rows(
            pipeline("collection ref'/books'\nlimit 1\nadd_fields {c: __create_time__}"),
            over: ListSource(books))
        #expect(found[0].name?.path.text == "books/b1")
        #expect(found[0].updateTime == Timestamp(seconds: 2, nanoseconds: 0))
        #expect(found[0].fields["c"] == .timestamp(Timestamp(seconds: 1, nanoseconds: 0)))
    }
}

struct `A stage of fields` {
    @Test func `where keeps rows that are TRUE alone`() throws {
        let condition = "collection ref'/books'\nwhere greater_than(n, 1)\nselect {t: t}"
        #expect(try fields(condition) == maps("[{t: 'A'}, {t: 'C'}]"))
        // An error in a condition is only not TRUE.
        #expect(
            try fields(
                "collection ref'/books'\nwhere greater_than(array_length(tags), 0)\nselect {t: t}")
                == maps("[{t: 'A'}]"))
    }

    @Test func `select keeps nesting, leaves out what is absent, and drops the document`() throws {
        let found = try rows(
            pipeline("collection ref'/books'\nlimit 2\nselect {in.k: in.k, t: t}"),
            over: ListSource(books))
        #expect(found.map(\.fields) == maps("[{in: {k: 1}, t: 'A'}, {t: 'B'}]"))
        #expect(found.allSatisfy { $0.name == nil && $0.createTime == nil })
        let named = try rows(
            pipeline("collection ref'/books'\nlimit 1\nselect {t: t, __name__: __name__}"),
            over: ListSource(books))
        #expect(named[0].name?.path.id == "b1" && named[0].updateTime == nil)
    }

    @Test func `an error in the output fails the run with its text`() throws {
        let error = #expect(throws: PipelineError.self) {
            try fields("collection ref'/books'\nselect {x: divide(1, 0)}")
        }
        #expect(error?.code == .invalidArgument && error?.message == "divide: division by zero.")
    }

    @Test func `add_fields sees the row before, and an absent value drops a field`() throws {
        #expect(
            try fields("literals {a: 1, b: 2}\nadd_fields {a: b, b: a, c: absent}")
                == maps("[{a: 2, b: 1}]"))
        #expect(try fields("literals {a: 1}\nadd_fields {a: absent}") == maps("[{}]"))
    }

    @Test func `remove_fields, replace_with and unnest change rows`() throws {
        #expect(
            try fields("literals {a: {b: 1, c: 2}, d: 3}\nremove_fields a.b, d, z")
                == maps("[{a: {c: 2}}]"))
        #expect(
            try fields(
                "literals {a: {b: 1}, b: 2, c: 3}\nreplace_with a, 'merge_overwrite_existing'")
                == maps("[{a: {b: 1}, b: 1, c: 3}]"))
        #expect(
            try fields("literals {a: {b: 1}, b: 2}\nreplace_with a, 'merge_keep_existing'")
                == maps("[{a: {b: 1}, b: 2}]"))
        #expect(
            try fields("literals {a: {b: 1}}\nreplace_with a, 'full_replace'") == maps("[{b: 1}]"))
        #expect(throws: PipelineError.self) { try fields("literals {a: 1}\nreplace_with a") }
        #expect(
            try fields(
                "collection ref'/books'\nselect {t: t, tags: tags}\nunnest tags, tag | {index_field: i}"
            )
                == maps(
                    """
                    [{t: 'A', tags: ['p', 'q'], tag: 'p', i: 0}, {t: 'A', tags: ['p', 'q'], tag: 'q', i: 1}, {t: 'C', i: null}, {t: 'D', tags: 7, i: null}, {t: 'E', i: null}]
                    """))
    }

    @Test func `let binds variables until an aggregation`() throws {
        #expect(
            try fields("literals {a: 1}, {a: 2}\nlet {x: add(a, 1)}\nselect {y: multiply($x, 10)}")
                == maps("[{y: 20}, {y: 30}]"))
        let error = #expect(throws: PipelineError.self) {
            try fields("literals {a: 1}\nlet {x: a}\naggregate {n: count()}\nselect {y: $x}")
        }
        #expect(error?.message == "unknown variable: x")
    }
}

struct `A stage of order and number` {
    private let sorted = "\nsort {expression: n, direction: 'ascending'}"

    @Test func `sort orders all types, absent as null`() throws {
        let found = try fields("collection ref'/books'\(sorted)\nselect {t: t}")
        #expect(found == maps("[{t: 'D'}, {t: 'E'}, {t: 'B'}, {t: 'C'}, {t: 'A'}]"))
        let down = try fields(
            "collection ref'/books'\nsort {expression: n, direction: 'descending'}\nselect {t: t}")
        #expect(down == maps("[{t: 'A'}, {t: 'C'}, {t: 'B'}, {t: 'D'}, {t: 'E'}]"))
    }

    @Test func `a sort with a limit gives the same rows and holds no others`() throws {
        let found = try fields("collection ref'/books'\(sorted)\noffset 1\nlimit 2\nselect {t: t}")
        #expect(found == maps("[{t: 'E'}, {t: 'B'}]"))
        #expect(try fields("collection ref'/books'\nlimit 0").isEmpty)
        var numbers: [Document] = []
        for number in 0..<3_000 {
            numbers.append(document("n/d\(number)", ["n": .integer(Int64(number * 7_919 % 3_000))]))
        }
        let whole = try pipeline("collection ref'/n'\(sorted)\nlimit 5").validated(in: testDatabase)
            .run(over: ListSource(numbers), context: testContext())
        var found5: [MapValue] = []
        while let row = try whole.next() { found5.append(row.fields) }
        #expect(found5 == maps("[{n: 0}, {n: 1}, {n: 2}, {n: 3}, {n: 4}]"))
        #expect(whole.mostBytesHeld < 5_000 && whole.documentsRead == 3_000)
    }

    @Test func `a limit stops the source`() throws {
        let run = try pipeline("collection ref'/books'\nwhere exists(t)\nlimit 2")
            .validated(in: testDatabase).run(over: ListSource(books), context: testContext())
        while try run.next() != nil {}
        #expect(run.documentsRead == 2)
        #expect(run.explain.map(\.name) == ["collection", "where", "limit"])
        #expect(run.explain.map(\.rows) == [2, 2, 2] && run.explain[0].detail == "list")
    }

    @Test func `the time of a stage is its own`() throws {
        let clock = Clock()
        let run = try pipeline("collection ref'/books'\nwhere exists(t)\(sorted)\nlimit 2")
            .validated(in: testDatabase)
            .run(
                over: SlowSource(clock: clock),
                context: PipelineContext(
                    database: testDatabase, now: Timestamp(seconds: 1, nanoseconds: 0), seed: 1,
                    ticks: { clock.now }))
        while try run.next() != nil {}
        // Five documents and the end of the scan.
        #expect(run.explain.map(\.duration) == [.seconds(6), .zero, .zero, .zero])
        let unmeasured = try pipeline("collection ref'/books'").validated(in: testDatabase)
            .run(over: ListSource(books), context: testContext())
        _ = try unmeasured.next()
        #expect(unmeasured.explain[0].duration == nil)
    }

    @Test func `sample gives rows of its number or share`() throws {
        let two = try fields("collection ref'/books'\nsample 2, 'documents'")
        #expect(two.count == 2)
        #expect(try fields("collection ref'/books'\nsample 9, 'documents'").count == 5)
        #expect(try fields("collection ref'/books'\nsample 1.0, 'percent'").count == 5)
        #expect(try fields("collection ref'/books'\nsample 0.0, 'percent'").isEmpty)
        let seeds = try (0..<20).map { seed in
            try fields(
                "collection ref'/books'\nsample 1, 'documents'\nselect {t: t}",
                context: testContext(seed: seed))
        }
        #expect(Set(seeds).count > 2)
    }

    @Test func `find_nearest ranks the vectors of its size`() throws {
        let near = "collection ref'/books'\nfind_nearest v, vec[1, 0.5], "
        #expect(
            try fields(near + "'euclidean' | {distance_field: d}\nselect {t: t, d: d}")
                == maps("[{t: 'B', d: 0.5}, {t: 'C', d: 1.118033988749895}]"))
        #expect(
            try fields(near + "'dot_product' | {limit: 1}\nselect {t: t}") == maps("[{t: 'B'}]"))
        #expect(try fields("collection ref'/books'\nfind_nearest v, vec[1], 'cosine'").isEmpty)
    }
}

struct `A stage of groups` {
    @Test func `aggregate makes one row of a group, and one of no rows`() throws {
        #expect(
            try fields(
                "collection ref'/books'\naggregate {n: count(), s: sum(n), a: average(n)}, {}")
                == maps("[{n: 5, s: 6.0, a: 2.0}]"))
        #expect(
            try fields(
                "collection ref'/no'\naggregate {n: count(), s: sum(n), a: average(n), m: maximum(n), l: array_agg(n)}"
            )
                == maps("[{n: 0, s: 0, a: null, m: null, l: []}]"))
        #expect(
            try fields(
                "collection ref'/books'\naggregate {n: count(n)}, {g: g}\nsort {expression: g}")
                == maps("[{g: null, n: 0}, {g: 'x', n: 2}, {g: 'y', n: 1}]"))
    }

    @Test func `numbers of equal value are one group, null and absent are two`() throws {
        let groups = try fields(
            "literals {k: 1}, {k: 1.0}, {k: null}, {}, {k: NaN}, {k: NaN}\naggregate {n: count()}, {k: k}"
        )
        #expect(groups.count == 4)
        #expect(groups.map { $0["n"]! } == [.integer(2), .integer(1), .integer(1), .integer(2)])
        #expect(groups[2] == maps("[{n: 1}]")[0])
        #expect(
            try fields("literals {k: 1, z: 2}, {k: 1.0}, {k: 2}\ndistinct {k: k}").count == 2)
    }

    @Test func `all functions of groups`() throws {
        let found = try fields(
            """
            literals {v: 3}, {v: 1}, {v: null}, {}, {v: 1.0}, {v: 'a'}
            aggregate {if: count_if(greater_than(v, 0)), d: count_distinct(v), mi: minimum(v), ma: maximum(v), f: first(v), l: last(v), all: array_agg(v), set: array_agg_distinct(v)}
            """)
        #expect(
            found
                == maps(
                    """
                    [{if: 3, d: 3, mi: 1, ma: 'a', f: 3, l: 'a', all: [3, 1, null, null, 1.0, 'a'], set: [3, 1, null, 'a']}]
                    """))
        let sums = try fields(
            """
            literals {v: 9223372036854775807}, {v: 1}
            aggregate {s: sum(v)}
            """)
        #expect(sums == maps("[{s: 9223372036854775808.0}]"))
    }
}

/// A clock that only a source moves.
private final class Clock: @unchecked Sendable {
    // `@unchecked`: a run and its source are on one thread.
    var now = Duration.zero
}

/// The books, each a second after the one before.
private struct SlowSource: PipelineSource {
    let clock: Clock

    private final class Documents: PipelineDocuments {
        private let clock: Clock
        private let list: any PipelineDocuments

        init(_ clock: Clock, _ list: any PipelineDocuments) {
            (self.clock, self.list) = (clock, list)
        }

        func next() throws(PipelineError) -> Document? {
            clock.now += .seconds(1)
            return try list.next()
        }
    }

    func open(_ scan: PipelineScan) throws(PipelineError) -> OpenScan {
        OpenScan(documents: Documents(clock, try ListSource(books).open(scan).documents))
    }
}
