import ExampleKit
import Foundation
import StampsCore
import Tidemark
import TidemarkModel
import TidemarkPhones

/// The first two launches of the app of journeys 1 after its update from FirebaseFirestore, as it
/// was and on Tidemark: without a server, and then on a good network, after new stamps were issued.
struct UpdateDemo: Sendable {
    private static let patience = Duration.seconds(60)
    private static let day = 86_400.0
    private static let issued = 3

    private let ground: LaunchGround
    private let projects: [PhoneSide: PhoneProject]

    /// Plays the launches on a server of their own.
    static func play(_ bills: BillOptions) async throws -> [LaunchScenario<UpdateFigure>] {
        try await LaunchGround.play(
            "update", under: .stamps, on: [.refused, .healthy], bills: bills
        ) { ground in
            let demo = try await UpdateDemo(ground)
            ProgressLine.show("the update from FirebaseFirestore")
            try await demo.playOldVersion()
            let scenarios = [
                try await demo.launches(on: .refused), try await demo.launches(on: .healthy),
            ]
            for project in demo.projects.values { await project.firestore.terminate() }
            return scenarios
        }
    }

    private init(_ ground: LaunchGround) async throws {
        var projects: [PhoneSide: PhoneProject] = [:]
        for side in PhoneSide.allCases {
            var project = try ground.project()
            let secrets = ground.folder.appendingPathComponent("desk-\(side.rawValue)").path
            project.user = PhoneUser(id: "", name: "Ada", email: "ada@\(side.rawValue).test")
            project.user.id = try await project.user.signUp(
                at: ground.gates.direct.accounts, secrets: secrets)
            try await Example.update.seed(project)
            projects[side] = project
        }
        (self.ground, self.projects) = (ground, projects)
    }

    /// Returns the project of a side. Each side has one.
    private func project(_ side: PhoneSide) -> PhoneProject { projects[side]! }

    private func settings(_ side: PhoneSide, _ place: LaunchPlace) -> PhoneSettings {
        let folder = ground.folder.appendingPathComponent(side.rawValue).path
        var settings = PhoneSettings(
            folder: folder, project: DemoPlace.project, firestore: place.firestore,
            accounts: place.accounts, user: project(side).user, label: "update.\(side.rawValue)")
        settings.diagnoses = false
        settings.oldStore = OldVersion.folder(in: folder, project: DemoPlace.project)
        return settings
    }

    private func playOldVersion() async throws {
        guard let use = Example.update.oldUse else { return }
        for side in PhoneSide.allCases {
            try await OldVersion(use, in: project(side), settings(side, ground.gates.direct))
                .play(port: ground.server.directPort)
        }
    }

    // MARK: After the update

    private func launches(
        on network: LaunchNetwork
    ) async throws -> LaunchScenario<UpdateFigure> {
        if network.reachesServer {
            try await ground.server.setClock(
                secondsSince1970: Int64(Date().timeIntervalSince1970 + Self.day))
            for number in 0..<Self.issued {
                try await Example.update.others(project(.after), number)
            }
        }
        let truth = try await Example.update.truth(project(.after))
        let forecast = try await forecast(on: network)
        let before = try await launch(.before, on: network, truth: truth)
        var after = try await launch(.after, on: network, truth: truth)
        after.predicted = forecast
        let most = network.reachesServer ? Self.issued + UpdateFigure.readsBesides : 0
        return LaunchScenario(
            name: "the update from FirebaseFirestore", network: network.rawValue,
            bar: "\(truth.count) stamps, for at most \(most) reads", before: before, after: after,
            why: after.wrongs(mostReads: most))
    }

    /// Predicts the bill of the launch on Tidemark.
    private func forecast(on network: LaunchNetwork) async throws -> Forecast {
        let planner = LaunchPlanner(
            server: ground.server, project: project(.after), plantsRead: ground.bills.plantsRead)
        guard network.reachesServer else { return planner.forecastWithoutServer() }
        return try await planner.forecast(
            settings(.after, ground.gates.direct), ahead: Self.day, away: Self.day,
            news: Set((0..<Self.issued).map { "n\($0)" }))
    }

    private func launch(
        _ side: PhoneSide, on network: LaunchNetwork, truth: [String]
    ) async throws -> UpdateFigure {
        let settings = settings(side, ground.gates.places[network]!)
        let bill = try await ground.server.bill(of: settings.label)
        let use = try await PhoneUse.play(
            Example.update.name, side: side, settings: settings, clock: Self.day,
            patience: Self.patience
        ) { use in
            guard let screen = use.last else { return .wait }
            return Self.isOver(screen, network: network, truth: truth) ? .kill : .wait
        }
        let billed = try await ground.server.bill(of: settings.label).minus(bill)
        return UpdateFigure(
            use, truth: truth, billed: billed.planned, in: ground.bills.edition,
            requests: billed.text)
    }

    private static func isOver(
        _ screen: Screen, network: LaunchNetwork, truth: [String]
    ) -> Bool {
        if network.reachesServer {
            return screen.isUpToDate && screen.documents == truth && screen.rank != nil
                && screen.rank?.detail == nil
        }
        switch screen.state {
        case .failed, .empty: return true
        case .loading, .fresh, .quiet, .stale: return !screen.documents.isEmpty
        }
    }
}

/// The figures of a launch after the update.
struct UpdateFigure: Encodable, Sendable {
    /// The reads of a launch on Tidemark besides the new stamps: the profile, by the launch, which
    /// does not know yet that the user has one, and by its listener; the rank; and one for a query
    /// that finds nothing.
    static let readsBesides = 4

    /// The time in milliseconds until stamps were shown; nil if none were.
    let firstContentMs: Double?
    /// The number of shown stamps at the end.
    let items: Int
    let missed: Int
    let extra: Int
    let reads: Int
    let units: BilledUnits
    let edition: DatabaseEdition
    /// The reads by call and collection.
    let requests: String
    /// The predicted bill; nil for the app as it was.
    var predicted: Forecast?

    init(
        _ use: PhoneUse, truth: [String], billed: PlannedBill,
        in edition: DatabaseEdition = .standard, requests: String = ""
    ) {
        let shown = use.last?.documents ?? []
        firstContentMs = use.first { !$0.documents.isEmpty }
        items = shown.count
        missed = Set(truth).subtracting(shown).count
        extra = Set(shown).subtracting(truth).count
        (reads, units) = (billed.reads, billed.units)
        (self.edition, self.requests) = (edition, requests)
    }

    /// Returns the failed requirements.
    func wrongs(mostReads: Int) -> [String] {
        var wrongs: [String] = []
        if missed + extra > 0 { wrongs.append("\(missed) stamps missed, \(extra) wrong") }
        if reads > mostReads { wrongs.append("\(reads) reads, but the limit is \(mostReads)") }
        let billed = PlannedBill(reads: reads, units: units)
        if let unforeseen = predicted?.complaint(billed, in: edition) {
            wrongs.append("\(unforeseen); the bill: \(requests)")
        }
        return wrongs
    }

    /// The figures as a text, such as `50 items, 6 reads, 90 ms`.
    var text: String {
        items == 0
            ? "nothing, \(grouped(reads)) reads"
            : "\(items) items, \(grouped(reads)) reads\(forecastText), "
                + SummaryRow.time(firstContentMs)
    }

    private var forecastText: String {
        predicted.map { " (predicted \($0.text(in: edition, lost: 0)))" } ?? ""
    }
}
