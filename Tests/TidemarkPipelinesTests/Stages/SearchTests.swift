import Testing
import TidemarkModel
import TidemarkTestKit

@testable import TidemarkPipelines

struct `A search` {
    private let places = [
        document(
            "p/a",
            maps("[{t: 'Blue tea house', at: geo(52.0, 13.0), menu: {x: ['green tea', 'Tea']}}]")[0]
        ),
        document("p/b", maps("[{t: 'Tea and coffee', at: geo(52.0, 13.1)}]")[0]),
        document("p/c", maps("[{t: 'Coffee', at: geo(48.0, 11.0)}]")[0]),
    ]

    private func names(_ stage: String) throws -> [Value] {
        try rows(pipeline("collection ref'/p'\nsearch | " + stage), over: ListSource(places))
            .map { .string($0.name!.path.id) }
    }

    @Test func `finds words in all strings, best first`() throws {
        #expect(try names("{query: 'tea'}") == ["a", "b"].map(Value.string))
        #expect(try names("{query: 'TEA -coffee'}") == [.string("a")])
        #expect(try names("{query: 'coffee'}") == ["b", "c"].map(Value.string))
        #expect(try names("{query: 'tea coffee'}") == [.string("b")])
        #expect(try names("{query: '\"tea house\"'}") == [.string("a")])
        #expect(try names("{query: '\"house tea\"'}").isEmpty)
        #expect(try names("{query: 'te'}").isEmpty)
    }

    @Test func `takes a part of the rows, in an order of its own`() throws {
        #expect(try names("{query: 'tea', limit: 1}") == [.string("a")])
        #expect(try names("{query: 'tea', offset: 1, limit: 5}") == [.string("b")])
        #expect(try names("{query: 'coffee', retrieval_depth: 1}") == [.string("b")])
        let near = "less_than(geo_distance(at, geo(52.0, 13.0)), 10000.0)"
        #expect(try names("{query: \(near)}") == ["a", "b"].map(Value.string))
        #expect(
            try names("{query: \(near), sort: [{expression: geo_distance(at, geo(52.0, 13.1))}]}")
                == ["b", "a"].map(Value.string))
        let scored = try fields(
            "collection ref'/p'\nsearch | {query: 'tea', add_fields: {s: score()}}\nselect {s: s}",
            over: places)
        #expect(scored.count == 2 && NaiveValues.compare(scored[0]["s"]!, scored[1]["s"]!) == 1)
    }

    @Test func `is only where it may be`() {
        for lines in [
            "collection ref'/p'\nwhere document_matches('a')", "collection ref'/p'\nwhere score()",
            "database\nsearch | {query: 'a'}", "collection ref'/p'\nlimit 1\nsearch | {query: 'a'}",
            "collection ref'/p'\nsearch",
            "collection ref'/p'\nsearch | {query: 'a', language_code: 'qq'}",
            "collection ref'/p'\nsearch | {query: score()}",
        ] {
            #expect(throws: PipelineError.self) { try fields(lines, over: places) }
        }
        #expect(throws: Never.self) { try names("{query: 'a', language_code: 'en-GB'}") }
    }
}
