import Testing
import TidemarkModel

@testable import TidemarkPipelines

struct `A nested pipeline` {
    private func subquery(_ kind: String, _ lines: String) -> Pipeline.Expression {
        .call(kind, [.pipeline(pipeline(lines))])
    }

    private func select(_ alias: String, _ expression: Pipeline.Expression) -> Pipeline.Stage {
        Pipeline.Stage(
            name: "select", arguments: [.map([Pipeline.Entry(key: alias, value: expression)])])
    }

    private func run(_ first: String, _ rest: Pipeline.Stage...) throws -> [MapValue] {
        try rows(
            Pipeline(stages: pipeline(first).stages + rest), over: ListSource(books)
        ).map(\.fields)
    }

    @Test func `gives an array, unwrapped if its rows have one field`() throws {
        let stars = subquery("array", "subcollection 'reviews'\nselect {s: stars}")
        #expect(
            try run("collection ref'/books'\nlimit 2", select("r", stars))
                == maps("[{r: [5, 4]}, {r: []}]"))
        let whole = subquery("array", "subcollection 'reviews'\nlimit 1")
        #expect(
            try run("collection ref'/books'\nlimit 1", select("r", whole))
                == maps("[{r: [{by: 'u', stars: 5}]}]"))
    }

    @Test func `gives one value, null, or an error for several`() throws {
        let count = subquery("scalar", "subcollection 'reviews'\naggregate {n: count()}")
        #expect(
            try run("collection ref'/books'\nlimit 3", select("n", count))
                == maps("[{n: 2}, {n: 0}, {n: 1}]"))
        let none = subquery("scalar", "collection ref'/no'")
        #expect(try run("literals {a: 1}", select("n", none)) == maps("[{n: null}]"))
        let many = subquery("scalar", "collection ref'/books'")
        let error = #expect(throws: PipelineError.self) {
            try run("literals {a: 1}", select("n", many))
        }
        #expect(error?.message.contains("multiple results") == true)
    }

    @Test func `sees the variables around it`() throws {
        let same = subquery(
            "array",
            """
            collection ref'/books'
            where and(equal(g, $genre), not_equal(t, $title))
            select {t: t}
            """)
        #expect(
            try run(
                "collection ref'/books'\nlimit 2\nlet {genre: g, title: t}", select("same", same))
                == maps("[{same: ['C']}, {same: ['E']}]"))
    }

    @Test func `adds its rows in a union, under its own variables`() throws {
        let other = Pipeline.Stage(
            name: "union",
            arguments: [.pipeline(pipeline("literals {a: 9}\nlet {y: a}\nselect {a: $y}"))])
        #expect(
            try run(
                "literals {a: 1}\nlet {x: a}", other, pipeline("select {a: a, x: $x}").stages[0])
                == maps("[{a: 1, x: 1}, {a: 9}]"))
        let below = Pipeline.Stage(
            name: "union", arguments: [.pipeline(pipeline("subcollection 'reviews'"))])
        let error = #expect(throws: PipelineError.self) { try run("collection ref'/books'", below) }
        #expect(error?.message.contains("start of a nested pipeline") == true)
    }

    @Test func `may fail without failing the row`() throws {
        let failing = subquery("array", "literals {a: 1}\nselect {b: divide(1, 0)}")
        #expect(
            try run("literals {a: 1}", select("e", .call("is_error", [failing])))
                == maps("[{e: true}]"))
    }
}

struct `A stage that writes` {
    private func writes(_ lines: String) throws -> [PipelineWrite] {
        let run = try pipeline(lines).validated(in: testDatabase)
            .run(over: ListSource(books), context: testContext())
        var writes: [PipelineWrite] = []
        while let write = try run.nextWrite() { writes.append(write) }
        return writes
    }

    private let b1 = try! DocumentPath("books/b1")

    @Test func `deletes a document once`() throws {
        let lines = "documents ref'/books/b1'\nadd_fields {z: [1, 2]}\nunnest z, e\ndelete"
        #expect(try writes(lines) == [.delete(b1)])
        #expect(throws: PipelineError.self) { try writes("literals {a: 1}\ndelete") }
    }

    @Test func `replaces the whole document`() throws {
        #expect(
            try writes("documents ref'/books/b1'\nremove_fields tags, in, g\nupdate {n: add(n, 1)}")
                == [.replace(b1, maps("[{t: 'A', n: 4}]")[0], mustExist: true)])
    }

    @Test func `creates documents in a collection, with an id of the row or a new one`() throws {
        #expect(
            try writes("literals {a: 1, id: 'k'}\ninsert | {collection: ref'/c', document_id: id}")
                == [.create(try DocumentPath("c/k"), maps("[{a: 1, id: 'k'}]")[0])])
        let random = try writes("literals {a: 1}, {a: 2}\nupsert | {collection: ref'/c'}")
        #expect(Set(random).count == 2)
        #expect(
            try writes(
                "documents ref'/books/b1'\nselect {t: t, __name__: __name__}\nupsert {u: 1} | {document_id: 'x'}"
            )
                == [
                    .replace(
                        try DocumentPath("books/x"), maps("[{t: 'A', u: 1}]")[0], mustExist: false)
                ])
    }

    @Test func `is the last, and in no nested pipeline`() {
        for lines in ["collection ref'/books'\ndelete\nlimit 1", "delete"] {
            #expect(throws: PipelineError.self) { try writes(lines) }
        }
    }
}
