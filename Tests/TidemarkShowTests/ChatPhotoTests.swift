import ExampleKit
import ExampleTesting
import Foundation
import HTTPTesting
import TestSupport
import Testing
import Tidemark
import TidemarkHTTP
import TidemarkRules
import TidemarkServer

@testable import ChatsCore

/// A photo that the user of a phone sends to Grace, against the storage port of `tidemark serve`
/// with the app's two files of rules.
@Suite(.timeLimit(.minutes(2))) struct `A photo for Grace` {
    /// Opens the chat with Grace on a phone.
    private func open<App: PhoneApp>(
        _ type: App.Type, _ ground: PhoneGround, isOnline: Bool, storage: String, photos: URL
    ) async throws -> App {
        let app = try ground.phone(
            App.self, isOnline: isOnline, storage: storage, photos: photos,
            token: RulesPerson.user(ground.project.user.id).unsignedToken)
        _ = try await app.screen("the chats") { $0.documents.contains("grace") }
        await app.tap("grace", "")
        _ = try await app.screen("the chat") { $0.title == "Grace" && $0.documents.count >= 50 }
        return app
    }

    private func row(_ screen: Screen) -> Row? { screen.rows.first { $0.title == "Look!" } }

    /// Returns what Grace sees when it is as `isSought` says.
    private func grace(
        _ ground: PhoneGround, _ storage: String, _ photos: URL,
        where isSought: (OtherPhone.View) -> Bool
    ) async throws -> OtherPhone.View? {
        var project = ground.project
        project.storage = PhoneStorage(bucket: "bucket", address: storage)
        project.photos = photos.path
        for await view in GracePhone(project).views where isSought(view) { return view }
        return nil
    }

    @Test func `is shown without a network, survives the end of the app and arrives`() async throws
    {
        try await PhoneGround.playWithPhotos(.chats) { ground, storage, address, photos in
            let first = try await open(
                ChatsAfter.self, ground, isOnline: true, storage: address, photos: photos)
            await first.close()

            let second = try await open(
                ChatsAfter.self, ground, isOnline: false, storage: address, photos: photos)
            await second.tap("photo", "Look!")
            let shown = try await second.screen("the photo") { row($0)?.photo != nil }
            #expect(row(shown)?.isPending == true)
            #expect(shown.documents.last == row(shown)?.id)
            await second.close()

            let third = try await open(
                ChatsAfter.self, ground, isOnline: false, storage: address, photos: photos)
            let waiting = try await third.screen("the photo from disk") {
                row($0)?.photo != nil && row($0)?.trailing == "Sending 0 %"
            }
            #expect(row(waiting)?.photo == row(shown)?.photo)
            await third.close()
            #expect(try await storage.objects().isEmpty)

            let fourth = try await open(
                ChatsAfter.self, ground, isOnline: true, storage: address, photos: photos)
            _ = try await fourth.screen("a message that is sent") {
                row($0)?.isPending == false && row($0)?.photo != nil
            }
            await fourth.close()
            let seen = try #require(
                try await grace(ground, address, photos) { $0.photos == 1 })
            #expect(row(seen.screen)?.photo != nil && row(seen.screen)?.detail == "ada")
            #expect(try await storage.objects().count == 1)

            let other = try await open(
                ChatsAfter.self, ground, isOnline: true, storage: address, photos: photos)
            _ = try await other.screen("the photo from Storage") { row($0)?.photo != nil }
            await other.close()
        }
    }

    @Test func `is lost by the old app, which holds it in memory`() async throws {
        try await PhoneGround.playWithPhotos(.chats) { ground, storage, address, photos in
            let first = try await open(
                ChatsBefore.self, ground, isOnline: true, storage: address, photos: photos)
            await first.close()

            let second = try await open(
                ChatsBefore.self, ground, isOnline: false, storage: address, photos: photos)
            await second.tap("photo", "Look!")
            let shown = try await second.screen("the photo") { row($0)?.photo != nil }
            #expect(row(shown)?.isPending == true)
            await second.close()

            let third = try await open(
                ChatsBefore.self, ground, isOnline: true, storage: address, photos: photos)
            let view = try await grace(ground, address, photos) { _ in true }
            #expect(view?.photos == 0)
            #expect(try await storage.objects().isEmpty)
            await third.close()
        }
    }

    @Test func `arrives by the old app that nothing interrupts`() async throws {
        try await PhoneGround.playWithPhotos(.chats) { ground, storage, address, photos in
            let app = try await open(
                ChatsBefore.self, ground, isOnline: true, storage: address, photos: photos)
            await app.tap("photo", "Look!")
            _ = try await app.screen("the photo") {
                row($0)?.photo != nil && row($0)?.isPending == false
            }
            let seen = try #require(
                try await grace(ground, address, photos) { $0.photos == 1 })
            #expect(row(seen.screen)?.photo != nil)
            await app.close()
        }
    }
}
