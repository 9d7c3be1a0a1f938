import ExampleKit
import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkServer
import TidemarkTesting

@testable import StampsCore
@testable import TidemarkPhones
@testable import TidemarkShow

/// Tests the day on which the app of stamps switches from FirebaseFirestore.
@Suite(.timeLimit(.minutes(2))) struct `The update of an example` {
    /// Leaves the old version's store on a phone, and launches the new version.
    private func launch<App: PhoneApp>(
        _ type: App.Type, _ ground: PhoneGround, isOnline: Bool
    ) throws -> App {
        try type.init(PhoneEnvironment(settings(ground, "new", isOnline: isOnline)))
    }

    private func settings(_ ground: PhoneGround, _ label: String, isOnline: Bool) -> PhoneSettings {
        let folder = ground.folder + "/phone"
        var settings = PhoneSettings(
            folder: folder, project: "phones",
            firestore: isOnline ? ground.socket.host : "127.0.0.1:1",
            accounts: isOnline ? ground.accounts.host : "127.0.0.1:1", user: ground.project.user,
            label: label)
        settings.oldStore = OldVersion.folder(in: folder, project: "phones")
        settings.diagnoses = false
        return settings
    }

    private func leaveOldVersion(_ ground: PhoneGround) async throws {
        let use = try #require(Example.update.oldUse)
        let port = try #require(Int(ground.socket.host.split(separator: ":")[1]))
        try await OldVersion(use, in: ground.project, settings(ground, "old", isOnline: true))
            .play(port: port)
    }

    @Test func `shows the old stamps without a network, and reads the new ones`() async throws {
        try await PhoneGround.play(.stamps) { ground in
            let old = try await Example.update.truth(ground.project)
            try await leaveOldVersion(ground)
            let store = settings(ground, "new", isOnline: true).oldStore ?? ""
            #expect(FileManager.default.fileExists(atPath: store + "/CURRENT"))

            let first = try launch(StampsAfter.self, ground, isOnline: false)
            let stale = try await first.screen("the old stamps") { !$0.documents.isEmpty }
            #expect(stale.documents == old)
            await first.close()

            for number in 0..<3 { try await Example.update.others(ground.project, number) }
            let new = try await Example.update.truth(ground.project)
            let second = try launch(StampsAfter.self, ground, isOnline: true)
            let fresh = try await second.screen("the new stamps") {
                $0.state == .fresh && $0.documents == new
            }
            #expect(fresh.documents.count == 50)
            let reads = ground.local.meter().first { $0.label == "new" }?.reads ?? 0
            // Three stamps, one for a query that finds nothing, the rank, and the profile: by the
            // launch, which does not know yet that there is one, and by its listener.
            #expect(reads <= 7, "\(reads)")
            try await until("the folder is removed") {
                !FileManager.default.fileExists(atPath: store)
            }
            await second.close()
        }
    }

    @Test func `shows nothing in the app as it was`() async throws {
        try await PhoneGround.play(.stamps) { ground in
            try await leaveOldVersion(ground)
            let app = try launch(StampsBefore.self, ground, isOnline: false)
            let screen = try await app.screen("an end") {
                switch $0.state {
                case .failed, .empty: true
                default: false
                }
            }
            #expect(screen.documents.isEmpty)
            await app.close()
        }
    }

    @Test func `is an app of the show with the rules of stamps`() {
        #expect(Examples.named("update")?.rules == Example.stamps.rules)
        #expect(Example.update.shown.title == "Stamps: the day you switch")
    }
}
