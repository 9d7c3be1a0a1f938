public import ExampleKit
import Foundation
public import Observation
import Tidemark
import TidemarkHealth

/// The health app on Tidemark, running on a phone.
@MainActor @Observable
public final class HealthAfter: PhoneApp {
    @ObservationIgnored private let phone: PhoneEnvironment
    @ObservationIgnored private let health: PhoneHealth
    @ObservationIgnored private let app: HealthApp
    private nonisolated let publisher = ScreenPublisher(Screen("Health"))
    private var model: HealthModel?
    /// The number of times that the clock was changed.
    private var turns = 0

    public nonisolated var screens: AsyncStream<Screen> { publisher.screens }

    public nonisolated init(_ phone: PhoneEnvironment) throws {
        self.phone = phone
        health = try PhoneHealth(folder: phone.settings.folder, now: phone.now())
        var app = try HealthApp(
            folder: phone.settings.folder, source: health.source,
            firestore: try phone.firestore(phone.settings), user: phone.settings.user.id)
        app.now = phone.now
        app.clock = phone.clock
        self.app = app
        Task { await self.begin() }
    }

    private func begin() {
        model = HealthModel(app)
        publisher.follow { [weak self] in self?.screen }
    }

    private var screen: Screen {
        _ = turns
        guard let model else { return Screen("Health") }
        return HealthScreens(now: app.moment).summary(
            model.summary.summary, week: model.week, work: model.work, sending: model.sending,
            returning: model.returning)
    }

    public func tap(_ id: String, _ text: String) async {
        switch id {
        case "walk": try? health.walk(at: phone.now())
        case "again": model?.tryAgain()
        default: break
        }
    }

    public func readPlan() async -> [String] {
        [
            "The summary is read from this device: no reads of the server.",
            "Days are sent in the background, newest first: one write each, no reads.",
            "A new device fetches 90 days of the others, newest first: one read each, once.",
        ]
    }

    public func networkMayBeBack() async { await model?.setOnline(true) }

    public func clockChanged() async {
        model?.summary.momentMoved()
        turns += 1
    }

    public func close() async {
        await model?.close()
        await app.firestore.terminate()
        publisher.finish()
    }
}
