import Testing
import TidemarkModel

@testable import TidemarkConsole

struct PipelineTextTests {
    private let database = try! DatabaseID(project: "demo")

    private func parse(_ text: String) throws(QueryTextError) -> Pipeline {
        try PipelineText.parse(text, in: database)
    }

    private func condition(_ text: String) throws -> Pipeline.Expression {
        try #require(try parse("c | where \(text)").stages.last?.arguments.first)
    }

    private func call(
        _ name: String, _ arguments: Pipeline.Expression...
    ) -> Pipeline.Expression {
        .function(name: name, arguments: arguments, options: [])
    }

    @Test func `stages have the form of Google's libraries`() throws {
        let pipeline = try parse(
            """
            books | where rating > 4 | select title, rating * 2 as double
            | sort double desc, title | offset 1 | limit 3
            """)
        #expect(
            pipeline.stages == [
                Pipeline.Stage(name: "collection", arguments: [.reference("/books")]),
                Pipeline.Stage(
                    name: "where",
                    arguments: [call("greater_than", .field("rating"), .constant(.integer(4)))]),
                Pipeline.Stage(
                    name: "select",
                    arguments: [
                        .map([
                            .init(key: "title", value: .field("title")),
                            .init(
                                key: "double",
                                value: call("multiply", .field("rating"), .constant(.integer(2)))),
                        ])
                    ]),
                Pipeline.Stage(
                    name: "sort",
                    arguments: [
                        .map([
                            .init(key: "direction", value: .constant(.string("descending"))),
                            .init(key: "expression", value: .field("double")),
                        ]),
                        .map([
                            .init(key: "direction", value: .constant(.string("ascending"))),
                            .init(key: "expression", value: .field("title")),
                        ]),
                    ]),
                Pipeline.Stage(name: "offset", arguments: [.constant(.integer(1))]),
                Pipeline.Stage(name: "limit", arguments: [.constant(.integer(3))]),
            ])
    }

    @Test func `signs bind as in other languages`() throws {
        let (a, b, c) = (
            Pipeline.Expression.field("a"), Pipeline.Expression.field("b"),
            Pipeline.Expression.field("c")
        )
        #expect(
            try condition("a or not b and c") == call("or", a, call("and", call("not", b), c)))
        #expect(
            try condition("a - b - c * a == c")
                == call(
                    "equal", call("subtract", call("subtract", a, b), call("multiply", c, a)), c))
        #expect(
            try condition("a - (b - c) > -1")
                == call(
                    "greater_than", call("subtract", a, call("subtract", b, c)),
                    .constant(.integer(-1))))
        #expect(try condition("a is not null") == call("not_equal", a, .constant(.null)))
        #expect(
            try condition("a in [1, b]")
                == call("equal_any", a, .array([.constant(.integer(1)), b])))
        #expect(try condition("`a b`.c == $x") == call("equal", .field("`a b`.c"), .variable("x")))
        #expect(
            try condition("timestamp == timestamp \"2026-11-24T10:00:00Z\"")
                == call(
                    "equal", .field("timestamp"),
                    .constant(.timestamp(Timestamp(seconds: 1_795_514_400, nanoseconds: 0)))))
        #expect(
            try condition("f({k: [], \"l m\": true}, NaN)")
                == call(
                    "f",
                    .map([
                        .init(key: "k", value: .array([])),
                        .init(key: "l m", value: .constant(.boolean(true))),
                    ]), .constant(.double(.nan))))
    }

    @Test func `a figure without a name gets one`() throws {
        let stage = try #require(
            try parse("c | aggregate count(), sum(m.n), average(n) as mean by g").stages.last)
        guard case .map(let figures) = stage.arguments[0],
            case .map(let groups) = stage.arguments[1]
        else { return #expect(Bool(false), "no maps") }
        #expect(figures.map(\.key) == ["count", "sum_m_n", "mean"])
        #expect(groups.map(\.key) == ["g"])
    }

    @Test(arguments: [
        "books | where rating > 4 | sort rating desc | limit 3",
        "**/messages | where isRead == false | aggregate count() as unread by owner",
        "**", "documents books/a, books/b | limit 1",
        "rooms/blue/messages | select text, n + 1 as next, \"a\" as \"b c\"",
        "c | where a == 1 and (b < 2 or not c != 3) and exists(d)",
        "c | where (a + b) * 2 - (1 - a) / 3 >= 1.5",
        "c | where (a == 1) == true or a in [1, \"x\", null] and b array-contains 1",
        "c | remove_fields a, b.c | distinct a, to_lower(b) as b | offset 2",
        "c | unnest tags as tag index i | sample 10 documents",
        "c | sample 0.5 percent | replace_with {a: 1, \"b c\": [x, $y]}",
        "c | union (from d | limit 1) | search \"two words\"",
        "c | find_nearest e to vector[1.0, 2.0] by cosine limit 3 distance d",
        "c | let document_id(__name__) as id | select "
            + "scalar(from **/m | where room == $id | aggregate count() as n) as m",
        "c | select array(from subcollection reviews | select stars) as stars",
        "c | where at > timestamp \"2026-11-24T10:00:00Z\" and place == point(1.5, -2.0)",
    ])
    func `a pipeline's own sentence is a pipeline again`(text: String) throws {
        let pipeline = try parse(text)
        #expect(pipeline.sentence == text)
        #expect(try parse(pipeline.sentence) == pipeline)
    }

    @Test func `a stage that the bar cannot read has its name and arguments`() {
        let other = Pipeline(stages: [
            Pipeline.Stage(name: "collection", arguments: [.reference("/books")]),
            Pipeline.Stage(name: "delete"),
            Pipeline.Stage(
                name: "window", arguments: [.field("n")],
                options: [.init(key: "size", value: .constant(.integer(3)))]),
        ])
        #expect(other.sentence == "books | delete | window n size: 3")
        #expect(Pipeline(stages: []).sentence == "a pipeline without stages")
    }

    @Test(arguments: [
        "", "|", "books |", "books | where", "books | where a ==", "books | where (a == 1",
        "books | nonsense", "books | limit x", "books | limit -1", "books | select a + 1",
        "books | select a, a", "books | where a == 1 b", "books where a == 1",
        "books | delete", "books | update a as b", "books | union d", "books | where and a",
        "books | sample 3", "books | where f(a", "books | where [1", "books | where {a 1}",
        "books | unnest a", "books | sort", "books | find_nearest e to vector[1]",
    ])
    func `what is no pipeline is refused with a sentence`(text: String) {
        let error = #expect(throws: QueryTextError.self) { try parse(text) }
        #expect(error?.message.last == ".")
    }

    @Test func `deep nesting is refused`() {
        for open in ["(", "[", "not ", "f(", "{a: "] {
            let deep = String(repeating: open, count: 3_000)
            #expect(throws: QueryTextError.self) { try parse("c | where \(deep)a") }
        }
        let lists = String(repeating: "[", count: 9_000)
        #expect(throws: QueryTextError.self) {
            try QueryText.parse("c where a == \(lists)", in: database)
        }
    }
}
