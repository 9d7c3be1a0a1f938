import ExampleKit
import Foundation
import HomesCore
import Tidemark
import TidemarkHTTPClient
import TidemarkModel
import TidemarkPhones

/// Kills apps at each step of a sign-up, as they were and on Tidemark.
struct SignUpDemo: Sendable {
    var networks = LaunchNetwork.allCases
    var bills = BillOptions()
    /// The number of devices that run concurrently.
    var together = 12
    /// True if the demo prints the story of each device.
    var reportsEach = false

    /// Plays the devices, and prints their table as a detail.
    func play(_ output: DemoOutput) async throws -> [LaunchScenario<SignUpFigures>] {
        let start = ContinuousClock.now
        return try await LaunchGround.play(
            "signup", under: .homes, on: networks, bills: bills
        ) { ground in
            let project = try ground.project()
            try await Example.homes.seed(project)
            let planner = try await SignUpPlanner(ground, project)
            await project.firestore.terminate()
            let devices = networks.flatMap { network in
                PhoneSide.allCases.flatMap { side in
                    (1...SignUpDevice.steps(of: side)).map {
                        SignUpDevice(
                            network: network, side: side, killAt: $0, folder: ground.folder)
                    }
                }
            }
            let outcomes = try await play(devices, ground, planner, output: output)
            var scenarios = try await judge(outcomes, networks: networks, server: ground.server)
            for index in scenarios.indices {
                let mine = outcomes.filter { $0.device.network == networks[index] }
                scenarios[index] = try await scenarios[index].withBills(
                    of: mine, on: networks[index], ground, planner)
            }
            output.detail("\n" + table(scenarios))
            let seconds = (ContinuousClock.now - start).milliseconds / 1_000
            output.detail(String(format: "%d devices, %.1f s in all", devices.count, seconds))
            return scenarios
        }
    }

    private func play(
        _ devices: [SignUpDevice], _ ground: LaunchGround, _ planner: SignUpPlanner,
        output: DemoOutput
    ) async throws -> [SignUpOutcome] {
        try await withThrowingTaskGroup(of: SignUpOutcome.self) { group in
            var waiting = devices[...]
            var outcomes: [SignUpOutcome] = []
            for device in waiting.prefix(together) {
                group.addTask { try await device.play(ground, planner) }
            }
            waiting = waiting.dropFirst(together)
            for try await outcome in group {
                outcomes.append(outcome)
                ProgressLine.show("\(outcomes.count) of \(devices.count) devices")
                if reportsEach { output.detail(outcome.story) }
                guard let device = waiting.popFirst() else { continue }
                group.addTask { try await device.play(ground, planner) }
            }
            ProgressLine.clear()
            return outcomes
        }
    }

    // MARK: What came of it

    private func judge(
        _ outcomes: [SignUpOutcome], networks: [LaunchNetwork], server: ServerProcess
    ) async throws -> [LaunchScenario<SignUpFigures>] {
        let accounts = try await accounts(server.accountsPort)
        let direct = DirectServer(server)
        let profiles = try await direct.documents(in: CollectionPath(unchecked: "users"))
        await direct.close()
        let withProfile = Set(profiles.map(\.path.id))
        let withAccount = Set(accounts.map(\.localId))
        func figures(_ network: LaunchNetwork, _ side: PhoneSide) -> SignUpFigures {
            let prefix = "\(network.rawValue)-\(side.rawValue)-"
            let own = accounts.filter { $0.email?.hasPrefix(prefix) == true }
            let alone = profiles.filter { document in
                guard case .string(let name)? = document.fields["name"] else { return false }
                return name.hasPrefix(prefix) && !withAccount.contains(document.path.id)
            }
            let mine = outcomes.filter { $0.device.network == network && $0.device.side == side }
            return SignUpFigures(
                devices: mine.count, killed: mine.count(where: \.wasKilledAtStep),
                accounts: own.count,
                accountsWithoutProfile: own.count { !withProfile.contains($0.localId) },
                profilesWithoutAccount: alone.count,
                secondAccounts: max(0, own.count - mine.count),
                deadEnds: mine.count(where: \.isDeadEnd),
                finished: mine.count(where: \.isLive))
        }
        return networks.map { network in
            let after = figures(network, .after)
            return LaunchScenario(
                name: "sign-up killed at each step", network: network.rawValue,
                bar:
                    "0 orphans, 0 second accounts, 0 dead ends, every device live in the end, killed at "
                    + "\(network.reachableSteps) steps of \(SignUpDevice.steps(of: .after)) at least",
                before: figures(network, .before), after: after, why: after.wrongs(on: network))
        }
    }

