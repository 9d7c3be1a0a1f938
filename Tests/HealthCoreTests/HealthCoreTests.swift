import ExampleKit
import ExampleTesting
import Foundation
import Synchronization
import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkHealth
import TidemarkModel
import TidemarkRules
import TidemarkServer
import TidemarkTesting

@testable import HealthCore

/// A phone with its own health store, and a server with the app's rules.
@MainActor struct HealthWorld: ExampleWorld {
    static let example = Example.health

    let world: PhoneWorld

    init() throws { world = try PhoneWorld(.health) }

    /// The phone's screens are drawn again in real time.
    var phoneClock: any Clock<Duration> { ContinuousClock() }

    var project: HealthProject { get throws { HealthProject(try world.project()) } }

    /// Returns a client with its cache in memory. Only the health store is on the phone's disk.
    func client(_ device: String) throws -> Firestore {
        try local.firestore(as: .user(world.user.id), label: device)
    }

    /// Returns an app with a source, in a folder with the device's name.
    func app(
        _ source: any HealthSampleSource, on device: String = "phone"
    ) throws -> HealthApp {
        var app = try HealthApp(
            folder: world.folder.appendingPathComponent(device).path, source: source,
            firestore: try client(device), user: world.user.id)
        app.now = { [local] in local.now.dateValue() }
        return app
    }

    func health(days: Int) throws -> PhoneHealth {
        try PhoneHealth(folder: world.folder.path, now: local.now.dateValue(), days: days)
    }
}

