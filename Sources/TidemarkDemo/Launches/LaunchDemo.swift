import ExampleKit
import Foundation
import Tidemark
import TidemarkModel
import TidemarkPhones

/// Launches of the app of journeys 1 on bad networks, as it was and on Tidemark.
struct LaunchDemo: Sendable {
    /// The number of documents on the device.
    var documents = 100_000
    /// The number of launches on Tidemark for the time to first content, on each network.
    var launches = 200
    /// The time for launches of the app as it was, on one network, in seconds. It determines the
    /// number of these launches, and the medians of both apps use that number.
    var secondsBefore = 60.0
    /// The number of launches that continue to their end, if the network reaches the server.
    var wholeLaunches = 5
    var networks = LaunchNetwork.allCases
    var bills = BillOptions()

    /// Plays the launches, and prints their tables as a detail.
    func play(_ output: DemoOutput) async throws -> LaunchDemoFigures {
        let start = ContinuousClock.now
        return try await LaunchGround.play(
            "launch", under: .stamps, on: networks, bills: bills
        ) { ground in
            let pictures = try await LaunchPictures()
            let project = try ground.project()
            let phones = try await LaunchSeed(documents: documents).phones(ground, pictures)
            var play = LaunchPlay(
                ground: ground, pictures: pictures, phones: phones, project: project)
            var figures = try await figures(of: &play, ground)
            // tidemark:ignore sequential-reads an update played beside the launches slows them
            figures.updates = try await UpdateDemo.play(bills)
            await project.firestore.terminate()
            await pictures.close()
            output.detail("\n" + figures.table)
            let seconds = (ContinuousClock.now - start).milliseconds / 1_000
            output.detail(
                String(format: "%d documents on the device, %.1f s in all", documents, seconds))
            return figures
        }
    }

    private func figures(
        of play: inout LaunchPlay, _ ground: LaunchGround
    ) async throws -> LaunchDemoFigures {
        var figures = LaunchDemoFigures()
        for network in networks {
            guard let place = ground.gates.places[network] else { continue }
            // tidemark:ignore read-in-loop there are seven networks at the most
            try await self.play(&play, network: network, place: place, into: &figures)
        }
        if let place = ground.gates.places[.healthy] {
            ProgressLine.show("launches with and without a diagnosis")
            let times = min(launches, 100)
            let before = try await play.costOfDiagnosis(.before, place, times: times)
            let after = try await play.costOfDiagnosis(.after, place, times: times)
            figures.costs.append(
                LaunchScenario(
                    name: "with and without a diagnosis", network: LaunchNetwork.healthy.rawValue,
                    bar: DiagnosisCost.bar, before: before.cost, after: after.cost,
                    slow: after.cost.slow))
            figures.bills.append(
                LaunchScenario(
                    "bill of a launch with or without a diagnosis", on: .healthy, in: bills.edition,
                    before: before.bills, planned: after.planned))
        }
        return figures
    }

    /// Returns the number of launches of the app as it was.
    private func compared(on network: LaunchNetwork) -> Int {
        max(1, min(launches, Int(secondsBefore / network.secondsBefore)))
    }

    private func play(
        _ play: inout LaunchPlay, network: LaunchNetwork, place: LaunchPlace,
        into figures: inout LaunchDemoFigures
    ) async throws {
        let compared = compared(on: network)
        let start = play
        let ((before, after, whole, end), speed) = try await TimeJudge.timed {
            var play = start
            ProgressLine.show("\(network.rawValue): \(compared) launches as it was")
            let olds =
                network.reachesServer
                ? try await play.firstContents(
                    .before, network: network, place: place, times: compared) : []
            ProgressLine.show("\(network.rawValue): \(launches) launches on Tidemark")
            let news = try await play.firstContents(
                .after, network: network, place: place, times: launches)
            ProgressLine.show("\(network.rawValue): both apps, to the end of a launch")
            let whole = try await play.wholeLaunches(
                network, place, times: network.reachesServer ? wholeLaunches : compared)
            let before = LaunchFigure(firsts: olds, whole: whole.before)
            var after = LaunchFigure(firsts: news, whole: whole.after, compared: compared)
            after.overDeadlineMs = try await play.overDeadline(network, place)
            return (before, after, whole, play)
        }
        play = end
        var launch = LaunchScenario(
            name: "launch", network: network.rawValue, bar: LaunchFigure.bar(of: network),
            before: before, after: after, why: after.wrongs(on: network),
            slow: after.slow(on: network))
        launch.speed = speed
        figures.launches.append(launch)
        figures.bills.append(
            LaunchScenario(
                "bill of a launch", on: network, in: bills.edition,
                before: whole.before.map(\.bill), planned: whole.planned))
        ProgressLine.show("\(network.rawValue): a diagnosis")
        let (report, paid) = try await play.diagnose(network, place)
        let told = whole.after.last?.use.last?.connection
        let found = DiagnosisFigure(report, told: told)
        figures.diagnoses.append(
            LaunchScenario(
                name: "diagnosis", network: network.rawValue,
                bar: DiagnosisFigure.bar(of: network),
                before: DiagnosisFigure(heldUpMs: before.firstContentMs), after: found,
                why: found.wrongs(on: network)
                    + [paid.complaint(in: bills.edition)].compactMap(\.self),
                slow: found.slow))
        if network.reachesServer, let old = whole.before.last, let new = whole.after.last {
            figures.ranks.append(LaunchScenario(network, before: old, after: new))
        }
    }
}
