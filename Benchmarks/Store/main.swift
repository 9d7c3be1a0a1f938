import Foundation
import TidemarkModel
import TidemarkStore

// Steps of the store beside the same in raw SQLite, in one run, with the ratio between them.

let count = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 100_000
let clock = ContinuousClock()

func seconds(_ duration: Duration) -> Double {
    Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
}

func time(_ body: () throws -> Void) rethrows -> Double { seconds(try clock.measure(body)) }

/// The median of `rounds` in microseconds.
func median(_ rounds: Int, _ body: (Int) throws -> Int) rethrows -> Double {
    var results: [Double] = []
    for round in 0..<rounds {
        var found = 0
        results.append(try time { found = try body(round) })
        precondition(found > 0)
    }
    return results.sorted()[rounds / 2] * 1e6
}

func report(_ step: String, _ ours: Double, _ raw: Double? = nil) {
    func text(_ value: Double) -> String { String(format: "%10.1f", value) }
    let ratio = raw.map { String(format: "%8.2fx", ours / $0) } ?? ""
    let name = step.padding(toLength: 44, withPad: " ", startingAt: 0)
    print("\(name)\(text(ours)) µs \(raw.map { text($0) + " µs" } ?? "             ") \(ratio)")
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

let workload = Workload(count: count)
let raw = RawSteps(folder.appendingPathComponent("raw.sqlite").path)
let steps = try StoreSteps(workload, folder.appendingPathComponent("store.sqlite").path)
let documents = (0..<count).map(steps.document)
let rows = documents.enumerated().map {
    (id: workload.id($0.offset), time: workload.seconds($0.offset), body: $0.element.contents.bytes)
}
print(
    "\(count) documents".padding(toLength: 44, withPad: " ", startingAt: 0)
        + "     store           raw      ratio")

let rawLoad = time { raw.load(rows) }
let load = try time { try steps.load(documents) }
report(
    "insert, 500 a transaction, no index", load / Double(count) * 1e6, rawLoad / Double(count) * 1e6
)

let numbers = (0..<5_000).map { $0 &* 7_919 % count }
report(
    "point read",
    try median(5_000) { try steps.point(documents[numbers[$0]].path) },
    median(5_000) { raw.point(rows[numbers[$0]].id) })
report("whole collection, limit 1", try median(500) { _ in try steps.first() })

report("conversation query, no index", try median(1) { try steps.conversation($0) })
var slowest = 0.0
let build = try time {
    slowest = try steps.buildIndexes { body in
        var isMore = false
        let spent = try time { isMore = try body() }
        return (isMore, spent)
    }
}
report("its index made on demand, all of it", build * 1e6)
report("  the longest slice of 1,000", slowest * 1e6)
report("conversation query, index", try median(500) { try steps.conversation($0) })

_ = try steps.top()
let second = try time { _ = try steps.buildIndexes { body in (try body(), 0) } }
let rawIndex = time { raw.makeIndex() }
report("an index over one field", second * 1e6, rawIndex * 1e6)
report("top 50", try median(500) { _ in try steps.top() }, median(500) { _ in raw.top() })

let more = (0..<5_000).map { steps.document(count + $0) }
let withIndexes = try time { try steps.load(more) }
let rawMore = more.enumerated().map {
    (
        id: workload.id(count + $0.offset), time: workload.seconds(count + $0.offset),
        body: $0.element.contents.bytes
    )
}
let rawWithIndex = time { raw.load(rawMore) }
report("insert with two indexes (raw: one)", withIndexes / 5_000 * 1e6, rawWithIndex / 5_000 * 1e6)
let single = try median(1_000) { number in
    try steps.store.write { try $0.documents(of: Workload.database).put(more[number]) }
    return 1
}
report("one write in its transaction, same document", single)
let synced = try median(50) { number in
    try steps.store.write(.disk) { try $0.documents(of: Workload.database).put(more[number]) }
    return 1
}
report("  synced to disk", synced)