@MainActor @Suite(.timeLimit(.minutes(2))) struct `A health summary` {
    /// Returns the watch's steps per day, calculated by the test itself.
    private func truth(_ health: PhoneHealth) async throws -> [String: Double] {
        var steps: [String: Double] = [:]
        let samples = try await health.source.samples(
            .steps, in: Date(timeIntervalSince1970: 0)..<Date(timeIntervalSince1970: 4e9),
            limit: .max)
        for sample in samples where sample.source.device == .watch {
            guard case .quantity(let count, _) = sample.value else { continue }
            let offset = TimeZone.current.secondsFromGMT(for: sample.start) / 60
            let day = HealthDay(seconds: Int64(sample.start.timeIntervalSince1970), offset: offset)
            steps["\(day)", default: 0] += count
        }
        return steps
    }

    @Test func `a full read is of the day that the phones have, after a night too`() async throws {
        var project = try HealthWorld().world.project()
        let before = try await Example.health.truth(project)
        project.now = project.dayStart.advanced(by: .seconds(86_400))
        let after = try await Example.health.truth(project)
        #expect(before.count == 7 && after.count == 7)
        #expect(after.dropFirst() == before.dropLast())
    }

    @Test func `shows the hours of the old app until they are measured`() async throws {
        try await HealthWorld.run(asksRules: false) { world in
            let app = try world.app(ScriptedHealthSource())
            let now = world.local.now.dateValue()
            let hour = Date(
                timeIntervalSince1970: (now.timeIntervalSince1970 / 3_600).rounded(.down) * 3_600
                    - 7_200)
            let report = try await app.adopt([
                ProgressEntry(type: "stepCount", date: hour, quantity: 812, source: "Watch"),
                ProgressEntry(type: "humour", date: hour, quantity: 1),
            ])
            #expect(report.added == 1 && report.bad == 1)
            let again = try await app.adopt([
                ProgressEntry(type: "stepCount", date: hour, quantity: 812, source: "Watch")
            ])
            #expect(again.added == 0 && again.known == 1)
            let model = HealthModel(app)
            try await until { model.week.contains { $0.steps == 812 } }
            await model.close()
        }
    }

    @Test func `shows seven days first, then all, each hour counted once`() async throws {
        try await HealthWorld.run { world in
            let health = try world.health(days: 20)
            let app = try world.app(health.source)
            let model = HealthModel(app)
            #expect(model.work == .firstDays && model.week.isEmpty)
            try await until { model.work == .upToDate }
            try await until { model.week.count == 7 }
            let steps = try await truth(health)
            for day in model.week { #expect(day.steps == steps[day.id], "\(day.id)") }
            #expect(model.week.map(\.id) == (try world.project.days(of: 7)))
            try await until {
                model.summary.summary.phase(.stepsToday) == .fresh
                    && model.summary.summary.weight != nil
            }
            #expect(model.summary.summary.stepsToday == steps[model.week[0].id])
            #expect(model.summary.summary.lastWeights.count == 5)
            await model.close()
        }
    }

    @Test func `neither sends nor fetches days while the device saves power`() async throws {
        try await HealthWorld.run { world in
            let health = try world.health(days: 12)
            var app = try world.app(health.source)
            let isLow = Mutex(true)
            let followed = Mutex<[Backfill]>([])
            app.follow = { backfill in
                followed.withLock { $0.append(backfill) }
                await backfill.setLowPower(isLow.withLock(\.self))
            }
            let model = HealthModel(app)
            try await until { model.returning?.phase == .held(.lowPower) }
            // The screen does not wait.
            try await until { model.week.count == 7 }
            #expect(world.reads() == 0 && model.sending == nil)
            isLow.withLock { $0 = false }
            for backfill in followed.withLock(\.self) { await backfill.setLowPower(false) }
            try await until { model.sending?.phase == .complete }
            #expect(try await !app.days.getDocuments(source: .server).isEmpty)
            await model.close()
        }
    }

    @Test func `sends each day once, and those that change`() async throws {
        try await HealthWorld.run { world in
            let health = try world.health(days: 12)
            let app = try world.app(health.source)
            let model = HealthModel(app)
            try await until { model.sending?.phase == .complete }
            let sent = try await app.days.getDocuments(source: .server)
            let own = try app.store.read { try $0.ownDays() }
            #expect(sent.count == own.map { Int($0.upperBound.number - $0.lowerBound.number) + 1 })
            let phone = world.local.meter().filter { $0.label == "phone" }
            #expect(phone.reduce(0) { $0 + $1.writes } == sent.count, "one write a day")
            await model.close()
        }
    }

    @Test func `a new device shows what the other one has sent, at one read a day`() async throws {
        try await HealthWorld.run { world in
            let health = try world.health(days: 12)
            let first = HealthModel(try world.app(health.source))
            try await until { first.sending?.phase == .complete }
            let week = first.week
            await first.close()
            let app = try world.app(ScriptedHealthSource(), on: "tablet")
            let second = HealthModel(app)
            try await until { second.returning?.phase == .complete }
            try await until { second.week == week }
            let reads = world.local.meter().filter { $0.label == "tablet" }
                .reduce(0) { $0 + $1.reads }
            #expect(reads <= 13 + 13, "a read a day, and one for each window without any: \(reads)")
            await second.close()
        }
    }

    @Test func `an app that is killed before it has fetched the days fetches them later`()
        async throws
    {
        try await HealthWorld.run { world in
            let health = try world.health(days: 12)
            let first = HealthModel(try world.app(health.source))
            try await until { first.sending?.phase == .complete }
            await first.close()
            var app = try world.app(health.source, on: "tablet")
            app.follow = { await $0.setLowPower(true) }
            let killed = HealthModel(app)
            try await until { killed.returning?.phase == .held(.lowPower) }
            #expect(try app.store.read { try $0.days() } != nil)
            await killed.close()
            let second = HealthModel(try world.app(health.source, on: "tablet"))
            try await until { second.returning?.phase == .complete }
            await second.close()
            let third = HealthModel(try world.app(health.source, on: "tablet"))
            try await until { third.work == .upToDate && third.sending?.phase == .complete }
            #expect(third.returning == nil, "the days are fetched once")
            await third.close()
        }
    }

    @Test func `a device fetches no more days than it is told to`() async throws {
        try await HealthWorld.run { world in
            let health = try world.health(days: 12)
            let first = HealthModel(try world.app(health.source))
            try await until { first.sending?.phase == .complete }
            await first.close()
            let app = try world.app(ScriptedHealthSource(), on: "tablet")
            let backfill = try app.returning(days: 3)
            try await backfill.start()
            for await progress in await backfill.progress where progress.phase == .complete {
                break
            }
            await backfill.stop()
            let days = try #require(try app.store.read { try $0.days() })
            #expect(days.upperBound.number - days.lowerBound.number < 4, "by the place: \(days)")
        }
    }

    @Test func `says why it stopped, keeps what it has, and goes on`() async throws {
        try await HealthWorld.run(asksRules: false) { world in
            let health = try world.health(days: 10)
            health.source.fail(.locked)
            let model = HealthModel(try world.app(health.source))
            try await until { if case .failed = model.work { true } else { false } }
            let screens = HealthScreens(
                now: HealthMoment(seconds: world.local.now.seconds, offset: 0))
            let failed = screens.summary(model.summary.summary, week: model.week, work: model.work)
            #expect(
                failed.state
                    == .failed(
                        reason: "Unlock this device to update health data.",
                        wayOut: "again"))
            #expect(failed.controls.contains { $0.id == "again" })
            model.tryAgain()
            try await until { model.work == .upToDate && model.week.count == 7 }
            await model.close()
        }
    }

    @Test func `of a person without data is empty`() async throws {
        try await HealthWorld.run(asksRules: false) { world in
            let model = HealthModel(try world.app(ScriptedHealthSource()))
            try await until { model.work == .upToDate }
            let screen = HealthScreens(now: HealthMoment(seconds: 0, offset: 0))
                .summary(model.summary.summary, week: model.week, work: model.work)
            #expect(screen.state == .empty("Nothing was measured yet."))
            await model.close()
        }
    }
}

