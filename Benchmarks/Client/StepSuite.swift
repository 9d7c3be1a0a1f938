import Foundation
import TidemarkModel
import TidemarkSync
import TidemarkTesting

/// Measures queries without an index and aggregations over many documents, in caches of up to a
/// million: the time until the answer, and the longest time for which a job holds the engine.
struct StepSuite {
    let scale: Int
    let folder: URL
    let report: Report

    private static let sizes = [11_000, 100_000, 1_000_000]
    /// The limits in milliseconds. A frame of a screen takes 8.
    private static let longestStep = 8.0
    private static let longestFigure = 1.0
    private static let worstRatio = 3.0

    /// - Returns: True if all bars hold.
    func run() throws -> Bool {
        var allHold = true
        for size in Self.sizes where size <= scale {
            if try !run(size) { allHold = false }
        }
        return allHold
    }

    private func run(_ size: Int) throws -> Bool {
        report.begin("steps", "of \(size) documents", yardstick: "raw SQLite")
        let place = folder.appending(path: "steps-\(size)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let workload = Workload(count: size)
        let raw = rawScan(workload, place)
        let client = try ClientEngine(place)
        defer { client.close() }
        let load = EngineSteps(workload: workload, folder: place)
        _ = load.load(client, indexing: nil)
        _ = client.moveLog()
        let asked = StepAsks(client: client, workload: workload)
        client.steps.forget()
        let first = asked.firstQuery()
        var holds = add(
            "first query / raw SQLite", first / raw, below: Self.worstRatio, unit: "×", detail: "")
        report.add("  first query without an index", first, against: raw)
        for (name, figure) in asked.figures() { report.add("  \(name), asked first", figure) }
        report.add("  first snapshot without an index", asked.firstSnapshot())
        _ = time { while client.scheduler.fire(.indexBuilding) {} }
        for (name, figure) in asked.figuresAgain() {
            let holdsNow = add(
                name, figure / 1e3, below: Self.longestFigure, unit: "ms", detail: "asked again")
            holds = holdsNow && holds
        }
        for step in client.steps.longest {
            report.add("  longest step: \(step.name)", step.duration / .microseconds(1))
        }
        guard let longest = client.steps.longest.first else { return holds }
        let figure = longest.duration / .milliseconds(1)
        return add(
            "longest step", figure, below: Self.longestStep, unit: "ms", detail: longest.name)
            && holds
    }

    private func add(
        _ name: String, _ figure: Double, below limit: Double, unit: String, detail: String
    ) -> Bool {
        let bar = Bar(name, below: limit, unit)
        report.add(bar, figure, detail: detail)
        return bar.holds(figure)
    }

    private func rawScan(_ workload: Workload, _ place: URL) -> Double {
        let raw = RawDatabase(place.appending(path: "raw.sqlite").path)
        for start in stride(from: 0, to: workload.count, by: 10_000) {
            let end = min(start + 10_000, workload.count)
            raw.load((start..<end).map { RawDatabase.Row(workload, $0) })
        }
        let name = workload.conversation(workload.count / 100)
        return (0..<3).map { _ in time { precondition(raw.conversation(name) > 0) } }.min()!
    }
}

/// The requests to an engine, each until its answer.
private struct StepAsks {
    let client: ClientEngine
    let workload: Workload

    private func time(_ name: String, _ ask: (Latest) -> Void) -> Double {
        client.steps.begin(name)
        return Benchmarks.time {
            let seen = Latest()
            ask(seen)
            client.scheduler.runUntilIdle()
            precondition(seen.snapshots == 1, "\(name) has no answer")
        }
    }

    private func read(_ name: String, _ query: Query) -> Double {
        time(name) { seen in
            client.engine.read(query, source: .cache, deadline: nil) { seen.set($0) }
        }
    }

    /// Returns the best of three queries with different orders, so no query benefits from an
    /// earlier one.
    func firstQuery() -> Double {
        let query = workload.newest(ofConversation: workload.count / 100)
        return ["timestamp", "seq", "text"].map { name in
            var other = query
            other.orders = [Order(FieldPath(name: name), .descending)]
            return read("first query", other)
        }.min()!
    }

    func firstSnapshot() -> Double {
        let query = Query(
            collectionID: workload.collection,
            filter: .field(FieldPath(name: "senderId"), .equal, .string("user-0003")))
        return time("first snapshot") { seen in
            let handle = client.engine.listen(query, .init(source: .cache)) { seen.set($0) }
            client.scheduler.runUntilIdle()
            handle.cancel()
        }
    }

    private func figure(_ name: String, of filter: Filter?, is operation: Aggregation.Operator)
        -> (String, Double)
    {
        let query = Query(collectionID: workload.collection, filter: filter)
        let duration = time(name) { seen in
            client.engine.cachedAggregate(query, [Aggregation(alias: "a", operation)]) { result in
                guard case .success = result else { return }
                seen.count(1)
            }
        }
        return (name, duration)
    }

    private func later(than number: Int) -> Filter {
        .field(FieldPath(name: "seq"), .greaterThan, .integer(Int64(number)))
    }

    private var likes: FieldPath { FieldPath(name: "likes") }
    private func isRead(_ value: Bool) -> Filter {
        .field(FieldPath(name: "read"), .equal, .boolean(value))
    }

    func figures() -> [(String, Double)] {
        [
            figure("count of all", of: nil, is: .count(upTo: nil)),
            figure("count of a third", of: isRead(true), is: .count(upTo: nil)),
            figure("count of a range", of: later(than: workload.count / 3), is: .count(upTo: nil)),
            figure("sum of all", of: nil, is: .sum(likes)),
            figure("average of a third", of: isRead(true), is: .average(likes)),
            figure("sum of a range", of: later(than: workload.count / 3), is: .sum(likes)),
        ]
    }

    /// Returns the best of three rounds, because a shared machine has its full speed only in some.
    func figuresAgain() -> [(String, Double)] {
        let rounds = (0..<3).map { _ in figures() + others() }
        return rounds[0].indices.map { index in
            (rounds[0][index].0, rounds.map { $0[index].1 }.min()!)
        }
    }

    /// Returns figures of ranges that were not requested before.
    private func others() -> [(String, Double)] {
        [
            figure("count of the others", of: isRead(false), is: .count(upTo: nil)),
            figure(
                "count of another range", of: later(than: workload.count / 7), is: .count(upTo: nil)
            ),
            figure("sum of another range", of: later(than: workload.count / 5), is: .sum(likes)),
        ]
    }
}
