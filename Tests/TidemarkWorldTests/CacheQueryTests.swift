import Foundation
import Testing
import TidemarkModel
import TidemarkStore
import TidemarkTesting

@testable import TidemarkSync

/// Whatever is cached and whatever is pending on top of it: a query gives what filtering and sorting
/// gives, in its order. `TIDEMARK_QUERY_CASES=100000` for more.
@Suite(.oneCore) struct CacheQueryTests {
    private static let casesOfShare = 250
    static let shares: Range<UInt64> = {
        let text = ProcessInfo.processInfo.environment["TIDEMARK_QUERY_CASES"] ?? "5000"
        let cases = Int(text) ?? 0
        precondition(cases > 0, "TIDEMARK_QUERY_CASES is a number of cases")
        return 0..<UInt64((cases + casesOfShare - 1) / casesOfShare)
    }()

    @Test(arguments: shares)
    func `the cache gives what filtering and sorting gives`(seed: UInt64) throws {
        var dice = SeededRandom(seed: seed)
        var cache = try CheckedCache()
        for _ in 0..<40 { try cache.hear(&dice) }
        var found = 0
        for round in 0..<25 {
            for _ in 0..<4 { try cache.change(&dice) }
            for _ in 0..<10 {
                let query = dice.query()
                let (shown, expected) = (try cache.shown(query), cache.expected(query))
                if shown != expected {
                    Issue.record(
                        "seed \(seed), round \(round): \(query)\ngave \(shown)\nnot \(expected)")
                    return
                }
                found += expected.count
            }
            // A part of a slice, so that queries meet indexes that are half made.
            _ = try cache.local.store.buildWantedIndexes(slice: 1 + dice.roll(60))
        }
        #expect(found > 0, "seed \(seed): no query found anything")
        try cache.local.close()
    }
}

/// A cache with a queue of writes, and the plain model of both.
private struct CheckedCache {

    let local: LocalStore
    private var base: [DocumentPath: MapValue] = [:]
    private var queue: [MutationBatch] = []
    private var clock: Int64 = 1_000

    init() throws { local = try LocalStore(.memory, database: SeededRandom.database) }

    private mutating func tick() -> Timestamp {
        clock += 1
        return Timestamp(microseconds: clock)
    }

    mutating func change(_ dice: inout SeededRandom) throws {
        switch dice.roll(10) {
        case 0..<4: try hear(&dice)
        case 4..<8: try enqueue(&dice)
        case 8: try acknowledge()
        default: try reject()
        }
    }

    /// The server tells of a document.
    mutating func hear(_ dice: inout SeededRandom) throws {
        let (path, time) = (dice.row(), tick())
        guard dice.chance(85) else {
            base[path] = nil
            _ = try local.apply([.missing(path, time)], readTime: time)
            return
        }
        let fields = dice.contents()
        base[path] = fields
        let document = Document(path: path, fields: fields, createTime: time, updateTime: time)
        _ = try local.apply([.found(document)], readTime: time)
    }

    private mutating func enqueue(_ dice: inout SeededRandom) throws {
        guard queue.count < 12 else { return try acknowledge() }
        let mutations = (0..<(1 + dice.roll(3))).map { _ in dice.mutation() }
        queue.append(try local.enqueue(mutations, at: tick()).batch)
    }

    private mutating func acknowledge() throws {
        guard !queue.isEmpty else { return }
        let (batch, time) = (queue.removeFirst(), tick())
        var results: [MutationResult] = []
        for mutation in batch.mutations {
            let outcome = mutation.applied(to: base[mutation.path]) { _ in .timestamp(time) }
            base[mutation.path] = outcome.fields
            let isDelete = mutation.operation == .delete
            results.append(
                MutationResult(
                    updateTime: isDelete ? nil : time,
                    transformResults: mutation.transforms.map {
                        $0.operation == .serverTimestamp ? .timestamp(time) : .null
                    }))
        }
        _ = try local.acknowledge(batch, results, commitTime: time)
    }

    private mutating func reject() throws {
        guard !queue.isEmpty else { return }
        let batch = queue.removeFirst()
        _ = try local.reject(batch, RPCStatus(.permissionDenied, "no"), at: tick())
    }

    func shown(_ query: Query) throws -> [String] {
        try local.run(query).map { "\($0.path.text) \($0.contents.decoded)" }
    }

    func expected(_ query: Query) -> [String] {
        var rows = base
        for batch in queue {
            for mutation in batch.mutations {
                rows[mutation.path] =
                    mutation.applied(to: rows[mutation.path]) { previous in
                        var real = previous
                        if case .pendingServerTimestamp(_, let older)? = previous { real = older }
                        return .pendingServerTimestamp(
                            localWriteTime: batch.localWriteTime, previous: real)
                    }.fields
            }
        }
        var matching = rows.map { (path: $0.key, fields: $0.value) }.filter {
            query.contains($0.path)
                && query.matches($0.path, $0.fields, in: SeededRandom.database)
        }
        matching.sort { query.compare($0, $1, in: SeededRandom.database) == .ascending }
        let rest = matching.map { "\($0.path.text) \($0.fields)" }.dropFirst(query.offset)
        switch query.limit {
        case .first(let count)?: return Array(rest.prefix(count))
        case .last(let count)?: return Array(rest.suffix(count))
        case nil: return Array(rest)
        }
    }
}
