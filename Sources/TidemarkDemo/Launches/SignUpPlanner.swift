import ExampleKit
import Foundation
import HomesCore
import Tidemark
import TidemarkApp
import TidemarkModel
import TidemarkPhones

/// Predicts the bills of devices that sign up, from the files of each. The neighbours on the server
/// are an input, which an administrator reads.
struct SignUpPlanner: Sendable {
    private static let label = "planning"
    private static let kill = "each app is killed at a step"
    private static let anew = "the listeners of a killed app resume or begin anew"
    /// The most bytes of a profile of this demo, which a read of one unit returns.
    private static let profileBytes = 1_024

    private let server: ServerProcess
    /// The neighbours, newest first.
    private let neighbours: [ExpectedRow]
    private let plantsRead: Bool

    init(_ ground: LaunchGround, _ project: PhoneProject) async throws {
        server = ground.server
        plantsRead = ground.bills.plantsRead
        let found = try await project.firestore.collection("homes/elm/members")
            .order(by: "joinedAt", descending: true).limit(to: 50)
            // tidemark:ignore server-source-at-launch an administrator reads a local server
            .getDocuments(source: .server)
        neighbours = found.documents.compactMap { document in
            document.fields.map {
                WrittenDocuments.row($0, at: DocumentPath(unchecked: document.reference.path))
            }
        }
    }

    /// Returns the bill of the next launch of a device, on a network that reaches the server, until
    /// the app is live.
    ///
    /// - Throws: ``Forecast/PlanHasReads`` if the prediction has cost reads.
    func forecast(_ settings: PhoneSettings) async throws -> Forecast {
        var settings = settings
        settings.label = Self.label
        let stack = try TidemarkStack(HomesAfter.settings(settings))
        var (forecast, failure): (Forecast, (any Error)?) = (Forecast(), nil)
        do { forecast = try await planned(stack) } catch { failure = error }
        await stack.close()
        if let failure { throw failure }
        if try await server.bill(of: Self.label).documents > 0 { throw Forecast.PlanHasReads() }
        return plantingRead(in: forecast)
    }

    /// Returns the bill of the launches of devices that are killed at a step.
    ///
    /// - Parameter launches: The number of launches.
    func forecastOfKilled(launches: Int, on network: LaunchNetwork) -> Forecast {
        var forecast = Forecast()
        if network.reachesServer || network == .slow {
            for _ in 0..<launches {
                addSignUp(&forecast)
                forecast.add("items: \(neighbours.count)", .query(neighbours))
                forecast.add("changes: 0", .query([]))
            }
        }
        return plantingRead(in: forecast.atMost(because: Self.kill))
    }

    private func plantingRead(in forecast: Forecast) -> Forecast {
        var forecast = forecast
        if plantsRead { forecast.add("planted: 1", .document(bytes: 1)) }
        return forecast
    }

    private func planned(_ stack: TidemarkStack) async throws -> Forecast {
        var forecast = Forecast()
        var user: UserID?
        if case .signedIn(let known) = await stack.identity.load() { user = known }
        guard let owner = user ?? UserID("nobody"), let feed = try stack.feeds(of: owner).first
        else { throw Forecast.Unforeseen("the app has no feed") }
        var reads = Forecast()
        try await reads.add(feed, changed: [], newest: neighbours)
        // The cache of a killed app can have the position of a listener that its feed does not
        // record yet. The listener then resumes.
        forecast.add(
            user != nil && reads.items.count == 1 ? reads.atMost(because: Self.anew) : reads)
        let read = PlannedBill.document(bytes: Self.profileBytes)
        guard let user else {
            // The sign-up is played from its start, or from an account without a session.
            addSignUp(&forecast)
            return forecast
        }
        if stack.jobs.knowsProfile(of: user) {
            // A listener that resumes from before the profile was made receives it as a change.
            var most = PlannedBill.update(bytes: Self.profileBytes)
            most.units += read.units
            forecast.addAtMost(
                "the profile's listener", most, because: Self.anew)
        } else {
            var rest = Forecast()
            addSignUp(&rest)
            forecast.add(rest.atMost(because: "the sign-up was killed after its account was made"))
        }
        return forecast
    }

    /// Adds the reads of a sign-up: the app looks for a profile, makes it and compares it. Its
    /// listener begins without a profile, and receives it.
    private func addSignUp(_ forecast: inout Forecast) {
        let read = PlannedBill.document(bytes: Self.profileBytes)
        forecast.add("look for a profile", read)
        forecast.add("compare the profile", read)
        forecast.add("the profile's listener", read)
        forecast.add("the made profile", .update(bytes: Self.profileBytes))
    }
}
