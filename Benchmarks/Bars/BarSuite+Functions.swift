import Foundation
import TidemarkModel

/// The cost of functions for changes of documents: of triggers that a commit does not match, and of
/// an event's way to its function.
extension BarSuite {
    func functions() async throws {
        let arrivals = try await EventArrivals.start()
        defer { arrivals.stop() }
        let many = try triggers(
            (0..<100).map { (key: "other\($0)", document: "others\($0)/{id}") }, arrivals)
        let told = try triggers([(key: "told", document: "told/{id}")], arrivals)
        try await serving { _, plain in
            try await serving(["--triggers", many.path]) { _, triggered in
                try await unmatched(plain, triggered)
            }
        }
        try await serving(["--triggers", told.path]) { _, steps in
            try await delivered(steps, arrivals)
        }
    }

    /// Measures the same commits on both servers in turn. Both meet the same disturbances then.
    private func unmatched(_ plain: ServerSteps, _ triggered: ServerSteps) async throws {
        var times: (plain: [Double], triggered: [Double]) = ([], [])
        for round in 0..<600 {
            let mutation = change("rooms/\(round % 50)", round)
            let isFirst = round.isMultiple(of: 2)
            for isPlain in [isFirst, !isFirst] {
                let micros = try await time {
                    _ = try await (isPlain ? plain : triggered).commit([mutation])
                }
                // The first rounds make the collection and fill the caches.
                if round < 100 { continue }
                if isPlain { times.plain.append(micros) } else { times.triggered.append(micros) }
            }
        }
        let detail = String(
            format: "%.0f µs with 100 triggers, %.0f µs without, %d commits of each",
            times.triggered.median, times.plain.median, times.plain.count)
        check(.triggers, times.triggered.median / times.plain.median, detail: detail)
    }

    /// Measures the time from a commit's answer to the arrival of its event at the function.
    private func delivered(_ steps: ServerSteps, _ arrivals: EventArrivals) async throws {
        var times: [Double] = []
        for round in 0..<500 {
            _ = try await steps.commit([change("told/\(round % 50)", round)])
            let answered = ContinuousClock().now
            let arrived = await arrivals.next()
            // An event can arrive before the answer.
            if round >= 50 { times.append(max(0, (arrived - answered) / .milliseconds(1))) }
        }
        let sorted = times.sorted()
        let detail = String(
            format: "99 of 100 within %.2f ms, slowest %.2f ms", sorted[sorted.count * 99 / 100],
            sorted[sorted.count - 1])
        check(.event, times.median, detail: detail)
    }

    private func change(_ path: String, _ number: Int) -> Mutation {
        Mutation(
            path: DocumentPath(unchecked: path),
            .set(["n": .integer(Int64(number)), "text": .string("something happened")]))
    }

    /// Writes a file of triggers whose functions are at `arrivals`.
    private func triggers(
        _ triggers: [(key: String, document: String)], _ arrivals: EventArrivals
    ) throws -> URL {
        struct File: Encodable {
            struct Trigger: Encodable { let key, event, document, url: String }

            let project: String
            let triggers: [Trigger]
        }
        let file = File(
            project: Workload.database.project,
            triggers: triggers.map {
                File.Trigger(
                    key: $0.key, event: "written", document: $0.document,
                    url: "http://127.0.0.1:\(arrivals.port)/\($0.key)")
            })
        let place = folder.appending(path: "triggers-\(triggers.count).json")
        try JSONEncoder().encode(file).write(to: place)
        return place
    }
}
