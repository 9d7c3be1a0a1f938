import Foundation
import Testing
import TestSupport
import TidemarkModel
import TidemarkSimulation
import TidemarkStore
import TidemarkTestKit

@testable import TidemarkSync

/// Compares the cache's queries with filtering and sorting of the same documents, for random
/// documents and pending writes. `TIDEMARK_QUERY_CASES=100000` runs more cases.
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
                let query = CheckedCache.random.query(&dice)
                let (shown, expected) = (try cache.shown(query), cache.expected(query))
                if shown != expected {
                    Issue.record(
                        "seed \(seed), round \(round): \(query)\ngave \(shown)\nnot \(expected)")
                    return
                }
                found += expected.count
            }
            // A small slice leaves some indexes incomplete, and the next queries find them so.
            _ = try cache.local.store.buildWantedIndexes(slice: 1 + dice.roll(60))
        }
        #expect(found > 0, "seed \(seed): no query found anything")
        try cache.local.close()
    }
}

/// A cache with a queue of writes, and a simple model of both.
private struct CheckedCache {
    static let random = RandomRows(
        database: try! DatabaseID(project: "cases"), collectionID: "rooms",
        fields: ["a", "b", "tags", "m.x"].map { try! FieldPath(encoded: $0) }, hasGroups: true
    ) { dice in
        let collection = dice.pick([
            "rooms", "rooms", "rooms", "rooms/a/rooms", "x/y/rooms", "other",
        ])
        return DocumentPath(
            unchecked: "\(collection)/\(dice.pick(["a", "b", "é", "z"]))\(dice.roll(9))")
    }

    let local: LocalStore
    private var base: [DocumentPath: MapValue] = [:]
    private var queue: [MutationBatch] = []
    private var clock: Int64 = 1_000

    init() throws { local = try LocalStore(.memory, database: Self.random.database) }

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

    /// Applies a random document of the server.
    mutating func hear(_ dice: inout SeededRandom) throws {
        let (path, time) = (Self.random.row(&dice), tick())
        guard dice.chance(85) else {
            base[path] = nil
            _ = try local.remote.apply([.missing(path, time)], readTime: time)
            return
        }
        let fields = Self.random.contents(&dice)
        base[path] = fields
        let document = Document(path: path, fields: fields, createTime: time, updateTime: time)
        _ = try local.remote.apply([.found(document)], readTime: time)
    }

    private mutating func enqueue(_ dice: inout SeededRandom) throws {
        guard queue.count < 12 else { return try acknowledge() }
        let mutations = (0..<(1 + dice.roll(3))).map { _ in Self.random.mutation(&dice) }
        queue.append(try local.queue.enqueue(mutations, at: tick()).batch)
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
        _ = try local.queue.acknowledge(batch, results, commitTime: time)
    }

    private mutating func reject() throws {
        guard !queue.isEmpty else { return }
        let batch = queue.removeFirst()
        _ = try local.queue.reject(batch, RPCStatus(.permissionDenied, "no"), at: tick())
    }

    func shown(_ query: Query) throws -> [String] {
        try local.documents.run(query).map { "\($0.path.text) \($0.contents.decoded)" }
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
        return QueryOracle(query, in: Self.random.database)
            .rows(of: rows.map { (path: $0.key, fields: $0.value) })
            .map { "\($0.path.text) \($0.fields)" }
    }
}

extension RandomRows {
    /// Returns a random mutation that has the same effect when it is applied again to a newer
    /// document.
    fileprivate func mutation(_ dice: inout SeededRandom) -> Mutation {
        let path = row(&dice)
        switch dice.roll(6) {
        case 0: return Mutation(path: path, .delete)
        case 1, 2: return Mutation(path: path, .set(contents(&dice)))
        case 3:
            return Mutation(
                path: path, .patch(["a": scalar(&dice)], mask: [fields[0], fields[3]]))
        case 4:
            let tags = [scalar(&dice), scalar(&dice)]
            return Mutation(
                path: path, .patch([:], mask: []),
                transforms: [
                    FieldTransform(
                        fields[2], dice.chance(60) ? .arrayUnion(tags) : .arrayRemove(tags))
                ])
        default:
            return Mutation(
                path: path, .patch([:], mask: []),
                transforms: [FieldTransform(fields[1], .serverTimestamp)])
        }
    }
}
