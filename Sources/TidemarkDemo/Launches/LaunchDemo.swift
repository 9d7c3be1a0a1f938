import ExampleKit
import Foundation
import TidemarkModel

/// Launches of one app on bad networks, as it was and on Tidemark.
struct LaunchDemo: Sendable {
    /// That the device holds.
    var documents = 100_000
    /// On each network.
    var launches = 200
    var networks = LaunchNetwork.allCases

    /// Plays them, and prints their tables as a detail.
    func play(_ output: DemoOutput) async throws -> LaunchDemoFigures {
        let start = ContinuousClock.now
        return try await LaunchGround.play("launch", under: .stamps, on: networks) { ground in
            let app = StampsApp(folder: ground.folder.appendingPathComponent("device").path)
            try await prepare(app, ground)
            let figures = try await play(app, networks, ground)
            output.detail("\n" + figures.table)
            let seconds = (ContinuousClock.now - start).milliseconds / 1_000
            output.detail(
                String(format: "%d documents on the device, %.1f s in all", documents, seconds))
            return figures
        }
    }

    private func play(
        _ app: StampsApp, _ networks: [LaunchNetwork], _ ground: LaunchGround
    ) async throws -> LaunchDemoFigures {
        var figures = LaunchDemoFigures()
        for network in networks {
            guard let place = ground.gates.places[network] else { continue }
            ProgressLine.show("\(network.rawValue): as it was")
            // tidemark:ignore read-in-loop there are seven networks at the most
            let before = await app.launchAsItWas(place, network.label)
            ProgressLine.show("\(network.rawValue): on Tidemark, \(launches) launches")
            // tidemark:ignore read-in-loop there are seven networks at the most
            let after = try await app.launch(place, network.label, times: launches)
            figures.launches.append(
                LaunchScenario(
                    name: "launch", network: network.rawValue, holds: after.holds,
                    bar: LaunchFigure.bar, before: before, after: after))
            ProgressLine.show("\(network.rawValue): a diagnosis")
            let found = try await app.diagnose(place, network)
            figures.diagnoses.append(
                LaunchScenario(
                    name: "diagnosis", network: network.rawValue, holds: found.holds,
                    bar: DiagnosisFigure.bar(of: network),
                    before: DiagnosisFigure(heldUpMs: before.diagnosisMs), after: found))
            guard network.reachesServer else { continue }
            ProgressLine.show("\(network.rawValue): a rank")
            // tidemark:ignore read-in-loop there are seven networks at the most
            figures.ranks.append(try await RankPlay(ground: ground).play(network, place))
        }
        if let place = ground.gates.places[.healthy] {
            ProgressLine.show("launches with and without a diagnosis")
            figures.costs.append(try await app.costOfDiagnosis(place, times: min(launches, 100)))
        }
        return figures
    }

    /// A person who has used the app for a while: an account, a profile, and a full cache.
    private func prepare(_ app: StampsApp, _ ground: LaunchGround) async throws {
        ProgressLine.show("\(documents) documents on the server")
        let direct = DirectServer(ground.server)
        let stamps = (0..<documents).map { number in
            let time = Value.timestamp(
                Timestamp(seconds: 1_700_000_000 + Int64(number), nanoseconds: 0))
            return Mutation(
                path: DocumentPath(unchecked: "stamps/s\(number)"),
                .set(["name": .string("Stamp \(number)"), "createdAt": time, "updatedAt": time]))
        }
        try await direct.play(stamps, together: 500)
        try await direct.play(RankPlay.users, together: 500)
        await direct.close()
        ProgressLine.show("\(documents) documents on the device")
        try await app.prepare(ground.gates.direct)
    }
}
