import ExampleKit
import Foundation
import StampsCore
import Tidemark
import TidemarkApp
import TidemarkHTTP
import TidemarkPhones

// MARK: Diagnoses

extension LaunchPlay {
    /// Launches the app on a healthy network, alternately with a diagnosis and without. The order
    /// changes after each pair, so other work of the machine affects both equally.
    func costOfDiagnosis(
        _ side: PhoneSide, _ place: LaunchPlace, times: Int
    ) async throws -> DiagnosedLaunches {
        let truth = try await Example.stamps.truth(project)
        var launches = DiagnosedLaunches()
        for number in 0..<times {
            for diagnoses in [number.isMultiple(of: 2), !number.isMultiple(of: 2)] {
                let launch = try await launch(side, place, diagnoses: diagnoses, truth: truth)
                launches.add(launch.time, diagnoses: diagnoses, launch.bill, launch.forecast)
            }
        }
        return launches
    }

    /// Launches the app until its screen is complete.
    ///
    /// - Returns: The time until the launch is live, its bill, and on Tidemark the predicted bill.
    private func launch(
        _ side: PhoneSide, _ place: LaunchPlace, diagnoses: Bool, truth: [String]
    ) async throws -> (time: Double, bill: Bill, forecast: Forecast?) {
        let label = LaunchNetwork.healthy.label(side)
        let settings = phone(side).settings(place, label, diagnoses: diagnoses)
        let forecast = side == .after ? try await forecast(.healthy, news: []) : nil
        let before = try await ground.server.bill(of: label)
        let use = try await phone(side).launch(settings, ahead: ahead, within: Self.patience) {
            $0.last.map { Self.isSettled($0, side: side, truth: truth) } ?? false
        }
        let bill = try await ground.server.bill(of: label).minus(before)
        return (use.first(Self.isLive) ?? .infinity, bill, forecast)
    }

    private static func isLive(_ screen: Screen) -> Bool {
        screen.isUpToDate && !screen.documents.isEmpty
    }

    /// True if the last answer of the server is on the screen. The app as it was ends as soon as it
    /// is live.
    private static func isSettled(_ screen: Screen, side: PhoneSide, truth: [String]) -> Bool {
        if side == .before { return isLive(screen) }
        return isLive(screen) && screen.documents == truth && screen.hasAllPictures
            && screen.rank != nil && screen.rank?.detail == nil
    }

    /// Runs a diagnosis to its end, without the app's initial delay, to measure each step.
    ///
    /// - Returns: The report, and the bill beside its prediction.
    func diagnose(
        _ network: LaunchNetwork, _ place: LaunchPlace
    ) async throws -> (report: DiagnosisReport, bill: PlannedLaunch) {
        let parts = place.firestore.split(separator: ":")
        var doctor = Doctor(
            DiagnosisTarget(
                host: String(parts[0]), port: Int(parts[1]) ?? 1, usesTLS: false,
                project: DemoPlace.project))
        doctor.label = network.labelOfDoctor
        doctor.token = TokenVariable.value
        let report = try await doctor.diagnose(after: .zero)
        let bill = try await ground.server.bill(of: network.labelOfDoctor)
        return (report, PlannedLaunch(forecast: forecastOfDiagnosis(network), bill: bill))
    }

    /// Predicts the bill of a diagnosis. It reads a document that does not exist and that the app's
    /// rules let nobody read: the refusal answers the doctor, and is not billed.
    private func forecastOfDiagnosis(_ network: LaunchNetwork) -> Forecast {
        var forecast = Forecast()
        if network.reachesServer { forecast.add("the doctor's refused read", PlannedBill()) }
        if ground.bills.plantsRead { forecast.add("planted: 1", .document(bytes: 1)) }
        return forecast
    }
}

/// The launches of one side with a diagnosis and without.
struct DiagnosedLaunches: Sendable {
    private var with: [Double] = []
    private var without: [Double] = []
    private(set) var bills: [Bill] = []
    /// The launches on Tidemark with their predicted bills.
    private(set) var planned: [PlannedLaunch] = []

    /// - Parameters:
    ///   - time: The time until the launch was live, in milliseconds.
    ///   - forecast: The predicted bill; nil for the app as it was.
    mutating func add(_ time: Double, diagnoses: Bool, _ bill: Bill, _ forecast: Forecast?) {
        if diagnoses { with.append(time) } else { without.append(time) }
        bills.append(bill)
        if let forecast { planned.append(PlannedLaunch(forecast: forecast, bill: bill)) }
    }

    var cost: DiagnosisCost { DiagnosisCost(with: with, without: without) }
}
