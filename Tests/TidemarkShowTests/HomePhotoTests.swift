import ExampleKit
import ExampleTesting
import Foundation
import HTTPTesting
import TestSupport
import Testing
import Tidemark
import TidemarkApp
import TidemarkFiles
import TidemarkHTTP
import TidemarkImages
import TidemarkObjects

@testable import HomesCore

/// The picture of a profile, against the storage port of `tidemark serve` with the app's two files
/// of rules.
@Suite(.timeLimit(.minutes(2))) struct `The picture of a profile` {
    private func signUp(_ app: HomesAfter) async throws {
        for (control, text) in [("begin", ""), ("name", "Ada"), ("home", "Elm Street 4")] {
            _ = try await app.screen(control) { $0.controls.contains { $0.id == control } }
            await app.tap(control, text)
        }
        _ = try await app.screen("a home") { $0.state == .fresh && you($0)?.trailing == "Ada" }
    }

    private func you(_ screen: Screen) -> Row? { screen.rows.first { $0.id == "you" } }

    private func profile(_ ground: PhoneGround) async throws -> (id: String, value: Profile) {
        let users = try await ground.project.firestore.collection(Paths.users)
            .getDocuments(source: .server).documents
        let user = try #require(users.first)
        return (user.documentID, try user.data(as: Profile.self))
    }

    /// The first process ends in the middle of the upload. The second one has no network, and the
    /// third one continues.
    @Test func `is shown at once, survives the end of the app and arrives`() async throws {
        try await PhoneGround.playWithPhotos(.homes, PhonePhotos.enlarge) {
            ground, storage, address, photos in
            let first = try ground.phone(HomesAfter.self, storage: address, photos: photos)
            try await signUp(first)
            await first.tap("photo", "")
            let shown = try await first.screen("the picture") {
                you($0)?.picture?.isLoaded == true && you($0)?.detail != nil
            }
            #expect(you(shown)?.isPending == true)
            #expect(you(shown)?.detail?.hasPrefix("Picture: sending") == true)
            try await until("a part has arrived") {
                try await storage.openUploads(limit: 2).contains { $0.received > 0 }
            }
            await first.close()
            #expect(try await storage.objects().isEmpty, "the upload was over before the end")

            let second = try ground.phone(
                HomesAfter.self, isOnline: false, storage: address, photos: photos)
            _ = try await second.screen("the picture from disk") {
                you($0)?.picture?.isLoaded == true && you($0)?.isPending == true
            }
            #expect(second.picture != nil)
            await second.close()

            let third = try ground.phone(HomesAfter.self, storage: address, photos: photos)
            _ = try await third.screen("the picture that waits") { you($0)?.isPending == true }
            _ = try await third.screen("the picture that is sent") { you($0)?.isPending == false }
            let (id, sent) = try await profile(ground)
            let object = try #require(try await storage.objects().first)
            #expect(sent.photo?.path == object.path.name && sent.photo?.size == 12_000_000)
            #expect(object.path.name.hasPrefix("users/\(id)/") && object.uploader == id)
            await third.close()
            try await seesPicture(on: ground, of: id, in: address)
        }
    }

    /// Loads the picture by its `gs://` address, for a screen of its own, as the view controllers
    /// do.
    private func seesPicture(
        on ground: PhoneGround, of id: String, in address: String
    ) async throws {
        let settings = ground.settings("phone", storage: address)
        let stack = try TidemarkStack(HomesAfter.settings(settings))
        guard case .signedIn = await stack.identity.load() else {
            Issue.record("nobody is signed in")
            return
        }
        var files = FileSettings(bucket: "bucket")
        files.address = address
        let photo = try HomePhoto(
            AppPhotos(stack.firestore, files), stack.firestore,
            folder: ground.folder + "/other-pictures")
        var pictures = photo.pictures(of: id).makeAsyncIterator()
        let picture = try #require(await pictures.next())
        #expect(picture.width > 0 && picture.height > 0)
        await stack.close()
    }

    @Test func `takes the place of the former one, whose object is deleted`() async throws {
        try await PhoneGround.playWithPhotos(.homes) { ground, storage, address, photos in
            let app = try ground.phone(HomesAfter.self, storage: address, photos: photos)
            try await signUp(app)
            await app.tap("photo", "")
            try await until("the first is there") { try await profile(ground).value.photo != nil }
            let former = try #require(try await profile(ground).value.photo?.path)
            _ = try await app.screen("the first") { you($0)?.picture?.isLoaded == true }
            await app.tap("photo", "")
            try await until("the former object is deleted") {
                let names = try await storage.objects().map(\.path.name)
                return names.count == 1 && names[0] != former
            }
            _ = try await app.screen("the second") {
                you($0)?.picture?.isLoaded == true && you($0)?.isPending == false
            }
            let path = try await profile(ground).value.photo?.path
            #expect(try await storage.objects().map(\.path.name) == [path])
            await app.close()
        }
    }

    @Test func `is refused if it is no picture, and the former one stays`() async throws {
        try await PhoneGround.playWithPhotos(.homes, PhonePhotos.replaceByText) {
            ground, storage, address, photos in
            let app = try ground.phone(HomesAfter.self, storage: address, photos: photos)
            try await signUp(app)
            await app.tap("photo", "")
            let refused = try await app.screen("a refusal") {
                you($0)?.detail == "Picture: not sent"
            }
            #expect(refused.controls.map(\.id) == ["retryPhoto", "discardPhoto", "photo"])
            await app.tap("discardPhoto", "")
            _ = try await app.screen("no picture") { you($0)?.picture == nil }
            #expect(try await storage.objects().isEmpty)
            #expect(try await profile(ground).value.photo == nil)
            await app.close()
        }
    }
}
