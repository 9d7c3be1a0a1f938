import ExampleKit
import ExampleTesting
import Foundation
import HTTPTesting
import TestSupport
import Testing
import Tidemark
import TidemarkFiles
import TidemarkHTTP
import TidemarkObjects

@testable import StampsCore

/// Stamps that a user adds with a photo, against the storage port of `tidemark serve` with the
/// app's two files of rules.
@Suite(.timeLimit(.minutes(2))) struct `A stamp with a photo` {
    private func signIn(_ app: some PhoneApp) async throws {
        _ = try await app.screen("a sign-in") { $0.controls.contains { $0.id == "signIn" } }
        await app.tap("signIn", "")
        _ = try await app.screen("stamps") { !$0.documents.isEmpty }
    }

    private func row(_ screen: Screen) -> Row? { screen.rows.first { $0.title == "Penny Black" } }

    private func stamps(_ ground: PhoneGround) async throws -> [Stamp] {
        try await ground.project.firestore.collection(Paths.stamps)
            .whereField(Paths.owner, isEqualTo: ground.project.user.id)
            .getDocuments(source: .server).documents.map { try $0.data(as: Stamp.self) }
    }

    /// The first process ends in the middle of the upload. The second one has no network, and the
    /// third one continues.
    @Test func `is shown at once, survives the end of the app and arrives`() async throws {
        try await PhoneGround.playWithPhotos(.stamps, PhonePhotos.enlarge) {
            ground, storage, address, photos in
            let first = try ground.phone(StampsAfter.self, storage: address, photos: photos)
            try await signIn(first)
            await first.tap("add", "Penny Black, Britain")
            let shown = try await first.screen("the photo") {
                row($0)?.picture?.isLoaded == true
            }
            #expect(shown.documents.first == row(shown)?.id && row(shown)?.detail == "Britain")
            #expect(row(shown)?.isPending == true)
            #expect(shown.rows.first?.trailing == "41")
            try await until("a part has arrived") {
                try await storage.openUploads(limit: 2).contains { $0.received > 0 }
            }
            await first.close()
            #expect(try await storage.objects().isEmpty, "the upload was over before the end")

            let second = try ground.phone(
                StampsAfter.self, isOnline: false, storage: address, photos: photos)
            let waiting = try await second.screen("the photo from disk") {
                row($0)?.picture?.isLoaded == true
                    && row($0)?.trailing?.hasPrefix("Sending") == true
            }
            #expect(row(waiting)?.isPending == true)
            await second.close()

            let third = try ground.phone(StampsAfter.self, storage: address, photos: photos)
            let sent = try await third.screen("a stamp that is sent") {
                row($0)?.isPending == false && row($0)?.trailing?.hasPrefix("Sending") == false
            }
            let id = try #require(row(sent)?.id)
            #expect(third.picture(of: id) != nil)
            let stamp = try #require(try await stamps(ground).first)
            let object = try #require(try await storage.objects().first)
            #expect(stamp.photo?.path == object.path.name && stamp.photo?.type == "image/jpeg")
            #expect(object.path.name.hasPrefix("stamps/\(id)/"))
            #expect(object.contents.size == PhonePhotos.large)
            #expect(object.uploader == ground.project.user.id)
            #expect(try await storage.openUploads(limit: 2).isEmpty, "one session was enough")
            await third.close()

            let other = try ground.phone(
                StampsAfter.self, "tablet", storage: address, photos: photos)
            try await signIn(other)
            _ = try await other.screen("the photo from Storage") {
                row($0)?.picture?.isLoaded == true
            }
            await other.close()
        }
    }

    @Test func `is lost by the old app, which holds it in memory`() async throws {
        try await PhoneGround.playWithPhotos(.stamps, PhonePhotos.enlarge) {
            ground, storage, address, photos in
            let first = try ground.phone(
                StampsBefore.self, "before", storage: address, photos: photos)
            try await signIn(first)
            await first.tap("add", "Penny Black, Britain")
            try await until("a part has arrived") {
                try await storage.openUploads(limit: 2).contains { $0.received > 0 }
            }
            await first.close()

            let second = try ground.phone(
                StampsBefore.self, "before", storage: address, photos: photos)
            let shown = try await second.screen("stamps") { !$0.documents.isEmpty }
            #expect(row(shown) == nil)
            await second.close()
            #expect(try await stamps(ground).isEmpty)
            #expect(try await storage.objects().isEmpty)
        }
    }

    @Test func `arrives by the old app that nothing interrupts`() async throws {
        try await PhoneGround.playWithPhotos(.stamps) { ground, storage, address, photos in
            let app = try ground.phone(
                StampsBefore.self, "before", storage: address, photos: photos)
            try await signIn(app)
            await app.tap("add", "Penny Black, Britain")
            _ = try await app.screen("the stamp") { row($0) != nil }
            #expect(try await stamps(ground).map(\.country) == ["Britain"])
            #expect(try await storage.objects().count == 1)
            await app.close()
        }
    }

    @Test func `says that Storage refuses its photo, and can be discarded`() async throws {
        try await PhoneGround.playWithPhotos(.stamps, PhonePhotos.replaceByText) {
            ground, storage, address, photos in
            let app = try ground.phone(StampsAfter.self, storage: address, photos: photos)
            try await signIn(app)
            await app.tap("add", "Penny Black")
            let refused = try await app.screen("a refusal") { row($0)?.trailing == "Not sent" }
            #expect(row(refused)?.picture?.isLoaded == false)
            #expect(
                refused.controls.map(\.id) == ["refresh", "retryPhotos", "discardPhotos", "add"])
            await app.tap("discardPhotos", "")
            let empty = try await app.screen("no stamp") { row($0) == nil }
            #expect(!empty.rows.contains { $0.id == "problem" }, "the user gave it up")
            #expect(try await storage.objects().isEmpty)
            await app.close()
        }
    }

    @Test func `needs a name`() {
        #expect(Stamp.typed("") == nil && Stamp.typed(" , Chile") == nil)
        let comet = Stamp.typed(" Comet ")
        #expect(comet?.name == "Comet" && comet?.country == "")
        let train = Stamp.typed("Train, Åland, 1904")
        #expect(train?.name == "Train" && train?.country == "Åland, 1904")
    }
}
