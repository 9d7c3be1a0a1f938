import Synchronization
import Testing
import TestSupport
import Tidemark
import TidemarkServer
import TidemarkTestKit
import TidemarkTesting

/// Compares the queries of the shared corpora with their pipelines: on a server, and on a cache
/// with pending writes. The rows are also those of the tests' own filter and sort.
@Suite(.ownThread) struct `The shared queries and their pipelines` {
    /// Makes documents whose fields have the values of a query, others near them, and none.
    ///
    /// The pipeline of `!=` also finds documents without the field or with null, and a cursor of a
    /// pipeline compares values of one type. The documents have neither.
    private struct Documents {
        let query: QueryValue
        private var random: SeededRandom
        private var values: [FieldPath: [Value]] = [:]
        /// The fields that every document has, with a value of the query's type.
        private var required: Set<FieldPath> = []

        init(_ query: QueryValue, seed: UInt64) {
            self.query = query
            random = SeededRandom(seed: seed)
            if let filter = query.filter { note(filter) }
            for order in query.orders { values[order.field, default: []].append(.integer(3)) }
            for cursor in [query.start, query.end].compactMap(\.self) {
                for (order, value) in zip(query.normalizedOrders, cursor.values) {
                    values[order.field] = [value]
                    required.insert(order.field)
                }
            }
            for field in query.projection ?? [] { values[field, default: []].append(.integer(1)) }
        }

        private mutating func note(_ filter: FilterValue) {
            switch filter {
            case .and(let parts), .or(let parts): for part in parts { note(part) }
            case .unary(let field, _): values[field, default: []] += [.null, .double(.nan)]
            case .field(let field, let operation, let value):
                if operation == .arrayContains {
                    values[field, default: []] += [.array([value]), .array([value, .integer(0)])]
                } else {
                    values[field, default: []].append(value)
                }
                if operation == .notEqual || operation == .notIn { required.insert(field) }
            }
        }

        private mutating func near(_ value: Value) -> Value {
            let step = Int64.random(in: -2...2, using: &random)
            return switch value {
            case .integer(let number): .integer(number + step)
            case .double(let number) where !number.isNaN: .double(number + Double(step) / 2)
            case .string(let text):
                .string(["", text, text + "a", "b"].randomElement(using: &random)!)
            default: value
            }
        }

        private mutating func fields() -> MapValue {
            var fields = MapValue()
            for field in values.keys.sorted(by: { $0.encoded < $1.encoded })
            where !field.isDocumentID {
                let value = near(values[field]!.randomElement(using: &random)!)
                if required.contains(field) {
                    fields[field] = value
                    continue
                }
                let others: [Value?] = [value, value, value, nil, .null, .string("x"), .integer(7)]
                if let chosen = others.randomElement(using: &random)! { fields[field] = chosen }
            }
            return fields
        }

        private var collections: [String] {
            let id = query.collectionID ?? "c"
            if let collection = query.collection { return [collection.text] }
            return [id, "parents/p1/" + id]
        }

        mutating func mutations(_ count: Int) -> [Mutation] {
            var mutations: [Mutation] = []
            for collection in collections {
                for number in 0..<count {
                    // The cursors of the shared cases name D.
                    let path = try! DocumentPath(
                        collection + "/" + (number == 3 ? "D" : "d\(number)"))
                    mutations.append(Mutation(path: path, .set(fields())))
                }
            }
            return mutations
        }
    }

    /// The number of rows, and the queries that were compared.
    private struct Counts {
        var queries = 0
        var rows = 0
    }

