import ExampleKit
import Foundation
import StampsCore
import Tidemark
import TidemarkApp
import TidemarkHTTP
import TidemarkPhones

/// Launches of both apps of journeys 1 on one network after the other, each a process of its own.
struct LaunchPlay: Sendable {
    /// What a person waits at the most before they end an app: longer than the check of the app as it was,
    /// than the budget of every stage on Tidemark, and than both take on a busy machine.
    private static let patience = Duration.seconds(60)
    /// Stamps that are issued before each launch which is to show them.
    private static let issued = 3
    /// Between two such launches: a read of changes reaches back five minutes.
    private static let pause = 600.0

    let ground: LaunchGround
    let pictures: LaunchPictures
    let phones: [PhoneSide: StampsPhone]
    /// Past all networks.
    let town: Town
    /// Seconds that the server's clock and the phones' are ahead.
    private var ahead = 0.0
    private var acts = 0

    init(
        ground: LaunchGround, pictures: LaunchPictures, phones: [PhoneSide: StampsPhone], town: Town
    ) {
        (self.ground, self.pictures, self.phones, self.town) = (ground, pictures, phones, town)
    }

    /// There is one for each side.
    private func phone(_ side: PhoneSide) -> StampsPhone { phones[side]! }

    /// Launches of both apps to their ends, one after the other. Where no server is reached, an app as it was
    /// has come to its end when it shows something, and one of the app on Tidemark tells all there is.
    mutating func wholeLaunches(
        _ network: LaunchNetwork, _ place: LaunchPlace, times: Int
    ) async throws -> (before: [WholeLaunch], after: [WholeLaunch]) {
        try await pictures.play(network)
        var launches: (before: [WholeLaunch], after: [WholeLaunch]) = ([], [])
        for number in 0..<times {
            let news = network.reachesServer ? try await issue() : []
            let truth = try await Example.stamps.truth(town)
            launches.before.append(try await wholeLaunch(.before, network, place, truth, news))
            if !network.reachesServer, number > 0 { continue }
            launches.after.append(try await wholeLaunch(.after, network, place, truth, news))
        }
        return launches
    }

    private func wholeLaunch(
        _ side: PhoneSide, _ network: LaunchNetwork, _ place: LaunchPlace, _ truth: [String],
        _ news: Set<String>
    ) async throws -> WholeLaunch {
        let label = network.label(side)
        let before = try await ground.server.bill(of: label)
        let use = try await phone(side).launch(
            phone(side).settings(place, label), ahead: ahead,
            within: Self.patience
        ) { use in
            guard let screen = use.last, !screen.documents.isEmpty else { return false }
            return Self.isWhole(screen, side, network, truth)
        }
        let bill = try await ground.server.bill(of: label).minus(before)
        return WholeLaunch(
            use: use, truth: truth, bill: bill, isReached: network.reachesServer, fromNetwork: news)
    }

    /// Whether nothing more comes by itself.
    private static func isWhole(
        _ screen: Screen, _ side: PhoneSide, _ network: LaunchNetwork, _ truth: [String]
    ) -> Bool {
        // As it was, an app has nothing more to show where nobody answers.
        if side == .before, !network.reachesServer { return true }
        guard screen.rank != nil, side == .before || screen.connection != nil else { return false }
        if !network.reachesServer { return true }
        return screen.isUpToDate && screen.documents == truth && screen.hasAllPictures
    }

    /// Other people issue stamps.
    ///
    /// - Returns: Their ids.
    private mutating func issue() async throws -> Set<String> {
        ahead += Self.pause
        let time = Int64(Date().timeIntervalSince1970 + ahead)
        try await ground.server.setClock(secondsSince1970: time)
        let old = Set(try await Example.stamps.truth(town))
        for _ in 0..<Self.issued {
            try await Example.stamps.others(town, acts)
            acts += 1
        }
        return Set(try await Example.stamps.truth(town)).subtracting(old)
    }

    /// Launches that are killed as soon as they show stamps. Nothing else runs beside them.
    func firstContents(
        _ side: PhoneSide, _ network: LaunchNetwork, _ place: LaunchPlace, times: Int
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

    /// How long a launch takes until it is live: by turns with a diagnosis and without, and each of the two
    /// first every other time, so that whatever else the machine does meets both.
    func costOfDiagnosis(
        _ side: PhoneSide, _ place: LaunchPlace, times: Int
    ) async throws -> DiagnosisCost {
        let phone = phone(side)
        var (with, without): ([Double], [Double]) = ([], [])
        for number in 0..<times {
            for diagnoses in [number.isMultiple(of: 2), !number.isMultiple(of: 2)] {
                let settings = phone.settings(
                    place, LaunchNetwork.healthy.label(side), diagnoses: diagnoses)
                let use = try await phone.launch(settings, ahead: ahead, within: Self.patience) {
                    $0.last.map(Self.isLive) ?? false
                }
                let time = use.first(Self.isLive) ?? .infinity
                if diagnoses { with.append(time) } else { without.append(time) }
            }
        }
        return DiagnosisCost(with: with, without: without)
    }

    private static func isLive(_ screen: Screen) -> Bool {
        screen.isUpToDate && !screen.documents.isEmpty
    }

    // MARK: Parts of a launch by themselves

    private static let readDeadline = Duration.milliseconds(500)

    /// By how much the latest of five reads with a deadline of half a second is late, on the device's files.
    func overDeadline(_ network: LaunchNetwork, _ place: LaunchPlace) async throws -> Double {
        let settings = phone(.after).settings(place, network.label(.after))
        let stack = try TidemarkStack(settings.stackSettings { _, _ in [] })
        await stack.accounts.load()
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

    /// One to its end, without the delay that an app gives itself: how long each of its steps takes.
    func diagnose(_ network: LaunchNetwork, _ place: LaunchPlace) async throws -> DiagnosisReport {
        let parts = place.firestore.split(separator: ":")
        var doctor = Doctor(
            DiagnosisTarget(
                host: String(parts[0]), port: Int(parts[1]) ?? 1, usesTLS: false,
                project: DemoPlace.project))
        doctor.label = network.label(.after)
        doctor.token = TokenVariable.value
        return try await doctor.diagnose(after: .zero)
    }
}
