import Foundation
import HealthCore
import Synchronization
import Tidemark
import TidemarkApp
import TidemarkHealth
import TidemarkHealthSync
import TidemarkModel

/// The first launch on a phone whose HealthKit has months of samples: the newest seven days are on
/// the screen before any older sample is read, and the rest follows page by page.
struct HealthKitRow: ScenarioRow {
    let days: Int
    let kills: Int
    private let kit: ScriptedKit

    init(days: Int, kills: Int) {
        (self.days, self.kills) = (days, kills)
        kit = ScriptedKit(days: days)
    }

    let isUsedBefore = false

    static func name(days: Int, kills: Int) -> String {
        let launch = "first launch on \(grouped(days)) days of HealthKit"
        return kills == 0 ? launch : "\(launch), killed (-9) \(kills) times"
    }

    var slug: String { "healthkit-\(days)-\(kills)" }
    var name: String { Self.name(days: days, kills: kills) }
    let seed: [Mutation] = []

    var bar: Bar {
        // The app runs in a process of its own, whose count of reads the demo does not see.
        var bar = Bar(
            exactly: ["documents": Double(days), "pages read again": 0, "kills": Double(kills)])
        guard kills == 0 else { return bar }
        bar.exactly["days stored before an older page"] = 7
        bar.times = ["first 7 days ms": 1_000, "reads beside it, times idle": 2]
        return bar
    }

    func user(_ side: Side) -> String { "\(slug)-\(side.rawValue)" }

    /// Predicts the search for the days of other devices: a query for each window, without rows.
    /// Sending the days costs no reads.
    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-plan-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = try HealthCore.HealthApp(
            folder: folder.path, source: ScriptedHealthSource(), firestore: firestore,
            user: user(.after))
        let job = try HealthDownload(app.days, into: app.store)
            .job(days: HealthCore.HealthApp.daysOfOthers, until: kit.lastDay)
        var forecast = Forecast()
        for number in 0..<job.windowCount {
            forecast.add("days of window \(number): 0", .query([]))
        }
        return forecast
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let app = HealthApp(side: side, data: .kit(days: days), visit: visit, daysPerPart: 30)
        switch side {
        case .before, .filtered:
            try await app.runToItsEnd()
            visit.isUpToDate()
        case .after: try await useAfter(app, visit)
        }
        return try shown(visit)
    }

    private func useAfter(_ app: HealthApp, _ visit: Visit) async throws {
        let pages = Mutex(0)
        var app = app
        app.onWord = { word in if word == "page" { pages.withLock { $0 += 1 } } }
        var killed = 0
        for _ in 0..<kills {
            if try await app.run(killedAt: "page", times: 3, picks: true) { killed += 1 }
        }
        try await app.runToItsEnd()
        visit.measured("kills", Double(killed))
        let documents = try await visit.direct.documents(
            in: CollectionPath(unchecked: "users/\(user(.after))/days"))
        visit.measured("documents", Double(documents.count))
        let kinds = HealthCore.HealthApp.kinds
        // Each launch asks once for every kind whether more has come, and the last one again as it
        // begins to follow. A kill loses the page that was under way.
        let launches = killed + 1
        let allowed = try await kit.pages(of: kinds) + kinds.count * launches + killed
        let read = pages.withLock(\.self)
        visit.measured("pages", Double(read))
        visit.measured("pages read again", Double(max(0, read - allowed)))
    }

    /// Returns the steps that the device shows for each day.
    private func shown(_ visit: Visit) throws -> [ShownItem] {
        let store = try HealthStore(path: visit.place.folder.path + HealthApp.storeFile)
        return try store.read { snapshot in
            guard let days = try snapshot.days() else { return [] }
            return try snapshot.totals(.steps, days: days).map { total in
                ShownItem(id: Self.id(total.day, total.sum), version: .min)
            }
        }
    }

    /// Returns the steps that the script knows.
    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        Truth(
            living: Dictionary(
                uniqueKeysWithValues: kit.steps.map { (Self.id($0.key, $0.value), .min) }))
    }

    private static func id(_ day: HealthDay, _ steps: Double) -> String { "\(day) \(steps)" }
}