    private struct Account: Decodable {
        let localId: String
        let email: String?
    }

    private static let session = HTTPSession(maxRedirects: 0, silence: .seconds(10))

    /// Returns all accounts, as an administrator lists them.
    private func accounts(_ port: Int) async throws -> [Account] {
        struct Page: Decodable {
            let users: [Account]?
            let nextPageToken: String?
        }
        var all: [Account] = []
        var token = ""
        for _ in 0..<1_000 {
            let request = HTTPRequest(
                "GET",
                "http://127.0.0.1:\(port)/identitytoolkit.googleapis.com/v1/projects/"
                    + "\(DemoPlace.project)/accounts:batchGet?maxResults=1000"
                    + (token.isEmpty ? "" : "&nextPageToken=\(token)"),
                fields: [("authorization", "Bearer owner")])
            let answer = try await Self.session.answer(to: request, upTo: 16 << 20)
            let page = try JSONDecoder().decode(Page.self, from: Data(answer.body))
            all += page.users ?? []
            guard let next = page.nextPageToken, !next.isEmpty, page.users?.isEmpty == false else {
                return all
            }
            token = next
        }
        return all
    }

    private func table(_ scenarios: [LaunchScenario<SignUpFigures>]) -> String {
        func row(_ cells: [String]) -> String {
            zip(cells, [11, 7, 8, 9, 8, 9, 7, 10, 5]).map { text, width in
                text.padding(toLength: max(width, text.count), withPad: " ", startingAt: 0)
            }.joined(separator: " ")
        }
        var lines = [
            row([
                "network", "side", "devices", "killed -9", "accounts", "orphans", "second",
                "dead ends", "live",
            ])
        ]
        for scenario in scenarios {
            for (side, figures) in [("before", scenario.before), ("after", scenario.after)] {
                let orphans = figures.accountsWithoutProfile + figures.profilesWithoutAccount
                let counts = [
                    figures.devices, figures.killed, figures.accounts, orphans,
                    figures.secondAccounts, figures.deadEnds, figures.finished,
                ]
                lines.append(row([scenario.network, side] + counts.map(String.init)))
            }
        }
        let bills = scenarios.compactMap(\.billLine)
        return (lines + [""] + bills).joined(separator: "\n")
    }
}

/// The results of all devices on one network.
struct SignUpFigures: Encodable, Sendable {
    let devices, killed, accounts: Int
    let accountsWithoutProfile, profilesWithoutAccount, secondAccounts: Int
    /// The number of devices with a launch from which the user could not continue.
    let deadEnds: Int
    let finished: Int
    /// The bills of the last launches, and of the launches before them; nil before they are known.
    var lastBills: LaunchBills?
    var killedBills: LaunchBills?

    /// Returns the failed requirements on Tidemark; empty if all hold.
    func wrongs(on network: LaunchNetwork) -> [String] {
        var wrongs = [
            (accountsWithoutProfile, "accounts without a profile"),
            (profilesWithoutAccount, "profiles without an account"),
            (secondAccounts, "second accounts"), (deadEnds, "dead ends"),
            (devices - finished, "devices not live in the end"),
        ].filter { $0.0 != 0 }.map { "\($0) \($1)" }
        if killed < network.reachableSteps {
            wrongs.append("killed at \(killed) steps, not \(network.reachableSteps)")
        }
        return wrongs
    }
}
