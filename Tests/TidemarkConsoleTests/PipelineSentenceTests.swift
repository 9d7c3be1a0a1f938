import Testing
import TidemarkModel

@testable import TidemarkConsole

struct PipelineSentenceTests {
    @Test func `a pipeline is told stage by stage`() {
        let condition = Pipeline.Expression.function(
            name: "greater_than",
            arguments: [.field("rating"), .constant(.integer(4))], options: [])
        let order = Pipeline.Expression.map([
            .init(key: "direction", value: .constant(.string("descending"))),
            .init(key: "expression", value: .field("rating")),
        ])
        let fields = Pipeline.Expression.map([
            .init(key: "title", value: .field("title")),
            .init(key: "stars", value: .field("rating")),
        ])
        let other = Pipeline(stages: [
            Pipeline.Stage(
                name: "collection_group",
                arguments: [.reference(""), .constant(.string("old"))])
        ])
        let pipeline = Pipeline(stages: [
            Pipeline.Stage(name: "collection", arguments: [.reference("/books")]),
            Pipeline.Stage(name: "where", arguments: [condition]),
            Pipeline.Stage(name: "union", arguments: [.pipeline(other)]),
            Pipeline.Stage(name: "sort", arguments: [order]),
            Pipeline.Stage(name: "select", arguments: [fields]),
            Pipeline.Stage(name: "limit", arguments: [.constant(.integer(3))]),
        ])
        #expect(
            pipeline.sentence == """
                collection /books | where greater_than(rating, 4) | union (collection_group "old") \
                | sort rating descending | select {title, stars: rating} | limit 3
                """)
        #expect(Pipeline(stages: []).sentence == "a pipeline without stages")
    }
}
