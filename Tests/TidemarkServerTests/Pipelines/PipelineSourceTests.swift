import Testing
import TidemarkModel
import TidemarkPipelines
import TidemarkServer

/// Compares the server's reading, which uses filters and orders, with the same pipelines over a
/// plain list of all documents.
struct PipelineSourceTests {
    private struct Dice {
        var random: SeededRandom

        mutating func roll(_ count: Int) -> Int { .random(in: 0..<count, using: &random) }
        mutating func pick<T>(_ options: [T]) -> T { options[roll(options.count)] }

        mutating func value() -> Value {
            pick([
                .integer(1), .integer(2), .double(2), .double(2.5), .double(.nan), .null,
                .string("a"), .string("b"), .boolean(true), .array([.integer(1)]),
                .map(["x": .integer(1)]),
            ])
        }

        mutating func mutation() -> Mutation {
            let path = pick(["c/", "c/1/c/", "c/2/d/", "d/"]) + String(roll(12))
            if roll(5) == 0 { return delete(path) }
            var fields = MapValue()
            for name in ["a", "b"] where roll(3) > 0 { fields[name] = value() }
            if roll(4) == 0 { fields["m"] = .map(["a": value()]) }
            return set(path, fields)
        }

        mutating func condition(_ depth: Int) -> Pipeline.Expression {
            let field = pick(["a", "b", "m.a", "m", "__name__"])
            if depth > 0, roll(3) == 0 {
                return .function(
                    name: pick(["and", "or"]), arguments: [condition(0), condition(0)], options: [])
            }
            switch roll(8) {
            case 0: return .call("exists", .field(field))
            case 1: return .call("not_equal", .field(field), .constant(value()))
            case 2: return .call("equal_any", .field(field), .array([.constant(value())]))
            case 3: return .call("array_contains", .field(field), .constant(.integer(1)))
            default:
                let name = pick([
                    "equal", "less_than", "less_than_or_equal", "greater_than",
                    "greater_than_or_equal",
                ])
                return .call(name, .field(field), .constant(value()))
            }
        }

        mutating func pipeline() -> Pipeline {
            var stages = [
                pick([
                    Pipeline.Stage.collection("c"), .collection("c/1/c"), .group("c"), .group("d"),
                    Pipeline.Stage(name: "database"),
                    .documents("c/1", "c/2", "d/3"),
                ])
            ]
            for _ in 0..<roll(3) { stages.append(.filter(condition(1))) }
            if roll(2) == 0 {
                let field = pick(["a", "b", "__name__"])
                stages.append(.sort(field, pick(["ascending", "descending"])))
            }
            if roll(3) == 0 { stages.append(.limit(Int64(roll(4)))) }
            return Pipeline(stages: stages)
        }
    }

    private func expected(
        _ pipeline: Pipeline, _ documents: [Document], in database: DatabaseID
    ) throws -> [TidemarkPipelines.PipelineRow] {
        let now = Timestamp(seconds: 0, nanoseconds: 0)
        let run = try pipeline.validated(in: database).run(
            over: ListSource(documents),
            context: PipelineContext(database: database, now: now, seed: 0))
        var rows: [TidemarkPipelines.PipelineRow] = []
        while let row = try run.next() { rows.append(row) }
        return rows
    }

    /// Compares two answers. A limit may keep any of the rows with the same sort key, so only the
    /// number of rows and their keys are compared then.
    private func check(
        _ pipeline: Pipeline, _ server: TestServer, _ documents: [Document],
        at consistency: ReadConsistency, _ note: String
    ) throws {
        let request = ExecutePipelineRequest(pipeline: pipeline, consistency: consistency)
        var found: [ExecutePipelineReply.Row] = []
        for case .executePipeline(let part) in try server.replies(.executePipeline(request)) {
            found += part.rows
        }
        let wanted = try expected(pipeline, documents, in: server.database)
        #expect(found.count == wanted.count, "\(note) \(pipeline)")
        let sorting = pipeline.stages.first { $0.name == "sort" }
        if let sorting, case .map(let entries)? = sorting.arguments.first,
            case .field(let field)? = entries.first(where: { $0.key == "expression" })?.value,
            let path = try? FieldPath(encoded: field), !path.isDocumentID
        {
            let keys = found.map { $0.fields[path] ?? .null }
            let others = wanted.map { $0.fields[path] ?? .null }
            #expect(zip(keys, others).allSatisfy { $0.isEquivalent(to: $1) }, "\(note) \(pipeline)")
        }
        if pipeline.stages.contains(where: { $0.name == "limit" }) { return }
        let names = Set(found.compactMap(\.path))
        #expect(names == Set(wanted.compactMap(\.name?.path)), "\(note) \(pipeline)")
        for row in found {
            let same = documents.first { $0.path == row.path }
            #expect(same?.fields == row.fields && same?.updateTime == row.updateTime)
        }
    }

    @Test(arguments: UInt64(0)..<20)
    func `filters and orders of the store change no row, now or at a past time`(
        seed: UInt64
    ) throws {
        var dice = Dice(random: SeededRandom(seed: seed))
        let server = try TestServer.enterprise()
        var past: [(time: Timestamp, documents: [Document])] = []
        for _ in 0..<4 {
            var seen: Set<DocumentPath> = []
            let mutations = (0..<30).map { _ in dice.mutation() }
                .filter { seen.insert($0.path).inserted }
            let reply = try server.replies(.commit(CommitRequest(mutations: mutations)))
            guard case .commit(let commit)? = reply.first else { return }
            let all = try server.query(Query(collectionID: nil, allDescendants: true))
            past.append((commit.commitTime, all.compactMap(\.document)))
            server.machine.advance(.seconds(1))
        }
        for _ in 0..<60 {
            let pipeline = dice.pipeline()
            let (time, documents) = dice.pick(past)
            try check(pipeline, server, documents, at: .at(time), "seed \(seed), then")
            try check(pipeline, server, past[3].documents, at: .latest, "seed \(seed), now")
        }
    }
}
