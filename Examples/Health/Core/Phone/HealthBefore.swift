public import ExampleKit
import Foundation
import Synchronization
import TidemarkHealth

/// The old health app. It stores the hours of ninety days in one step, and the screen's queries
/// wait for it. The daily steps come from a second source, which adds up all devices.
public final class HealthBefore: PhoneApp {
    private struct State {
        var summary: HealthSummary?
        var week: [HealthModel.Day] = []
    }

    private let phone: PhoneEnvironment
    private let health: PhoneHealth
    private let store: HealthStore
    private let publisher = ScreenPublisher(Screen("Health"))
    private let state = Mutex(State())
    private let syncing = Mutex<Task<Void, Never>?>(nil)

    public var screens: AsyncStream<Screen> { publisher.screens }

    public init(_ phone: PhoneEnvironment) throws {
        self.phone = phone
        health = try PhoneHealth(folder: phone.settings.folder, now: phone.now())
        store = try HealthStore(path: phone.settings.folder + "/hours.sqlite")
        sync()
    }

    /// Stores and queries after the previous run has ended.
    private func sync() {
        syncing.withLock { syncing in
            let before = syncing
            syncing = Task { [weak self] in
                await before?.value
                try? await self?.storeAll()
                try? await self?.ask()
            }
        }
    }

    /// Stores all ninety days the first time, or again from the beginning if it was killed before
    /// the end. Later calls store only the last day.
    private func storeAll() async throws {
        let now = phone.now()
        let done = URL(fileURLWithPath: phone.settings.folder + "/synced")
        let isFirst = !FileManager.default.fileExists(atPath: done.path)
        let days = isFirst ? Double(PhoneHealth.days + 1) : 1
        var all: [HealthSample] = []
        for kind in HealthApp.kinds {
            all += try await health.source.samples(
                kind, in: now.addingTimeInterval(-86_400 * days)..<now.addingTimeInterval(1),
                limit: .max)
        }
        try await store.insert(all)
        if isFirst { try Data().write(to: done) }
    }

    /// Runs eight queries without a limit, each over all hours of its kind, and reads the second
    /// source of steps.
    private func ask() async throws {
        let moment = self.moment
        var summary = HealthSummary()
        for item in HealthSummary.Item.allCases {
            for kind in item.kinds {
                _ = try store.read { snapshot in
                    try snapshot.days().map { try snapshot.entries(kind, days: $0) }
                }
            }
            try store.read { try $0.read([item], of: &summary, at: moment) }
        }
        let week = try await dailySteps(until: moment.day)
        let read = summary
        state.withLock { $0 = State(summary: read, week: week) }
        draw()
    }

    /// Returns daily steps, added up over all devices.
    private func dailySteps(until last: HealthDay) async throws -> [HealthModel.Day] {
        let now = phone.now()
        let samples = try await health.source.samples(
            .steps, in: now.addingTimeInterval(-86_400 * 8)..<now.addingTimeInterval(1),
            limit: .max)
        var steps: [HealthDay: Double] = [:]
        for sample in samples {
            guard case .quantity(let count, _) = sample.value else { continue }
            let seconds = Int64(sample.start.timeIntervalSince1970)
            steps[HealthDay(seconds: seconds, offset: moment.offset), default: 0] += count
        }
        return steps.filter { $0.key.number > last.number - 7 && $0.key <= last }
            .map { HealthModel.Day(day: $0.key, steps: $0.value) }
            .sorted { $0.day > $1.day }
    }

    private var moment: HealthMoment {
        let date = phone.now()
        return HealthMoment(
            seconds: Int64(date.timeIntervalSince1970),
            offset: TimeZone.current.secondsFromGMT(for: date) / 60)
    }

    private func draw() {
        let (summary, week) = state.withLock { ($0.summary, $0.week) }
        guard let summary else { return publisher.show(Screen("Health")) }
        var screen = HealthScreens(now: moment).summary(
            summary, week: week, work: .upToDate)
        screen.state = .quiet
        publisher.show(screen)
    }

    public func tap(_ id: String, _ text: String) async {
        guard id == "walk" else { return }
        try? health.walk(at: phone.now())
        sync()
    }

    public func readPlan() async -> [String] {
        [
            "Ninety days of hours are stored on this device, and then eight questions read all of them."
        ]
    }

    public func clockChanged() async { sync() }

    public func close() async {
        await syncing.withLock { $0 }?.value
        publisher.finish()
    }
}
