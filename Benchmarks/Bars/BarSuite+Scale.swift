import Foundation
import TidemarkModel
import TidemarkWire

extension BarSuite {
    /// Measures the time from a commit until its document has reached the last of 1,000 streams on
    /// five connections. The time includes the client's work, which decodes 1,000 messages.
    func fanOut() async throws {
        try await serving { child, steps in
            let query = Query(collectionID: "fan")
            let connections = (0..<5).map { _ in ServerSteps(child) }
            var listeners: [Listener] = []
            for connection in connections {
                for _ in 0..<200 { listeners.append(try await Listener(connection, query)) }
            }
            var times: [Double] = []
            let begin = child.processorSeconds ?? .nan
            for round in 0..<30 {
                let mutation = Mutation(
                    path: DocumentPath(unchecked: "fan/\(round)"),
                    .set(["n": .integer(Int64(round)), "text": .string("something happened")]))
                let micros = try await time {
                    _ = try await steps.commit([mutation])
                    for listener in listeners { try await listener.waitForChanges(round + 1) }
                }
                if round >= 5 { times.append(micros / 1e3) }
            }
            check(
                .fanOut, times.median,
                detail: String(
                    format: "slowest of %d: %.0f ms; the server's processor %.0f ms", times.count,
                    times.max() ?? 0, ((child.processorSeconds ?? .nan) - begin) * 1e3 / 30))
            for listener in listeners { listener.stop() }
            for connection in connections { await connection.transport.close() }
        }
    }

    /// Measures the same commits in a collection of 1,000 documents, and in a large one, with an
    /// index on the field of their order.
    func size() async throws {
        try await serving { child, steps in
            let workload = Workload(count: scale)
            try await steps.load(workload, 0..<1_000)
            _ = try await steps.query(workload.top)
            try await Task.sleep(for: .seconds(1))
            let few = try await commits(of: child, steps, workload, among: 1_000)
            let seconds = try await time { try await steps.load(workload, 1_000..<scale) } / 1e6
            let many = try await commits(of: child, steps, workload, among: scale)
            let detail = String(format: ", loaded at %.0f/s", Double(scale) / seconds)
            check(.size, many.one / few.one, detail: many.ones(few, scale) + detail)
            check(.sizeOfMany, many.all / few.all, detail: many.alls(few, scale) + rawRewrites())
        }
    }

    /// Rewrites the same 500 rows in raw SQLite with the same sync. This is the minimum cost in a
    /// file of this kind, because each row is on a different page.
    private func rawRewrites() -> String {
        func micros(among count: Int) -> Double {
            let raw = RawDatabase(folder.appending(path: "raw-\(count).sqlite").path)
            let workload = Workload(count: scale)
            for start in stride(from: 0, to: count, by: 500) {
                raw.load((start..<min(start + 500, count)).map { RawDatabase.Row(workload, $0) })
            }
            raw.syncEveryCommit(true)
            let commits = (0..<40).map { round in
                (0..<500).map { step in
                    RawDatabase.Row(workload, Self.scattered(round + 400, step, among: count))
                }
            }
            return median(commits.count) { round in
                raw.rewrite(commits[round])
                return 1
            }
        }
        let few = micros(among: 1_000)
        let many = micros(among: scale)
        return String(
            format: "; raw SQLite %.2f to %.2f ms, %.2fx", few / 1e3, many / 1e3, many / few)
    }

    /// Returns a document's number. The numbers of the steps are spread over the collection.
    private static func scattered(_ number: Int, _ step: Int, among count: Int) -> Int {
        (number &* 104_729 &+ step &* 7_919) % count
    }

    /// Measures the same commits beside 1,000 targets on other collections, and beside many.
    func listeners() async throws {
        try await serving { child, steps in
            let workload = Workload(count: 1_000)
            try await steps.load(workload)
            var listeners = [try await listener(steps, 0..<1_000)]
            let few = try await commits(of: child, steps, workload, among: 1_000)
            for start in stride(from: 1_000, to: scale, by: 10_000) {
                listeners.append(
                    try await listener(steps, start..<min(start + 10_000, scale)))
            }
            let many = try await commits(of: child, steps, workload, among: 1_000)
            let detail = String(format: ", %.0f MiB", child.residentMiB ?? .nan)
            check(
                .listeners, max(many.one / few.one, many.all / few.all),
                detail: many.alls(few, scale) + detail)
            for listener in listeners { listener.stop() }
        }
    }

    private func listener(_ steps: ServerSteps, _ numbers: Range<Int>) async throws -> Listener {
        try await Listener(steps, queries: numbers.map { Query(collectionID: "elsewhere-\($0)") })
    }

    /// Rewrites existing documents all over the collection, so nothing grows.
    private func commits(
        of child: ServerChild, _ steps: ServerSteps, _ workload: Workload, among count: Int
    ) async throws -> CommitCosts {
        func commit(_ number: Int, _ size: Int) -> [Mutation] {
            (0..<size).map { step in
                let document = Self.scattered(number, step, among: count)
                var fields = workload.fields(document)
                fields["likes"] = .integer(Int64(number))
                return Mutation(path: workload.path(document), .set(fields))
            }
        }
        let ones = (0..<400).map { commit($0, 1) }
        let many = (0..<40).map { commit($0 + 400, 500) }
        let begin = child.processorSeconds ?? .nan
        let one = try await median(ones.count) { try await steps.commit(ones[$0]) }
        let middle = child.processorSeconds ?? .nan
        let all = try await median(many.count) { try await steps.commit(many[$0]) }
        let end = child.processorSeconds ?? .nan
        return CommitCosts(
            one: one, all: all, processorOne: (middle - begin) * 1e6 / Double(ones.count),
            processorAll: (end - middle) * 1e6 / Double(many.count))
    }
}

/// The microseconds of a commit of one write and of 500: by the clock, which includes waiting on a
/// busy machine, and in processor time of the server.
private struct CommitCosts {
    let one, all: Double
    let processorOne, processorAll: Double

    func ones(_ few: CommitCosts, _ count: Int) -> String {
        text(
            of: count, "one write", times: (few.one, one),
            processor: (few.processorOne, processorOne))
    }

    func alls(_ few: CommitCosts, _ count: Int) -> String {
        text(
            of: count, "500 writes", times: (few.all, all),
            processor: (few.processorAll, processorAll))
    }

    private func text(
        of count: Int, _ writes: String, times: (few: Double, many: Double),
        processor: (few: Double, many: Double)
    ) -> String {
        String(
            format: "%d, %@: %.2f to %.2f ms, processor %.2f to %.2f ms", count, writes,
            times.few / 1e3, times.many / 1e3, processor.few / 1e3, processor.many / 1e3)
    }
}

extension ServerSteps {
    func load(_ workload: Workload, _ numbers: Range<Int>) async throws {
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 500) {
            let range = start..<min(start + 500, numbers.upperBound)
            _ = try await transport.commit(range.map { Self.set(workload, $0) }, context)
        }
    }
}
