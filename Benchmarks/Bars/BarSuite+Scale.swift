import Foundation
import TidemarkModel
import TidemarkWire

extension BarSuite {
    /// From the commit's call to its document at the last of 1,000 streams of five connections. The
    /// client's work, 1,000 messages to decode, is in it.
    func fanOut() async throws {
        try await serving { child, steps in
            let query = Query(collectionID: "fan")
            let connections = (0..<5).map { _ in ServerSteps(child) }
            var listeners: [Listener] = []
            for connection in connections {
                for _ in 0..<200 { listeners.append(try await Listener(connection, query)) }
            }
            var times: [Double] = []
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
                String(format: "slowest of %d: %.0f ms", times.count, times.max() ?? 0))
            for listener in listeners { listener.stop() }
            for connection in connections { await connection.transport.close() }
        }
    }

    /// The same commits when the collection holds 1,000 documents, and when it holds many; by an index
    /// on the field that they are ordered by.
    func size() async throws {
        try await serving { child, steps in
            let workload = Workload(count: scale)
            try await steps.load(workload, 0..<1_000)
            _ = try await steps.query(workload.top)
            try await Task.sleep(for: .seconds(1))
            let few = try await commits(steps, workload, among: 1_000)
            let seconds = try await time { try await steps.load(workload, 1_000..<scale) } / 1e6
            let many = try await commits(steps, workload, among: scale)
            check(
                .size, max(many.one / few.one, many.all / few.all),
                String(
                    format: "%d: one write %.2f to %.2f ms, 500 writes %.1f to %.1f ms; %.0f/s",
                    scale, few.one / 1e3, many.one / 1e3, few.all / 1e3, many.all / 1e3,
                    Double(scale) / seconds))
        }
    }

    /// The same commits beside 1,000 targets on other collections, and beside many.
    func listeners() async throws {
        try await serving { child, steps in
            let workload = Workload(count: 1_000)
            try await steps.load(workload)
            var listeners = [try await listener(steps, 0..<1_000)]
            let few = try await commits(steps, workload, among: 1_000)
            for start in stride(from: 1_000, to: scale, by: 10_000) {
                listeners.append(
                    try await listener(steps, start..<min(start + 10_000, scale)))
            }
            let many = try await commits(steps, workload, among: 1_000)
            check(
                .listeners, max(many.one / few.one, many.all / few.all),
                String(
                    format: "%d: one write %.2f to %.2f ms, 500 writes %.1f to %.1f ms; %.0f MiB",
                    scale, few.one / 1e3, many.one / 1e3, few.all / 1e3, many.all / 1e3,
                    child.residentMiB ?? .nan))
            for listener in listeners { listener.stop() }
        }
    }

    private func listener(_ steps: ServerSteps, _ numbers: Range<Int>) async throws -> Listener {
        try await Listener(steps, queries: numbers.map { Query(collectionID: "elsewhere-\($0)") })
    }

    /// Rewrites documents that are there, all over the collection: nothing grows.
    private func commits(
        _ steps: ServerSteps, _ workload: Workload, among count: Int
    ) async throws -> (one: Double, all: Double) {
        func commit(_ number: Int, _ size: Int) -> [Mutation] {
            (0..<size).map { step in
                let document = (number &* 104_729 &+ step &* 7_919) % count
                var fields = workload.fields(document)
                fields["likes"] = .integer(Int64(number))
                return Mutation(path: workload.path(document), .set(fields))
            }
        }
        let ones = (0..<400).map { commit($0, 1) }
        let many = (0..<40).map { commit($0 + 400, 500) }
        let one = try await median(ones.count) { try await steps.commit(ones[$0]) }
        let all = try await median(many.count) { try await steps.commit(many[$0]) }
        return (one, all)
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