@MainActor @Suite(.timeLimit(.minutes(2))) struct `Health on a phone` {
    private func figure(_ screen: Screen, _ id: String) -> Row? {
        screen.rows.first { $0.id == id }
    }

    @Test func `draws skeletons, then eight values and seven days, also offline`() async throws {
        try await HealthWorld.run(asksRules: false) { world in
            let client = try world.client("phone")
            await client.disableNetwork()
            let phone = try HealthAfter(world.environment(client))
            let days = try world.project.days(of: 7)
            let first = try await screen(phone) { !$0.sections.isEmpty }
            #expect(first.state == .loading || first.documents == days)
            let ready = try await screen(phone) { screen in
                screen.documents == days && screen.state == .fresh
                    && screen.sections[0].rows.allSatisfy {
                        $0.kind != .skeleton && $0.trailing != "–"
                    }
            }
            #expect(ready.sections[0].rows.count == 8)
            await phone.close()
        }
    }

    @Test func `follows a walk; before, the day counted watch and phone both`() async throws {
        try await HealthWorld.run { world in
            let client = try world.client("phone")
            let phone = try HealthAfter(world.environment(client))
            let days = try world.project.days(of: 7)
            let ready = try await screen(phone) { $0.documents == days && $0.state == .fresh }
            let steps = try #require(figure(ready, days[0])?.trailing.flatMap { Int($0) })
            await phone.tap("walk", "")
            let walked = try await screen(phone) {
                figure($0, days[0])?.trailing == "\(steps + 500)"
                    && figure($0, "stepsToday")?.trailing == "\(steps + 500)"
            }
            #expect(walked.documents == days)
            await phone.close()
            let old = try HealthBefore(world.environment(client))
            let shown = try await screen(old) { $0.documents == days }
            let today = try #require(figure(shown, days[0])?.trailing.flatMap { Int($0) })
            #expect(figure(shown, "stepsToday")?.trailing == "\(steps + 500)")
            #expect(today > steps + 500, "the two sources disagree")
            await old.close()
        }
    }

    /// The app is closed before the server has answered everything. The next app shows the same
    /// days.
    @Test func `shows at the next launch what it held, before anything is read`() async throws {
        try await HealthWorld.run { world in
            let client = try world.client("phone")
            let first = try HealthAfter(world.environment(client))
            let days = try world.project.days(of: 7)
            let ready = try await screen(first) { $0.documents == days && $0.state == .fresh }
            // The app may show all values before it has sent its last write.
            try await until("the rules are asked") {
                !world.local.server.judgedRequests().isEmpty
            }
            await first.close()
            world.local.advance(by: .seconds(600))
            let again = try HealthAfter(
                world.environment(try world.client("phone")))
            let shown = try await screen(again) { $0.documents == days }
            #expect(figure(shown, days[1])?.trailing == figure(ready, days[1])?.trailing)
            let fresh = try await screen(again) { $0.state == .fresh }
            #expect(fresh.documents == days)
            await again.close()
        }
    }
}

/// Tests the deployed files.
struct `The files of Health` {
    @Test func `let a person at their own days, and nobody else`() throws {
        _ = try IndexConfiguration(json: try exampleFile("Health/firestore.indexes.json"))
        let now = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)
        var rules = try RulesSandbox(ExampleRules.health.text, at: now)
        let day = MapValue([
            ("day", .timestamp(now)), ("kinds", .map(MapValue())), ("updatedAt", .timestamp(now)),
        ])
        let path = "users/ada/days/2026-05-10"
        #expect(rules.allows(.set(path, day), as: .user("ada")))
        #expect(!rules.allows(.set(path, day), as: .user("mallory")))
        #expect(!rules.allows(.set("users/ada/days/today", day), as: .user("ada")))
        rules[path] = day
        #expect(rules.allows(.get(path), as: .user("ada")))
        #expect(!rules.allows(.get(path), as: .user("mallory")))
        #expect(!rules.allows(.get(path), as: .nobody))
        #expect(!rules.allows(.get("users/ada"), as: .user("ada")), "nothing else is open")
    }
}
