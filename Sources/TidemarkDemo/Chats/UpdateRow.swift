import ChatsCore
import Foundation
import Tidemark
import TidemarkApp
import TidemarkModel
import TidemarkPhones
import TidemarkTestKit

/// The first open after the update from FirebaseFirestore. The old version of the app listened to
/// the user's notifications, and left a store in FirebaseFirestore's form.
struct UpdateRow: ScenarioRow {
    private static let owner = "iris"
    private static let time = "createdAt"
    private static let collection = CollectionPath(unchecked: "users/\(owner)/notifications")
    private let held: [Mutation]
    let news: [Mutation]

    /// - Parameters:
    ///   - events: The events of all notifications, in any order.
    ///   - new: The number of notifications that are written while the device is away.
    init(_ events: [HistoryEvent], new: Int) {
        precondition(events.count > new)
        let all = events.map { HistoryScript.insert($0, Self.collection, at: Self.time) }
        (held, news) = (Array(all.dropLast(new)), Array(all.suffix(new)))
    }

    let slug = "update"
    /// The app has no newest item to filter by, because it does not read the old store.
    let isFilteredAsBefore = true
    var name: String {
        "the update from FirebaseFirestore: \(grouped(held.count + news.count)) notifications, "
            + "\(news.count) new"
    }
    /// The reads are the new notifications, and one for the query.
    var bar: Bar {
        Bar(
            reads: news.count + 1, isKnownToDevice: true,
            exactly: [
                "documents taken over": Double(held.count), "reads of the take-over": 0,
                "folder may be removed": 1,
            ])
    }

    func user(_ side: Side) -> String { Self.owner }
    var seed: [Mutation] { held }

    // MARK: The old version

    func oldUse(_ side: Side, at place: DemoPlace) async throws {
        var query = TidemarkModel.Query(collection: Self.collection)
        query.orders = [Order(try FieldPath(encoded: Self.time), .descending)]
        let result = try await OldListener(
            port: place.port, try place.context("old-version")
        ).result(of: query)
        var phone = try OldPhone(Self.folder(place), project: DemoPlace.project)
        phone.leaveTrace(of: Self.owner)
        phone.put(query, result)
        try phone.finish()
    }

    private static func folder(_ place: DemoPlace) -> URL {
        URL(
            fileURLWithPath: OldVersion.folder(
                in: place.folder.path, project: DemoPlace.project))
    }

    // MARK: The update

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        if side == .after { return try await takeOver(firestore, visit) }
        // tidemark:ignore unbounded-listener the app as it was
        for try await snapshot in items(firestore).snapshots(includeMetadataChanges: true)
        where !snapshot.metadata.isFromCache {
            visit.isUpToDate()
            return snapshot.documents.shownItems
        }
        throw CancellationError()
    }

    private func items(_ firestore: Firestore) -> Tidemark.Query {
        firestore.collection(Self.collection.text).order(by: Self.time, descending: true)
    }

    @MainActor
    private func takeOver(_ firestore: Firestore, _ visit: Visit) async throws -> [ShownItem] {
        let folder = Self.folder(visit.place)
        let takeOver = try await firestore.takeOver(
            folder, user: Self.owner, first: [items(firestore)])
        let outcome = try await takeOver.outcome()
        visit.measured("documents taken over", Double(outcome.documents))
        visit.measured("reads of the take-over", Double(try await visit.reads(of: firestore)))
        visit.measured("folder may be removed", outcome.mayRemove ? 1 : 0)
        if outcome.mayRemove { try FirebaseStore.remove(folder) }
        visit.predicted(try await forecastBehindTakeOver(firestore))
        let notices = try ChatsApp(firestore, me: Self.owner).notices()
        try await notices.untilFresh { visit.sawContent() }
        visit.isUpToDate()
        try await notices.untilLive()
        return try await notices.show()
    }

    /// Returns the predicted bill of what follows the take-over, which itself reads nothing. Before
    /// it, the cache is empty.
    private func forecastBehindTakeOver(_ firestore: Firestore) async throws -> Forecast {
        let user = firestore.collection("users").document(Self.owner)
        let written = WrittenDocuments(held + news)
        var forecast = Forecast()
        try await forecast.add(
            Feed(.notifications(of: user)), changed: written.rows(news.map(\.path)),
            newest: written.newest(in: Self.collection, by: Self.time))
        return forecast
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        Truth(try await server.documents(in: Self.collection)) { _ in true }
    }
}
