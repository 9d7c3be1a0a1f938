import ExampleKit
import ExampleTesting
import Foundation
import Observation
import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkHealth
import TidemarkModel
import TidemarkServer
import TidemarkTesting

@testable import HealthCore

/// An export of some days in the format of the Health app, and its expected contents.
private struct SharedExport {
    let file: URL
    let truth: HealthTruth

    /// - Parameter part: The share of the file that exists, from its beginning.
    @MainActor init(days: Int = 12, _ world: HealthWorld, part: Double = 1) throws {
        var bytes: [UInt8] = []
        truth = HealthGenerator(days: days, seed: 1).generate { bytes += $0 }
        file = try Self.write(Data(bytes.prefix(Int(Double(bytes.count) * part))), world)
    }

    @MainActor static func write(
        _ data: Data, _ world: HealthWorld, named name: String = "export.xml"
    ) throws -> URL {
        let folder = world.world.folder.appendingPathComponent("inbox")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent(name)
        try data.write(to: file)
        return file
    }
}

@MainActor extension HealthWorld {
    /// Returns a phone that measures nothing, on the evening of the export's last day, with a
    /// client on its own disk.
    fileprivate func phone(daysPerPart: Int = 10) throws -> HealthApp {
        let client = try local.firestore(
            as: .user(world.user.id), label: "phone",
            cache: .directory(world.folder.appendingPathComponent("cache").path))
        var app = try HealthApp(
            folder: world.folder.appendingPathComponent("phone").path,
            source: ScriptedHealthSource(), firestore: client, user: world.user.id)
        app.now = { Date(timeIntervalSince1970: 1_778_443_000) }
        app.daysPerPart = daysPerPart
        return app
    }

    fileprivate var writes: Int {
        local.meter().filter { $0.label == "phone" }.reduce(0) { $0 + $1.writes }
    }

    /// Returns the days that the server has.
    fileprivate func sent() async throws -> Set<String> {
        let desk = try local.firestore(label: "desk", token: "owner")
        let days = try await desk.collection("users/\(world.user.id)/days").getDocuments()
        await desk.terminate()
        return Set(days.documents.map(\.documentID))
    }
}

extension HealthApp {
    /// Returns the days that this device has to send.
    fileprivate func ownDays() throws -> Set<String> {
        guard let days = try store.read({ try $0.ownDays() }) else { return [] }
        return Set(
            (days.lowerBound.number...days.upperBound.number).map { "\(HealthDay(number: $0))" })
    }
}

extension HealthModel.Export {
    fileprivate var reason: String? { if case .failed(let reason) = self { reason } else { nil } }
    fileprivate var isImporting: Bool { if case .importing = self { true } else { false } }
    fileprivate var progress: HealthImport.Progress? {
        if case .importing(let progress) = self { progress } else { nil }
    }
}

/// The states of a model's export, also those that pass between two looks at the model.
@MainActor private final class Shown {
    private(set) var exports: [HealthModel.Export] = []

    init(by model: HealthModel) { add(model) }

    private func add(_ model: HealthModel) {
        let state = withObservationTracking {
            model.export
        } onChange: { [weak self, weak model] in
            // The old state is still there.
            MainActor.assumeIsolated {
                guard let self, let model else { return }
                self.add(model)
            }
        }
        exports.append(state)
    }
}

