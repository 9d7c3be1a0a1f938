import ExampleKit
import Foundation
import TidemarkModel

/// Plays rows on networks.
struct ScenarioRun {
    let rows: [any ScenarioRow]
    let networks: [DemoNetwork]
    /// The server's time in seconds since 1970. No event of any row is later.
    let clock: Int64
    /// The security rules of the app.
    let rules: ExampleRules
    let edition: DatabaseEdition
    /// True if each prediction is wrong by one read, for the test that such a row fails.
    var plantsRead = false
    /// True if the networks run concurrently. This is faster, but it disturbs measurements of
    /// processor time.
    var isConcurrent = true

    /// Returns the results in the order of the rows, with all networks of each row.
    func run(progress: @escaping @Sendable (String) -> Void) async throws -> [ScenarioResult] {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-demo-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let ground = try await Ground.make(
            rows, in: folder.appendingPathComponent("ground"), clock: clock, rules: rules,
            edition: edition, progress: progress)
        let grounds = try networks.map {
            ($0, try ground.copy(to: folder.appendingPathComponent($0.rawValue)))
        }
        let runs = try await withThrowingTaskGroup(of: [ScenarioResult?].self) { group in
            var runs: [[ScenarioResult?]] = []
            for (network, ground) in grounds {
                group.addTask { try await play(network, ground: ground, progress: progress) }
                let isAlone = !isConcurrent || TimeJudge.current != nil
                if isAlone, let run = try await group.next() { runs.append(run) }
            }
            return try await group.reduce(into: runs) { $0.append($1) }
        }
        return rows.indices.flatMap { row in
            networks.compactMap { network in
                runs.compactMap { $0[row] }.first { $0.network == network }
            }
        }
    }

    /// Returns the results in the order of the rows; nil for a row that has no part on the network.
    private func play(
        _ network: DemoNetwork, ground: Ground, progress: @Sendable (String) -> Void
    ) async throws -> [ScenarioResult?] {
        let run = try await NetworkRun(network, ground, plantsRead: plantsRead)
        var results: [ScenarioResult?] = []
        do {
            for row in rows {
                guard row.isPlayed(on: network) else {
                    results.append(nil)
                    continue
                }
                progress("\(network.rawValue): \(row.name)")
                results.append(try await run.play(row))
            }
        } catch {
            await run.end()
            throw error
        }
        await run.end()
        return results
    }
}
