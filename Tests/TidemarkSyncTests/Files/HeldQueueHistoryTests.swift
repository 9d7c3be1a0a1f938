import TestSupport
import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkSync

/// Random histories of a queue with files, with kills between all steps. A model of the rules
/// checks what may be sent, and that the order of sending never changes.
@Suite(.ownThread) struct HeldQueueHistoryTests {
    @Test(arguments: 0..<150)
    func `the order of sending is right, and survives kills`(seed: UInt64) throws {
        var history = try QueueHistory(seed: seed)
        for _ in 0..<80 { try history.step() }
        try history.drain()
        #expect(history.violations == [], "seed \(seed)")
    }
}

private struct QueueHistory {
    private struct Batch {
        var paths: [DocumentPath]
        /// The files whose objects do not exist yet.
        var files: Set<Int64>
    }

    private(set) var violations: [String] = []
    private let file = TemporaryFile()
    private var local: LocalStore
    private var random: UInt64
    /// The batches in the queue, by number.
    private var model: [Int64: Batch] = [:]
    /// The batches that were sent and not answered, in the order of sending.
    private var sent: [Int64] = []
    private var time: Int64 = 1

    init(seed: UInt64) throws {
        random = seed &* 0x9E37_79B9_7F4A_7C15 &+ 11
        local = try LocalStore(.file(file.path), database: Harness.database)
    }

    private mutating func below(_ bound: Int) -> Int {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((random >> 33) % UInt64(bound))
    }

    private var queue: LocalQueue { local.queue }

    mutating func step() throws {
        switch below(10) {
        case 0...2: try write(withFiles: false)
        case 3...4: try write(withFiles: true)
        case 5: try finishFile()
        case 6: try answer()
        case 7: try discard()
        case 8: try kill()
        default: send()
        }
        check()
    }

    private mutating func write(withFiles: Bool) throws {
        let paths = (0..<(1 + below(2))).map { _ in path("rooms/\(below(4))") }
        let mutations = paths.map { Mutation(path: $0, .set(["n": .integer(time)])) }
        let files = (0..<(withFiles ? 1 + below(2) : 0)).map { number in
            AttachedFile(
                document: paths[0], field: field("photo\(number)"),
                object: ObjectName(bucket: "b", name: "\(time)-\(number)"), size: 1, facts: [])
        }
        time += 1
        let batch = try queue.enqueue(mutations, at: at(time), attaching: files).batch
        let rows = try queue.readFiles { try $0.files(ofBatch: batch.id, $1) }
        if rows.count != files.count { violations.append("\(rows.count) rows of \(files.count)") }
        model[batch.id] = Batch(paths: Array(batch.paths), files: Set(rows.map(\.id)))
    }

    private mutating func finishFile() throws {
        let waiting = model.filter { !$0.value.files.isEmpty }.keys.sorted()
        if waiting.isEmpty { return }
        let batch = waiting[below(waiting.count)]
        let id = model[batch]!.files.sorted()[0]
        let isDone = try queue.changeFiles {
            try $0.change(id, from: [.waiting], to: .uploaded, $1)
        }.result
        if !isDone { violations.append("file \(id) is not there") }
        model[batch]!.files.remove(id)
    }

    /// Answers the first batch that was sent.
    private mutating func answer() throws {
        guard let id = sent.first, let batch = queue.pending.batch(id) else { return }
        if below(4) == 0 {
            _ = try queue.reject(batch, RPCStatus(.permissionDenied, ""), at: at(time))
            // The stream ends, and the rest is sent again.
            sent = [id]
        } else {
            time += 1
            let results = batch.mutations.map { _ in MutationResult(updateTime: at(time)) }
            _ = try queue.acknowledge(batch, results, commitTime: at(time))
        }
        sent.removeFirst()
        model[id] = nil
    }

    private mutating func discard() throws {
        let held = model.keys.filter { queue.pending.isHeld($0) && !model[$0]!.files.isEmpty }
            .sorted()
        if held.isEmpty { return }
        let id = held[below(held.count)]
        _ = try queue.changeFiles(dropping: id) { try $0.batchIsDiscarded(id, $1) }
        model[id] = nil
    }

    private mutating func kill() throws {
        local.abandon()
        local = try LocalStore(.file(file.path), database: Harness.database)
        // The server repeats the answers of what was sent, by the order of sending.
        let before = sent
        sent = []
        send()
        if Array(sent.prefix(before.count)) != before {
            violations.append("sent \(before) before a kill, and \(sent) after it")
        }
    }

    private mutating func send() {
        while sent.count < 10, let next = queue.pending.batch(toSendAfter: sent.last) {
            if sent.contains(next.id) { violations.append("\(next.id) is sent twice") }
            sent.append(next.id)
            mayBeSent(next.id)
        }
    }

    private mutating func mayBeSent(_ id: Int64) {
        guard let batch = model[id] else { return violations.append("\(id) is unknown") }
        if !batch.files.isEmpty { violations.append("\(id) is sent without its files") }
        for (other, earlier) in model where other < id && !sent.contains(other) {
            if !Set(earlier.paths).isDisjoint(with: batch.paths) {
                violations.append("\(id) overtakes \(other) on a document")
            }
        }
    }

    private mutating func check() {
        let ids = queue.pending.batches.map(\.id)
        if ids != model.keys.sorted() { violations.append("\(ids), not \(model.keys.sorted())") }
    }

    /// Finishes all files, and answers everything.
    mutating func drain() throws {
        while !model.isEmpty, violations.isEmpty {
            let before = model.mapValues(\.files.count).description
            while model.contains(where: { !$0.value.files.isEmpty }) { try finishFile() }
            send()
            try answer()
            check()
            if before == model.mapValues(\.files.count).description, sent.isEmpty {
                violations.append("\(model.keys.sorted()) are never sent")
            }
        }
        let left = try queue.readFiles { table, transaction in
            try (table.all(transaction), TurnTable.all(transaction))
        }
        if !left.1.isEmpty { violations.append("turns of nothing: \(left.1)") }
        for row in left.0 where ![.over, .rejected].contains(row.state) {
            violations.append("file \(row.id) waits for nothing")
        }
    }
}
