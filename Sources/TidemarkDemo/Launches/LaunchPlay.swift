import ExampleKit
import Foundation
import StampsCore
import Tidemark
import TidemarkApp
import TidemarkPhones

/// Launches both apps of journeys 1 on the networks in turn. Each launch is a separate process.
struct LaunchPlay: Sendable {
    /// The maximum time that a user waits before ending an app. It is longer than the check in the
    /// app as it was, than the budget of every stage on Tidemark, and than both take on a busy
    /// machine.
    static let patience = Duration.seconds(60)
    /// The number of stamps issued before each launch that must show new stamps.
    private static let issued = 3
    /// The pause between two such launches in seconds, because a query for changes starts five
    /// minutes before the last one.
    private static let pause = 600.0

    let ground: LaunchGround
    let pictures: LaunchPictures
    let phones: [PhoneSide: StampsPhone]
    /// The access to the server without a network.
    let project: PhoneProject
    /// The number of seconds by which the clocks of the server and the phones are ahead.
    private(set) var ahead = 0.0
    private var acts = 0

    init(
        ground: LaunchGround, pictures: LaunchPictures, phones: [PhoneSide: StampsPhone],
        project: PhoneProject
    ) {
        (self.ground, self.pictures, self.phones, self.project) = (
            ground, pictures, phones, project
        )
    }

    /// Returns the phone of the side. There is a phone for each side.
    func phone(_ side: PhoneSide) -> StampsPhone { phones[side]! }

    /// Launches both apps to their ends, one after the other. If the network does not reach the
    /// server, a launch of the app as it was ends when it shows something, and one launch of the
    /// app on Tidemark is sufficient.
    mutating func wholeLaunches(
        _ network: LaunchNetwork, _ place: LaunchPlace, times: Int
    ) async throws -> WholeLaunches {
        try await pictures.play(network)
        var launches = WholeLaunches()
        for number in 0..<times {
            let news = network.reachesServer ? try await issue() : []
            let truth = try await Example.stamps.truth(project)
            launches.before.append(
                try await wholeLaunch(
                    .before, network: network, place: place, truth: truth, news: news))
            if !network.reachesServer, number > 0 { continue }
            let forecast = try await forecast(network, news: news)
            let launch = try await wholeLaunch(
                .after, network: network, place: place, truth: truth, news: news)
            launches.after.append(launch)
            launches.planned.append(PlannedLaunch(forecast: forecast, bill: launch.bill))
        }
        return launches
    }

    /// Predicts the bill of the next launch on Tidemark.
    func forecast(_ network: LaunchNetwork, news: Set<String>) async throws -> Forecast {
        let planner = LaunchPlanner(
            server: ground.server, project: project, plantsRead: ground.bills.plantsRead)
        guard network.reachesServer || network == .slow else {
            return planner.forecastWithoutServer()
        }
        let settings = phone(.after).settings(ground.gates.direct, network.label(.after))
        let forecast = try await planner.forecast(
            settings, ahead: ahead, away: Self.pause, news: news)
        return network == .slow
            ? forecast.atMost(because: "the app is killed before an answer arrives") : forecast
    }

    private func wholeLaunch(
        _ side: PhoneSide, network: LaunchNetwork, place: LaunchPlace, truth: [String],
        news: Set<String>
    ) async throws -> WholeLaunch {
        let label = network.label(side)
        let before = try await ground.server.bill(of: label)
        let use = try await phone(side).launch(
            phone(side).settings(place, label), ahead: ahead,
            within: Self.patience
        ) { use in
            guard let screen = use.last, !screen.documents.isEmpty else { return false }
            return Self.isWhole(screen, side: side, network: network, truth: truth)
        }
        let bill = try await ground.server.bill(of: label).minus(before)
        return WholeLaunch(
            use: use, truth: truth, bill: bill, isReached: network.reachesServer, fromNetwork: news)
    }

    /// Returns true if no further change appears without user action.
    private static func isWhole(
        _ screen: Screen, side: PhoneSide, network: LaunchNetwork, truth: [String]
    ) -> Bool {
        // The app as it was shows nothing more if no server answers.
        if side == .before, !network.reachesServer { return true }
        guard screen.rank != nil, side == .before || screen.connection != nil else { return false }
        if !network.reachesServer { return true }
        return screen.isUpToDate && screen.documents == truth && screen.hasAllPictures
    }

    /// Issues stamps of other users.
    ///
    /// - Returns: The ids of the stamps.
    private mutating func issue() async throws -> Set<String> {
        ahead += Self.pause
        let time = Int64(Date().timeIntervalSince1970 + ahead)
        try await ground.server.setClock(secondsSince1970: time)
        let old = Set(try await Example.stamps.truth(project))
        for _ in 0..<Self.issued {
            try await Example.stamps.others(project, acts)
            acts += 1
        }
        return Set(try await Example.stamps.truth(project)).subtracting(old)
    }

    /// Launches the app, and kills each launch when it shows stamps. Nothing else runs at the same
    /// time.
    func firstContents(
        _ side: PhoneSide, network: LaunchNetwork, place: LaunchPlace, times: Int
    ) async throws -> [PhoneUse] {
        try await pictures.play(network)
        let phone = phone(side)
        let settings = phone.settings(place, network.label(side))
        var uses: [PhoneUse] = []
        for _ in 0..<times {
            uses.append(
                try await phone.launch(settings, ahead: ahead, within: Self.patience) { use in
                    use.last?.documents.isEmpty == false
                })
        }
        return uses
    }

    // MARK: Parts of a launch by themselves

    private static let readDeadline = Duration.milliseconds(500)

    /// Returns the delay of the latest of five reads with a deadline of half a second, on the
    /// device's files.
    func overDeadline(_ network: LaunchNetwork, _ place: LaunchPlace) async throws -> Double {
        let settings = phone(.after).settings(place, network.label(.after))
        let stack = try TidemarkStack(settings.stackSettings { _, _ in [] })
        await stack.identity.load()
        var worst = 0.0
        for number in 0..<5 {
            let start = ContinuousClock.now
            let document = stack.firestore.document("stamps/s\(number)")
            _ = try? await document.getDocument(within: Self.readDeadline)
            worst = max(worst, (ContinuousClock.now - start - Self.readDeadline).milliseconds)
        }
        await stack.close()
        return worst
    }
}