@MainActor @Suite(.timeLimit(.minutes(2))) struct `An export that is shared with Health` {
    @Test func `is shown, and each of its days is sent once`() async throws {
        try await HealthWorld.run { world in
            let export = try SharedExport(world)
            let app = try world.phone()
            let model = HealthModel(app)
            await model.bringIn(export.file)
            let shown = Shown(by: model)
            try await until { model.export == .done }
            #expect(shown.exports.contains { $0.progress != nil }, "how far it is")
            try await until { model.work == .upToDate && model.week.count == 7 }
            for day in model.week {
                let total = try #require(HealthDay(day.id))
                #expect(day.steps == export.truth.totals[.steps]?[total]?.sum, "\(day.id)")
            }
            #expect(try await world.sent() == app.ownDays())
            #expect(try world.writes == app.ownDays().count)
            #expect(world.reads() == 0)
            #expect(app.picked.file == nil, "the file is not kept for longer than it is needed")
            await model.close()
        }
    }

    @Test func `is brought in at the next launch when the app is killed`() async throws {
        try await HealthWorld.run { world in
            let export = try SharedExport(world)
            let app = try world.phone()
            let first = HealthModel(app)
            await first.bringIn(export.file)
            #expect(first.export.isImporting)
            await first.close()
            #expect(first.export.isImporting, "it has not come to its end")
            #expect(world.writes == 0, "nothing is sent before all of it is here")
            // The system deletes its copy.
            try FileManager.default.removeItem(at: export.file)
            await app.firestore.terminate()

            let again = try world.phone()
            let second = HealthModel(again)
            #expect(second.export.isImporting)
            try await until { second.export == .done }
            #expect(try await world.sent() == again.ownDays())
            #expect(try world.writes == again.ownDays().count)
            let steps = try again.store.read {
                try $0.totals(.steps, days: HealthDay("2026-05-01")!...HealthDay("2026-05-10")!)
            }
            for total in steps {
                #expect(total.sum == export.truth.totals[.steps]?[total.day]?.sum)
            }
            await second.close()
        }
    }

    @Test func `is sent on from where it was when the app is killed`() async throws {
        // A busy machine can send all days before the app is killed, so the next attempt takes
        // longer.
        for days in [25, 100, 400] {
            if try await isSentOnAfterKill(days: days) { return }
        }
        Issue.record("it was to be killed before its end")
    }

    /// - Returns: True if the app was killed before the end.
    private func isSentOnAfterKill(days: Int) async throws -> Bool {
        var wasCut = false
        try await HealthWorld.run { world in
            let export = try SharedExport(days: days, world)
            let app = try world.phone(daysPerPart: 1)
            let first = HealthModel(app)
            await first.bringIn(export.file)
            try await until { (first.sending?.writes ?? 0) >= 3 }
            await first.close()
            await app.firestore.terminate()
            let before = world.writes
            let days = try app.ownDays().count
            wasCut = before < days
            if !wasCut { return }

            let again = try world.phone(daysPerPart: 1)
            let second = HealthModel(again)
            #expect(second.export == .idle, "all of it is on the device")
            try await until { second.sending?.phase == .complete }
            #expect(try await world.sent() == again.ownDays())
            // The server may have received the pending part without an answer to the app.
            #expect((days...days + 1).contains(world.writes), "\(world.writes) of \(days)")
            #expect(
                try #require(second.sending).writes <= days - 3, "the parts before are not sent")
            await second.close()
        }
        return wasCut
    }

    @Test func `goes before what is measured, which comes afterwards`() async throws {
        try await HealthWorld.run { world in
            let health = try world.health(days: 3)
            var app = try world.app(health.source)
            app.now = { [local = world.local] in local.now.dateValue() }
            let model = HealthModel(app)
            try await until { model.sending?.phase == .complete }
            try await until { model.week.count >= 3 }
            let before = model.week[0].steps
            await model.bringIn(try SharedExport(world).file)
            #expect(model.export.isImporting)
            try health.walk(at: world.local.now.dateValue())
            try await until { model.export == .done && model.work == .upToDate }
            try await until { model.week[0].steps == before + 500 }
            let days = try #require(try app.store.read { try $0.days(.steps) })
            #expect(days.contains(HealthDay("2026-05-10")!))
            await model.close()
        }
    }

    @Test(arguments: [
        ("holiday.txt", Array("Dear diary".utf8), "isn't an Apple Health export"),
        ("export.zip", [0x50, 0x4b, 3, 4] + Array(repeating: 0, count: 400), "cannot be unpacked"),
    ])
    func `that is none changes nothing, and says so`(
        name: String, bytes: [UInt8], reason: String
    ) async throws {
        try await HealthWorld.run(asksRules: false) { world in
            let file = try SharedExport.write(Data(bytes), world, named: name)
            let app = try world.phone()
            let model = HealthModel(app)
            await model.bringIn(file)
            try await until { !model.export.isImporting }
            let told = try #require(model.export.reason)
            #expect(told.hasPrefix(name) && told.contains(reason), "\(told)")
            #expect(try app.store.read { try $0.days() } == nil && app.picked.file == nil)
            // The rest of the app continues, and the failed export can be ignored.
            try await until { model.work == .upToDate }
            model.tryAgain()
            #expect(model.export == .idle)
            try await until { model.work == .upToDate }
            #expect(world.writes == 0)
            await model.close()
        }
    }

    @Test func `that is not there says so`() async throws {
        try await HealthWorld.run(asksRules: false) { world in
            let app = try world.phone()
            let model = HealthModel(app)
            await model.bringIn(world.world.folder.appendingPathComponent("gone.xml"))
            try await until { !model.export.isImporting }
            #expect(model.export.reason?.hasPrefix("gone.xml cannot be read") == true)
            #expect(app.picked.file == nil)
            await model.close()
        }
    }

    @Test func `that is cut off says so, and what is left of it is sent`() async throws {
        try await HealthWorld.run { world in
            let export = try SharedExport(world, part: 0.5)
            let app = try world.phone()
            let model = HealthModel(app)
            await model.bringIn(export.file)
            try await until { !model.export.isImporting }
            #expect(
                model.export.reason == "The export was cut off: what was left of it is here.")
            try await until { model.sending?.phase == .complete }
            #expect(try await world.sent() == app.ownDays())
            await model.close()
        }
    }

    @Test func `that is stopped is not brought in at the next launch`() async throws {
        try await HealthWorld.run { world in
            let export = try SharedExport(world)
            let app = try world.phone()
            let model = HealthModel(app)
            await model.bringIn(export.file)
            await model.cancelImport()
            #expect(
                model.export.reason
                    == "You stopped the import: what was stored until then is here.")
            #expect(app.picked.file == nil)
            try await until { model.work == .upToDate }
            await model.close()
            await app.firestore.terminate()
            // A second import of the same file is complete.
            let again = HealthModel(try world.phone())
            #expect(again.export == .idle)
            await again.bringIn(export.file)
            try await until { again.export == .done }
            await again.close()
        }
    }

    /// Tests that a copy cut short by a kill does not count as an export.
    @Test func `is kept whole or not at all`() async throws {
        try await HealthWorld.run(asksRules: false) { world in
            let app = try world.phone()
            let half = world.world.folder.appendingPathComponent("phone/export.part")
            try FileManager.default.createDirectory(at: half, withIntermediateDirectories: true)
            try Data("<?xml".utf8).write(to: half.appendingPathComponent("export.xml"))
            #expect(app.picked.file == nil)
            let file = try SharedExport.write(Data("<?xml version".utf8), world)
            try await app.picked.keep(file)
            let kept = try #require(app.picked.file)
            #expect(try Data(contentsOf: kept) == Data("<?xml version".utf8))
            #expect(kept.lastPathComponent == "export.xml", "the name is for its sentences")
            app.picked.forget()
            #expect(app.picked.file == nil && FileManager.default.fileExists(atPath: file.path))
        }
    }
}
