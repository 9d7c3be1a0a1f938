import Testing
import TestSupport
import TidemarkModel
import TidemarkTestKit

@testable import TidemarkPipelines

/// Compares queries with their pipelines. The queries are evaluated by the model's own matching,
/// which shares no code with pipelines except the order of values.
@Suite(.ownThread) struct `The pipeline of a query` {
    private let n = FieldPath(name: "n")
    private let s = FieldPath(name: "s")

    private func filter(_ random: inout SeededRandom) -> Filter? {
        let number = Value.integer(Int64.random(in: -1...3, using: &random))
        let text = Value.string(["a", "b"].randomElement(using: &random)!)
        let all: [Filter?] = [
            nil, .field(n, .greaterThan, number), .field(n, .equal, number),
            .field(n, .lessThanOrEqual, number), .field(s, .isIn, .array([text, .string("")])),
            .field(s, .greaterThanOrEqual, text), .unary(FieldPath(name: "b"), .isNull),
            .field(FieldPath(name: "l"), .arrayContains, number),
            .and([.field(n, .greaterThan, number), .field(s, .equal, text)]),
            .or([.field(n, .equal, number), .field(s, .equal, text)]),
        ]
        return all.randomElement(using: &random)!
    }

    private func query(_ random: inout SeededRandom) -> Query {
        var query = Query(collectionID: "c", allDescendants: Bool.random(using: &random))
        query.filter = filter(&random)
        if Bool.random(using: &random) {
            let field = [n, s, .documentID].randomElement(using: &random)!
            query.orders = [Order(field, Bool.random(using: &random) ? .ascending : .descending)]
        }
        switch Int.random(in: 0...3, using: &random) {
        case 0: query.limit = .first(Int.random(in: 1...4, using: &random))
        case 1 where !query.orders.isEmpty: query.limit = .last(2)
        case 2: query.offset = 1
        default: break
        }
        return query
    }

    /// Returns the paths of a query's rows.
    private func rows(of query: Query, _ documents: [Document]) -> [String] {
        var found = documents.filter { query.matches($0.path, $0.fields, in: testDatabase) }
        found.sort {
            query.compare(($0.path, $0.fields), ($1.path, $1.fields), in: testDatabase)
                == .ascending
        }
        found = Array(found.dropFirst(query.offset))
        switch query.limit {
        case .first(let count): found = Array(found.prefix(count))
        case .last(let count): found = Array(found.suffix(count))
        case nil: break
        }
        return found.map(\.path.text)
    }

    /// Returns the documents of a source that uses all hints, if they are the pipeline's rows;
    /// otherwise nil.
    private func scanned(_ pipeline: Pipeline, _ documents: [Document]) throws -> [String]? {
        let valid = try pipeline.validated(in: testDatabase)
        guard valid.isFirstScan, let scan = valid.firstScan else { return nil }
        let found = try HintedSource(documents: documents).open(scan).documents
        var paths: [String] = []
        while let document = try found.next() { paths.append(document.path.text) }
        return paths
    }

    @Test func `has the rows of the query, with and without hints`() throws {
        var count = 0
        var scans = 0
        for seed in 1...UInt64(10_000) {
            var generator = PipelineGenerator(seed: seed)
            let documents = generator.documents()
            var random = SeededRandom(seed: seed &* 31)
            let query = query(&random)
            // A number and NaN are one type in a query's range, and two in a pipeline's.
            let isRange = query.filter.map { "\($0)".contains("lessThan") } ?? false
            if isRange, documents.contains(where: { $0.fields[n]?.isNaN == true }) { continue }
            let wanted = rows(of: query, documents)
            let pipeline = try Pipeline(query)
            let sources: [any PipelineSource] = [
                ListSource(documents), HintedSource(documents: documents),
            ]
            for source in sources {
                let found = try TidemarkPipelinesTests.rows(pipeline, over: source)
                    .map { $0.name!.path.text }
                try #require(found == wanted, "seed \(seed), \(type(of: source)): \(query)")
            }
            if let found = try scanned(pipeline, documents) {
                try #require(found == wanted, "seed \(seed), without stages: \(query)")
                scans += 1
            }
            count += wanted.count
        }
        #expect(count > 10_000 && scans > 1_500, "\(count) rows, \(scans) scans")
    }

    /// A filter by one field does not ensure that another one is there.
    @Test(arguments: [
        ("where and(greater_than(s, 'a'), exists(n))", false),
        ("where and(greater_than(s, 'a'), exists(n))\nsort {expression: n}", true),
        ("where and(and(greater_than(s, 'a'), exists(n)), equal(b, true))", false),
        ("where and(greater_than(s, 'a'), exists(s))", true),
        ("where greater_than(s, 'a')\nwhere exists(n)", false),
        ("where and(greater_than(s, 'a'), exists(n))\nwhere equal(n, 1)", true),
    ])
    func `is not answered by documents that can lack a field`(lines: String, isScan: Bool) throws {
        let valid = try TidemarkPipelinesTests.pipeline("collection ref'/c'\n" + lines)
            .validated(in: testDatabase)
        #expect(valid.isFirstScan == isScan)
    }

    @Test func `starts and ends at cursors`() throws {
        let documents = (0..<6).map {
            document("c/d\($0)", ["n": .integer(Int64($0 / 2)), "s": .string("\($0)")])
        }
        for (before, direction) in [
            (true, Direction.ascending), (false, .ascending), (true, .descending),
            (false, .descending),
        ] {
            for values in [[Value.integer(1)], [.integer(1), .string("2")]] {
                var query = Query(collectionID: "c")
                query.orders = [Order(n, direction), Order(s, direction)]
                query.start = Cursor(values: values, before: before)
                let started = try TidemarkPipelinesTests.rows(
                    Pipeline(query), over: ListSource(documents)
                ).map { $0.name!.path.text }
                query.start = nil
                query.end = Cursor(values: values, before: before)
                let ended = try TidemarkPipelinesTests.rows(
                    Pipeline(query), over: ListSource(documents)
                ).map { $0.name!.path.text }
                query.end = nil
                // The rows before the cursor and behind it are all rows.
                #expect(ended + started == rows(of: query, documents))
                let edge = values.count == 1 ? ["c/d2", "c/d3"] : ["c/d2"]
                #expect(edge.allSatisfy { (before ? started : ended).contains($0) })
            }
        }
    }

    @Test func `keeps the document beside chosen fields`() throws {
        var query = Query(collectionID: "books")
        query.projection = [FieldPath(name: "t")]
        let found = try TidemarkPipelinesTests.rows(Pipeline(query), over: ListSource(books))
        #expect(found[0].fields == maps("[{t: 'A'}]")[0] && found[0].updateTime != nil)
        query.parent = try DocumentPath("a/b")
        query.allDescendants = true
        #expect(throws: RPCStatus.self) { try Pipeline(query) }
    }
}
