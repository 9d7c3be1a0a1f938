import Foundation
import Testing
import Tidemark
import TidemarkApp
import TidemarkHealth
import TidemarkHealthSync
import TidemarkServer

/// A server in this process, and a device with an imported export on its disk.
private final class HealthWorld {
    let server: FirestoreServer
    let health: HealthStore
    let truth: HealthTruth
    private let folder: String
    private(set) var device: Firestore

    init(days: Int) async throws {
        server = try FirestoreServer(FirestoreServer.Configuration())
        folder =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-health-sync-" + UUID().uuidString).path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        health = try HealthStore(path: folder + "/health.sqlite")
        let export = folder + "/export.xml"
        var bytes = Data()
        truth = HealthGenerator(days: days, seed: 4).generate { bytes += $0 }
        try bytes.write(to: URL(filePath: export))
        _ = try await HealthImport(into: health).run(export)
        device = try Self.client(server, folder)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private static func client(_ server: FirestoreServer, _ folder: String) throws -> Firestore {
        try Firestore(
            projectID: "p",
            settings: FirestoreSettings(
                cache: .directory(folder), label: "device", readDeadline: .seconds(20)),
            environment: .live(server))
    }

    /// Ends the app and starts it again on the same disk.
    func relaunch() async throws {
        await device.terminate()
        device = try Self.client(server, folder)
    }

    func add(_ export: String) async throws {
        let path = folder + "/more.xml"
        try Data(export.utf8).write(to: URL(filePath: path))
        _ = try await HealthImport(into: health).run(path)
    }

    func history(daysPerPart: Int = 30) throws -> HealthHistory {
        try HealthHistory(
            health, to: device.collection("users/kim/days"), daysPerPart: daysPerPart,
            now: { Timestamp(date: Date()) })
    }

    /// Runs the backfill until it is complete, fails or is held.
    func run(_ history: HealthHistory, _ budget: BackfillBudget) async throws -> BackfillProgress {
        let job = try #require(try history.job())
        let backfill = Backfill([.init(job, from: history, to: history)], budget: budget)
        let progress = await backfill.progress
        try await backfill.start()
        var last = BackfillProgress()
        for await state in progress {
            last = state
            switch state.phase {
            case .complete, .failed, .held: await backfill.stop()
            case .running, .tryingAgain: continue
            }
            break
        }
        return last
    }

    /// Returns another device of the same user, with an empty store.
    func second() throws -> (Firestore, HealthStore, folder: String) {
        let path = folder + "/second"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
        return (try Self.client(server, path), try HealthStore(path: path + "/health.sqlite"), path)
    }

    func records() async throws -> [HealthDayRecord] {
        try await device.collection("users/kim/days").getDocuments(source: .server).documents
            .map { document in
                let fields = try #require(document.fields)
                return try #require(
                    HealthDayRecord(documentID: document.documentID, fields: fields))
            }
    }

    func expected() throws -> [HealthDay: [HourEntry]] {
        try health.read { snapshot in
            guard let days = try snapshot.days() else { return [:] }
            let all = try HealthKind.allCases.flatMap { try snapshot.entries($0, days: days) }
            return Dictionary(grouping: all, by: \.day)
        }
    }
}

struct `Health days in Firestore` {
    @Test(.timeLimit(.minutes(2)))
    func `are all there, once, and come to what was lived`() async throws {
        let world = try await HealthWorld(days: 45)
        let progress = try await world.run(try world.history(), BackfillBudget())
        #expect(progress.phase == .complete)
        #expect(progress.windowsDone == progress.windows)
        let expected = try world.expected()
        #expect(progress.writes == expected.count)
        let records = try await world.records()
        #expect(records.count == expected.count)
        for record in records { #expect(record.hours == expected[record.day]) }
        for (day, total) in try #require(world.truth.totals[.steps]) {
            let hours = records.first { $0.day == day }?.hours.filter { $0.kind == .steps } ?? []
            #expect(hours.reduce(0) { $0 + $1.sum } == total.sum, "\(day)")
        }
        await world.device.terminate()
    }

