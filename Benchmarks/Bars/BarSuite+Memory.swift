import Foundation
import TidemarkModel
import TidemarkWire

extension BarSuite {
    /// 20 clients request 100,000 documents of 2 KiB, and read no answer.
    func silent() async throws {
        try await serving { child, steps in
            let text = String(repeating: "0123456789abcdef", count: 120)
            for start in stride(from: 0, to: count, by: 500) {
                let mutations = (start..<min(start + 500, count)).map {
                    Mutation(
                        path: DocumentPath(unchecked: "large/\($0)"), .set(["text": .string(text)]))
                }
                _ = try await steps.commit(mutations)
            }
            let before = child.residentMiB ?? .nan
            let readers = try (0..<20).map { _ in
                try SilentReader(port: child.port, collection: "large")
            }
            var most = before
            for _ in 0..<100 {
                try await Task.sleep(for: .milliseconds(100))
                most = max(most, child.residentMiB ?? .nan)
            }
            // The server must serve other clients at the same time.
            let path = DocumentPath(unchecked: "large/1")
            let get = try await median(100) { _ in try await steps.get(path) }
            check(
                .silent, most - before,
                detail: String(format: "from %.0f MiB; a get meanwhile %.2f ms", before, get / 1e3))
            for reader in readers { reader.close() }
        }
    }

    /// Reads, writes and listens for some minutes, and samples the memory every second.
    func soaking() async throws {
        try await serving { child, steps in
            let workload = Workload(count: 20_000)
            try await steps.load(workload)
            let clock = ContinuousClock()
            let end = clock.now + .seconds(soak * 60)
            let others = ServerSteps(child)
            let load = MixedLoad(steps: others, workload: workload)
            let working = Task { try await load.run(until: end) }
            var samples: [(hours: Double, mebibytes: Double)] = []
            let begun = clock.now
            while clock.now < end {
                try await Task.sleep(for: .seconds(1))
                let hours = (clock.now - begun) / .seconds(3_600)
                samples.append((hours, child.residentMiB ?? .nan))
            }
            let rounds = try await working.value
            await others.transport.close()
            // Caches fill and the log reaches its length in the first half.
            let late = Array(samples.dropFirst(samples.count / 2))
            let first = late.first?.mebibytes ?? .nan
            let last = late.last?.mebibytes ?? .nan
            check(
                .slope, Self.slope(late),
                detail: String(
                    format: "%.0f minutes, %d rounds, %.0f to %.0f MiB in the later half", soak,
                    rounds, first, last))
        }
    }

    /// Returns the slope by least squares, in MiB per hour.
    private static func slope(_ samples: [(hours: Double, mebibytes: Double)]) -> Double {
        let count = Double(samples.count)
        let meanX = samples.reduce(0) { $0 + $1.hours } / count
        let meanY = samples.reduce(0) { $0 + $1.mebibytes } / count
        let covariance = samples.reduce(0) { $0 + ($1.hours - meanX) * ($1.mebibytes - meanY) }
        let variance = samples.reduce(0) { $0 + ($1.hours - meanX) * ($1.hours - meanX) }
        return covariance / variance
    }
}

/// The repeated calls of an app's clients.
struct MixedLoad: Sendable {
    let steps: ServerSteps
    let workload: Workload

    /// - Returns: The number of rounds.
    func run(until end: ContinuousClock.Instant) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for lane in 0..<4 { group.addTask { try await rounds(lane, until: end) } }
            return try await group.reduce(0, +)
        }
    }

    private func rounds(_ lane: Int, until end: ContinuousClock.Instant) async throws -> Int {
        var round = 0
        while ContinuousClock().now < end {
            let number = workload.scattered(lane * 5_000 + round)
            _ = try await steps.get(workload.path(number))
            _ = try await steps.query(workload.newest(ofConversation: number))
            // The commit replaces existing documents, so the data does not grow.
            _ = try await steps.commit(
                (0..<10).map { step in
                    var fields = workload.fields((number + step) % workload.count)
                    fields["likes"] = .integer(Int64(round))
                    return Mutation(
                        path: workload.path((number + step) % workload.count), .set(fields))
                })
            // Every listen ends with a reset, and a server regards 200 resets in half a minute as
            // an attack.
            if round.isMultiple(of: 200) {
                _ = try await steps.listen(workload.newest(ofConversation: number))
            }
            if round.isMultiple(of: 200) {
                _ = try await steps.query(Query(collectionID: workload.collection))
            }
            round += 1
        }
        return round
    }
}
