import ExampleKit
import Foundation
import StampsCore
import Tidemark
import TidemarkApp
import TidemarkModel
import TidemarkPhones

/// Predicts the bills of launches of the app of journeys 1 from the files of its phone. What other
/// users have written is an input, which an administrator reads.
struct LaunchPlanner: Sendable {
    private static let label = "planning"
    private static let stamps = CollectionPath(unchecked: "stamps")
    private static let users = "users"
    private static let total = "totalStamps"
    private static let updated = "updatedAt"
    /// The number of documents on the first screen.
    private static let window = 50
    /// The number of seconds after which a listener does not resume.
    private static let resumable = 1_740.0

    let server: ServerProcess
    let project: PhoneProject
    /// True to make each prediction wrong by one read.
    var plantsRead = false

    /// Returns the bill of a launch on a network that reaches the server, from its start until
    /// everything is on the screen.
    ///
    /// - Parameters:
    ///   - settings: The settings of the app, which has signed in before.
    ///   - ahead: The number of seconds by which the phone's clock is ahead.
    ///   - away: The number of seconds since the last launch.
    ///   - news: The ids of the stamps that the phone has not received.
    /// - Throws: ``Forecast/PlanHasReads`` if the prediction has cost reads.
    func forecast(
        _ settings: PhoneSettings, ahead: Double, away: Double, news: Set<String>
    ) async throws -> Forecast {
        var settings = settings
        settings.label = Self.label
        var (forecast, failure): (Forecast, (any Error)?) = (Forecast(), nil)
        let stack = try DeviceClock.$ahead.withValue(.seconds(ahead)) { [settings] in
            try TidemarkStack(StampsAfter.settings(settings))
        }
        do { forecast = try await planned(stack, away: away, news: news) } catch { failure = error }
        await stack.close()
        if let failure { throw failure }
        if try await server.bill(of: Self.label).documents > 0 { throw Forecast.PlanHasReads() }
        if plantsRead { forecast.add("planted: 1", .document(bytes: 1)) }
        return forecast
    }

    /// Returns the bill of a launch on a network without a server: nothing is answered.
    func forecastWithoutServer() -> Forecast {
        var forecast = Forecast()
        if plantsRead { forecast.add("planted: 1", .document(bytes: 1)) }
        return forecast
    }

    private func planned(
        _ stack: TidemarkStack, away: Double, news: Set<String>
    ) async throws -> Forecast {
        guard case .signedIn(let user) = await stack.identity.load(),
            let feed = try stack.feeds(of: user).first
        else { throw Forecast.Unforeseen("no user has signed in") }
        var forecast = Forecast()
        let recent = try await rows(
            project.firestore.collection(Self.stamps.text)
                .order(by: Self.updated, descending: true).limit(to: Self.window))
        try await forecast.add(
            feed, changed: news.map { DocumentPath(unchecked: "\(Self.stamps.text)/\($0)") },
            recent: recent, newest: recent)
        let profile = try await profile(of: user.text)
        let read = PlannedBill.document(bytes: profile.row.documentBytes)
        if !stack.jobs.knowsProfile(of: user) { forecast.add("look for a profile", read) }
        // Within 30 minutes the profile's listener resumes, and nobody has changed the profile.
        if away > Self.resumable { forecast.add("the profile's listener", read) }
        // The rank takes the profile from its listener.
        let above = try await usersAbove(profile.total)
        forecast.add("users above: \(above)", .count(items: above))
        return forecast
    }

    private func rows(_ query: Tidemark.Query) async throws -> [ExpectedRow] {
        try await query.getDocuments(source: .server).documents.compactMap { document in
            document.fields.map {
                WrittenDocuments.row($0, at: DocumentPath(unchecked: document.reference.path))
            }
        }
    }

    private func profile(of user: String) async throws -> (row: ExpectedRow, total: Int64) {
        let document = project.firestore.collection(Self.users).document(user)
        let snapshot = try await document.getDocument(source: .server)
        guard let fields = snapshot.fields, case .integer(let total)? = fields[Self.total] else {
            throw Forecast.Unforeseen("the user has no profile")
        }
        return (WrittenDocuments.row(fields, at: DocumentPath(unchecked: document.path)), total)
    }

    private func usersAbove(_ total: Int64) async throws -> Int {
        let above = project.firestore.collection(Self.users)
            .whereField(Self.total, isGreaterThan: total)
        return try await above.count.getAggregation(source: .server).count.intValue
    }
}

/// A launch with its predicted bill, or another use of a phone.
struct PlannedLaunch: Sendable {
    let forecast: Forecast
    let bill: Bill

    /// Returns the complaint about a bill outside the forecast; nil if it is as predicted.
    func complaint(in edition: DatabaseEdition) -> String? {
        forecast.complaint(bill.planned, in: edition).map { "\($0); the bill: \(bill.text)" }
    }
}

/// The bills of launches, each predicted before the launch.
struct LaunchBills: Encodable, Sendable {
    /// The number of launches.
    let launches: Int
    /// The reads and the units of all of them together.
    let reads: Int
    let units: BilledUnits
    let edition: DatabaseEdition
    /// The prediction of the last launch; nil for the app as it was.
    let predicted: Forecast?

    init(_ bills: [Bill], in edition: DatabaseEdition, predicted: Forecast? = nil) {
        self.edition = edition
        launches = bills.count
        reads = bills.reduce(0) { $0 + $1.documents }
        units = bills.reduce(into: BilledUnits()) { $0 += $1.unitsRead }
        self.predicted = predicted
    }
}

extension LaunchScenario<LaunchBills> {
    static let bar = "the bill of each launch on Tidemark as its planner predicts it"

    /// - Parameters:
    ///   - name: The name of the row.
    ///   - planned: The launches on Tidemark.
    init(
        _ name: String, on network: LaunchNetwork, in edition: DatabaseEdition, before: [Bill],
        planned: [PlannedLaunch]
    ) {
        self.init(
            name: name, network: network.rawValue, bar: Self.bar,
            before: LaunchBills(before, in: edition),
            after: LaunchBills(
                planned.map(\.bill), in: edition, predicted: planned.last?.forecast),
            why: planned.compactMap { $0.complaint(in: edition) })
    }
}

extension LaunchScenario<LaunchBills> {
    /// The row of the table.
    var line: String {
        let predicted = after.predicted.map { "predicted \($0.text(in: after.edition, lost: 0))" }
        return "\(name) on \(network): \(predicted ?? "")\(verdict)"
    }
}