    @Test(.timeLimit(.minutes(2)))
    func `are sent newest first, and on from there after a restart`() async throws {
        let world = try await HealthWorld(days: 30)
        let expected = try world.expected()
        var sent = 0
        var launches = 0
        while launches < 20 {
            // The backfill sends a batch of four days, and then the app ends.
            let progress = try await world.run(
                try world.history(daysPerPart: 4), BackfillBudget(writes: 1))
            sent += progress.writes
            launches += 1
            let days = try await world.records().map(\.day).sorted()
            let newest = expected.keys.sorted().suffix(days.count)
            #expect(days == Array(newest))
            if progress.phase == .complete { break }
            try await world.relaunch()
        }
        #expect(launches > 5 && launches < 20)
        #expect(sent == expected.count, "a day was sent twice")
        await world.device.terminate()
    }

    @Test(.timeLimit(.minutes(2)))
    func `are sent again only when an import has changed them`() async throws {
        let world = try await HealthWorld(days: 12)
        let history = try world.history()
        _ = try await world.run(history, BackfillBudget())
        let again = try await world.run(history, BackfillBudget())
        #expect(again.phase == .complete && again.writes == 0)
        try await world.add(
            """
            <HealthData><Record type="HKQuantityTypeIdentifierFlightsClimbed" unit="count"
            sourceName="Phone" startDate="2026-05-05 12:00:00 +0200" value="3"/></HealthData>
            """)
        let third = try await world.run(history, BackfillBudget())
        // The backfill sends that day, and the days beside it, because zones may move an hour
        // there.
        #expect(third.phase == .complete && third.writes == 3)
        let expected = try world.expected()
        for record in try await world.records() { #expect(record.hours == expected[record.day]) }
        let fourth = try await world.run(history, BackfillBudget())
        #expect(fourth.phase == .complete && fourth.writes == 0)
        await world.device.terminate()
    }

    @Test(.timeLimit(.minutes(2)))
    func `come back into another device's store, and are not sent again`() async throws {
        let world = try await HealthWorld(days: 20)
        _ = try await world.run(try world.history(), BackfillBudget())
        let (device, store, _) = try world.second()
        let days = device.collection("users/kim/days")
        let last = try #require(try world.health.read { try $0.days()?.upperBound })
        let download = try HealthDownload(days, into: store)
        let returning = Backfill([
            .init(download.job(days: 30, until: last), from: download, to: download)
        ])
        let progress = await returning.progress
        try await returning.start()
        var reads = 0
        for await state in progress {
            reads = state.reads
            #expect(state.phase != .failed, "\(state.failures)")
            if state.phase == .complete || state.phase == .failed { break }
        }
        await returning.stop()
        let held = try store.read { snapshot in
            let all = try HealthKind.allCases.flatMap {
                try snapshot.entries($0, days: HealthDay(number: last.number - 29)...last)
            }
            return Dictionary(grouping: all, by: \.day)
        }
        let expected = try world.expected()
        #expect(held == expected)
        #expect(reads <= expected.count + 2)
        // The eight values of the summary are complete, as on the device that measured them.
        func summary(_ store: HealthStore) throws -> HealthSummary {
            let end = HealthMoment(seconds: (last.number + 1) * 86_400 - 7_201, offset: 120)
            return try store.read { snapshot in
                var summary = HealthSummary()
                try snapshot.read(Set(HealthSummary.Item.allCases), of: &summary, at: end)
                return summary
            }
        }
        let full = try summary(store)
        #expect(full == (try summary(world.health)))
        #expect(full.stepsToday ?? 0 > 0 && full.weight != nil && full.sleep != nil)
        // The second device has nothing to send.
        let history = try HealthHistory(store, to: days, now: { Timestamp(date: Date()) })
        #expect(try history.job() == nil)
        await device.terminate()
        await world.device.terminate()
    }

    @Test func `of a device that wrote nonsense are none`() {
        func record(_ start: Int64, _ offset: Int64) -> HealthDayRecord? {
            let arrays: MapValue = [
                "start": .array([.integer(start)]), "offset": .array([.integer(offset)]),
                "sum": .array([.integer(1)]), "lastTime": .array([.integer(start)]),
            ]
            return HealthDayRecord(
                documentID: "1970-01-02", fields: ["kinds": .map(["steps": .map(arrays)])])
        }
        #expect(record(86_400, 0) != nil)
        #expect(record(86_400, .max) == nil)
        #expect(record(.max, 0) == nil)
        #expect(record(86_400, 2_000) == nil)
    }
}
