import Testing
import Tidemark
import TidemarkLivePipelines
import TidemarkServer
import TidemarkTesting

/// Pipelines that would need endless memory, stack or time are refused with a sentence: by the
/// server, by the cache and by a live pipeline.
@Suite(.timeLimit(.minutes(5))) struct `Pipelines without bounds` {
    enum Bad: String, CaseIterable {
        case stages, depth, maps, groups, pattern, subqueries

        func pipeline(_ firestore: Firestore) -> Pipeline {
            var all = firestore.pipeline().collection("messages")
            switch self {
            case .stages:
                for _ in 0..<1_000 { all = all.limit(5) }
                return all
            case .depth:
                var deep: any Expression = Field("a")
                for _ in 0..<1_000 { deep = FunctionExpression(functionName: "not", args: [deep]) }
                return all.addFields([deep.as("x")])
            case .maps:
                var deep: any Expression = Field("a")
                for _ in 0..<1_000 { deep = MapExpression(["x": deep]) }
                return all.addFields([deep.as("x")])
            case .groups:
                let hundred = ArrayExpression(Array(0..<100))
                for name in ["x", "y", "z"] { all = all.unnest(hundred.as(name)) }
                return all.aggregate(
                    [CountAll().as("n")], groups: ["x", "y", "z"].map { Field($0) })
            case .pattern:
                return all.select([Constant("aaa").regexMatch("(a{1000}){1000}").as("x")])
            case .subqueries:
                var inner = firestore.pipeline().collection("messages")
                for _ in 0..<22 {
                    inner = firestore.pipeline().collection("messages")
                        .select([inner.toArrayExpression().as("x")])
                }
                return inner
            }
        }

        var words: String {
            switch self {
            case .stages: "A pipeline may have at most 200 stages."
            case .depth, .maps: "nested at most 100 levels deep"
            case .groups: "needs more memory than"
            case .pattern: "invalid regular expression"
            case .subqueries: "Subqueries may be nested at most 20 levels deep."
            }
        }
    }

    private func check(
        _ bad: Bad, _ place: String, _ run: () async throws -> Void
    ) async {
        let error = await #expect(throws: FirestoreError.self, "\(bad), \(place)") {
            try await run()
        }
        #expect(error?.code == (bad == .groups ? .resourceExhausted : .invalidArgument))
        let text = error?.detail ?? ""
        #expect(text.contains(bad.words), "\(bad), \(place): \(text)")
    }

    @Test(arguments: Bad.allCases) func `are refused in a sentence`(bad: Bad) async throws {
        var configuration = FirestoreServer.Configuration()
        configuration.editions = DatabaseEditions(.enterprise)
        let local = try LocalFirestore.start(configuration: configuration)
        let firestore = try local.firestore()
        try await firestore.document("messages/m").setData(["a": true])
        _ = try await firestore.collection("messages").getDocuments()
        await check(bad, "server") { _ = try await bad.pipeline(firestore).execute() }
        await check(bad, "cache") {
            _ = try await bad.pipeline(firestore).execute(source: .cache)
        }
        await check(bad, "live") {
            for try await _ in bad.pipeline(firestore).snapshots() { return }
        }
        // The client and the server still work.
        let rows = try await firestore.pipeline().collection("messages").execute().results
        #expect(rows.count == 1)
        await local.stop()
    }
}
