import Foundation
import Testing
import TestSupport

@testable import TidemarkHealth

// These are the examples of the articles, line by line. The tidy tests compare them.

/// Hides the system's `print`, because a run of the tests prints only results.
private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {}

@MainActor @Suite(.timeLimit(.minutes(2))) struct `The articles on health` {
    @Test func `import an export and show a summary`() async throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let folder = scratch.path
        let export = folder + "/export.xml"
        var bytes = Data()
        _ = HealthGenerator(days: 3, seed: 1).generate { bytes += $0 }
        try bytes.write(to: URL(filePath: export))
        let now: Int64 = 1_778_400_000

        let store = try HealthStore(path: folder + "/health.sqlite")
        let report = try await HealthImport(into: store).run(export) { progress in
            print(progress.bytesRead, progress.bytesTotal)
        }
        print(report.added, report.counts)
        #expect(report.added > 0)

        let summary = HealthSummaryModel(store) { HealthMoment(seconds: now, offset: 60) }
        try await until("the summary is made") { summary.refreshes > 0 }
        #expect(summary.summary.stepsToday != nil)
    }

    @Test func `take samples as they come`() async throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let folder = scratch.path
        let store = try HealthStore(path: folder + "/health.sqlite")
        let now = Date(timeIntervalSince1970: 1_778_400_000)
        let source = ScriptedHealthSource()
        source.record([
            HealthSample(
                id: UUID(), kind: .steps, value: .quantity(600, unit: "count"),
                start: now.addingTimeInterval(-600), end: now,
                source: HealthSource(name: "Watch", model: "Watch7,1"))
        ])
        func follow() async throws {
            let intake = HealthIntake(from: source, into: store)
            try await intake.firstDays(until: now)
            try await intake.catchUp()
            try await intake.follow()
        }
        func watch() async {
            for await change in store.changes() {
                print(change.kinds, change.days)
                break
            }
        }
        let watching = Task { await watch() }
        try await until("the store is observed") { store.isObserved }
        let following = Task { try await follow() }
        await watching.value
        following.cancel()
        #expect(try store.read { try $0.days() } != nil)
    }

    @Test func `bring along the hours of an older store`() async throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let folder = scratch.path
        let store = try HealthStore(path: folder + "/health.sqlite")
        let file = folder + "/hours.csv"
        let text = """
            kind,start,end,value,source
            steps,2026-05-10T08:00:00+02:00,2026-05-10T09:00:00+02:00,812,Watch
            """
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let report = try await HourlyRows(into: store).run(file)
        print(report.added, report.badRows)
        #expect(report.added == 1)
    }

    @Test func `hours of the app's own store are brought along`() async throws {
        struct Model {
            let type = "steps"
            let date = Date(timeIntervalSince1970: 1_778_392_800)
            let quantity = 812.0
        }
        let store = try Scratch().store()
        let models = [Model()]
        let entries = models.map {
            HourlyEntry(kind: $0.type, start: $0.date, value: $0.quantity)
        }
        let report = try await HourlyRows(into: store).run(entries)
        #expect(report.added == 1)
    }
}
