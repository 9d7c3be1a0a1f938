import ArgumentParser
import Foundation
import HealthCore
import Synchronization
import Tidemark
import TidemarkApp
import TidemarkHealth

/// The app on Tidemark on a phone whose HealthKit has months of samples. Only the system's store is
/// scripted: the model, the intake and the sending are the app's own.
@MainActor
struct HealthKitAfter {
    private let app: HealthCore.HealthApp
    private let beside = SummaryReads()

    init(
        _ place: DemoPlace, _ firestore: Firestore, _ kit: ScriptedKit, daysPerPart: Int
    ) throws {
        let watched = WatchedKit(kit.source)
        var app = try HealthCore.HealthApp(
            folder: place.folder.path, source: watched, firestore: firestore, user: place.user)
        // A launch after a kill has had its first days before.
        let first = FirstPage(try app.store.read { try $0.days() } == nil ? app.store : nil)
        watched.onPage {
            first.report()
            say("page")
        }
        app.now = { kit.now }
        app.daysPerPart = daysPerPart
        self.app = app
    }

    func run() async throws {
        let start = ContinuousClock.now
        let model = HealthModel(app)
        try await untilShown { model.week.count == 7 }
        try HealthAfter.show(app.store)
        say("shown")
        say("figure first 7 days ms \((ContinuousClock.now - start).milliseconds)")
        let reading = Task { [store = app.store, beside] in try await beside.run(store) }
        defer { reading.cancel() }
        try await untilShown {
            if case .failed = model.work { true } else { model.work == .upToDate }
        }
        if case .failed(let reason) = model.work { throw ValidationError(reason) }
        say("figure local ms \((ContinuousClock.now - start).milliseconds)")
        try await HealthScreen.untilSent(model)
        reading.cancel()
        say("sent")
        try await HealthScreen.untilFresh(model.summary)
        await model.close()
        let idle = SummaryReads()
        try await idle.run(app.store, count: HealthAfter.idleReads)
        HealthScreen.notify(beside, idle)
    }
}

/// Prints once how many days of steps are stored as the app asks for the first older page.
private final class FirstPage: Sendable {
    private let store: Mutex<HealthStore?>

    /// - Parameter store: The store of the app; nil to print nothing.
    init(_ store: HealthStore?) { self.store = Mutex(store) }

    func report() {
        guard let store = store.withLock({ $0.take() }) else { return }
        let count = try? store.read { snapshot in
            guard let days = try snapshot.days() else { return 0 }
            return try snapshot.totals(.steps, days: days).count
        }
        say("figure days stored before an older page \(count ?? -1)")
    }
}