    private func check(
        _ named: CorpusQueries.Named, on place: DevicePlace, seed: UInt64, _ counts: inout Counts
    ) async throws {
        let query = named.query
        let pipeline = try PipelineValue(query)
        var made = Documents(query, seed: seed)
        place.fill(made.mutations(8).compactMap(\.document))
        let whole = QueryValue(collectionID: query.collectionID, allDescendants: true)
        place.hold(whole)
        let wanted = rows(query, of: place.documents)
        let note = "\(named.file): \(query)"
        #expect(place.rows(of: query).map(\.path) == wanted, "\(note)")
        #expect(
            place.pipelineRows(of: pipeline).map(\.path) == place.rows(of: query).map(\.path),
            "\(note)")
        #expect(
            place.pipelineRows(of: pipeline).map(\.fields)
                == place.rows(of: query).map(\.fields), "\(note)")
        for _ in 0..<2 {
            let shown = rows(query, of: place.documents)
            #expect(place.cachedRows(of: query) == shown, "\(note), offline \(place.isOffline)")
            let found = try await place.cachedRows(of: pipeline)
            #expect(
                found?.compactMap(\.path) == shown.map(\.text),
                "\(note), offline \(place.isOffline)")
            counts.rows += shown.count
            if place.isOffline { break }
            place.disconnect()
            place.write(made.mutations(4).filter { $0.path.id != "d1" })
        }
        place.connect()
        counts.queries += 1
    }

    private func rows(_ query: QueryValue, of documents: [Document]) -> [DocumentPath] {
        var whole = query
        whole.projection = nil
        return QueryOracle(whole, in: PlaceRounds.database).rows(of: documents).map(\.path)
    }

    private func play(_ queries: [CorpusQueries.Named]) async throws -> Counts {
        var counts = Counts()
        for (index, named) in queries.enumerated() {
            for round in 0..<2 {
                let seed = UInt64(index * 2 + round)
                let place = try DevicePlace(seed: seed)
                defer { place.end() }
                try await check(named, on: place, seed: seed, &counts)
            }
        }
        return counts
    }

    @Test(.enabled(if: CorpusQueries.conformance.isPlayed, "the shared cases are not here"))
    func `of the conformance suite have equal rows`() async throws {
        let counts = try await play(try CorpusQueries.ofConformance())
        #expect(counts.queries == 23 * 2, "the cases have moved")
        #expect(counts.rows > 200, "\(counts)")
    }

    @Test(.enabled(if: CorpusQueries.specs.isPlayed, "the shared scripts are not here"))
    func `of the scenario scripts have equal rows`() async throws {
        let queries = try CorpusQueries.ofSpecs()
        let counts = try await play(queries)
        #expect(queries.count == 32, "the scripts have moved")
        #expect(counts.rows > 200, "\(counts)")
    }
}

extension Mutation {
    /// The document that the mutation sets.
    fileprivate var document: Document? {
        guard case .set(let fields) = operation else { return nil }
        let time = Timestamp(seconds: 1, nanoseconds: 0)
        return Document(path: path, fields: fields, createTime: time, updateTime: time)
    }
}

extension DevicePlace {
    /// Returns the server's rows of a query.
    fileprivate func rows(of query: QueryValue) -> [Document] {
        replies(.runQuery(RunQueryRequest(query: query))).compactMap { reply in
            if case .runQuery(let row) = reply { row.document } else { nil }
        }
    }

    /// Returns the server's rows of a pipeline.
    fileprivate func pipelineRows(of pipeline: PipelineValue) -> [ExecutePipelineReply.Row] {
        var rows: [ExecutePipelineReply.Row] = []
        for case .executePipeline(let part) in replies(
            .executePipeline(ExecutePipelineRequest(pipeline: pipeline)))
        {
            rows += part.rows
        }
        return rows
    }

    /// Returns the rows of a query in the cache.
    fileprivate func cachedRows(of query: QueryValue) -> [DocumentPath] {
        let found = Found()
        var whole = query
        whole.projection = nil
        device.engine.read(whole, source: .cache, deadline: nil) { result in
            found.paths.withLock { $0 = (try? result.get())?.documents.map(\.path) ?? [] }
        }
        thread.time.runUntilIdle()
        return found.paths.withLock { $0 }
    }
}

private final class Found: Sendable {
    let paths = Mutex<[DocumentPath]>([])
}
