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
import TidemarkObjects
import TidemarkRules
import TidemarkServer
import TidemarkTesting

@testable import ChatsCore

/// Messages with a photo, against the storage port of `tidemark serve` with the app's two files of
/// rules.
@MainActor @Suite(.timeLimit(.minutes(2))) struct `A photo in a chat` {
    /// Returns bytes that begin as a JPEG does.
    private static func photo(_ size: Int) -> Data {
        Data([0xFF, 0xD8, 0xFF, 0xE0])
            + Data((4..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
    }

    /// Serves the storage port beside a world.
    private func run(
        isRefused: Bool = false,
        _ body:
            @escaping @MainActor @Sendable (ChatsWorld, ObjectsServer, FileSettings) async throws ->
            Void
    ) async throws {
        try await ChatsWorld.run(isRefused: isRefused) { world in
            try await world.project.seed()
            let project = world.local.projectID
            let rules = StorageRules(
                world.local.server, project: project, errors: .explained, say: { _ in })
            let text = String(decoding: try exampleFile("Chats/storage.rules"), as: UTF8.self)
            rules.set(try Ruleset(text, service: .storage))
            let storage = try ObjectsServer(
                dataDirectory: nil, project: project, gate: nil, rules: rules)
            try await serve(storage) { address, _ in
                var settings = FileSettings(bucket: "bucket")
                settings.address = address
                try await body(world, storage, settings)
            }
            storage.close()
        }
    }

    private func app(_ world: ChatsWorld, _ firestore: Firestore, _ settings: FileSettings)
        -> ChatsApp
    {
        var app = ChatsApp(
            firestore, me: world.world.user.id, photos: AppPhotos(firestore, settings))
        app.now = { [local = world.local] in local.now }
        return app
    }

    /// The first process ends in the middle of the upload. The second one shows the photo before
    /// it has a network, and continues.
    @Test func `is shown at once, survives a kill and arrives with its message`() async throws {
        try await run { world, storage, settings in
            let bytes = Self.photo(12_000_000)
            let client = try world.client()
            let app = app(world, client, settings)
            let chat = try app.chat("grace")
            let upload = try #require(FileUpload.photo(bytes))
            await chat.send("Look!", photo: upload)
            #expect(chat.problem == nil)
            let message = try #require(
                (chat.messages.items.map(\.value) + chat.outgoing).first { $0.text == "Look!" })
            let id = try #require(message.id)
            guard case .onPhone(let copy) = await chat.photo(of: message) else {
                Issue.record("the photo is not shown")
                return
            }
            #expect(try Data(contentsOf: copy) == bytes)
            let outbox = try #require(app.photos?.outbox)
            await outbox.start()
            try await until("a part has arrived") {
                try await storage.openUploads(limit: 2).contains { $0.received > 0 }
            }
            await client.terminate()
            await outbox.stop()
            let cut = try #require(try await storage.openUploads(limit: 2).first)
            #expect(cut.received < bytes.count, "the upload was over before the kill")

            let second = try world.client()
            await second.disableNetwork()
            let next = self.app(world, second, settings)
            let again = try next.chat("grace")
            #expect(await again.photo(of: message) == .onPhone(copy))
            await second.enableNetwork()
            let sender = try #require(next.photos?.outbox)
            #expect(try await sender.waitingFiles().map(\.size) == [Int64(bytes.count)])
            let following = Task { await again.followUploads() }
            await sender.start()
            try await until("the photo is sent") { try await sender.waitingFiles().isEmpty }
            try await until("the list is empty") { again.uploads.isEmpty }
            following.cancel()

            let arrived = try await world.project.firestore
                .document("chats/grace/messages/\(id)")
                .getDocument(source: .server).data(as: ChatMessage.self)
            let photo = try #require(arrived.photo)
            #expect(photo.path.hasPrefix("chats/grace/messages/\(id)/"))
            #expect(photo.size == 12_000_000 && photo.type == "image/jpeg")
            let object = try await storage.bytes(
                of: ObjectPath(bucket: "bucket", name: photo.path), upTo: 16 << 20)
            #expect(Data(object.bytes) == bytes && object.object.uploader == "ada")
            #expect(try await storage.objects().count == 1)
            #expect(try await storage.openUploads(limit: 2).isEmpty, "one session was enough")
            // The message is acknowledged a moment after it is on the server.
            let photos = try #require(next.photos)
            try await until("the photo is in Storage") {
                await again.photo(of: arrived) == .inStorage(photos.object(photo.path))
            }
            #expect(photos.object(photo.path).absoluteString == "gs://bucket/" + photo.path)
            await sender.stop()
        }
    }

    @Test func `is refused for somebody who is not in the chat, and can be given up`() async throws
    {
        try await run(isRefused: true) { world, storage, settings in
            let app = app(world, try world.client(), settings)
            let outbox = try #require(app.photos?.outbox)
            await outbox.start()
            let chat = try app.chat("gone")
            let upload = try #require(FileUpload.photo(Self.photo(400)))
            await chat.send("", photo: upload)
            // The feed may show the message already.
            let message = try #require(chat.outgoing.first ?? chat.messages.items.first?.value)
            let following = Task { await chat.followUploads() }
            try await until("the photo is refused") {
                chat.upload(of: message)?.state == .failed(.refused(status: 403))
            }
            await chat.discard(try #require(chat.upload(of: message)))
            try await until("the message is gone") {
                chat.outgoing.isEmpty && chat.uploads.isEmpty
            }
            #expect(chat.problem == nil, "the user gave it up")
            #expect(try await storage.objects().isEmpty)
            following.cancel()
            await outbox.stop()
        }
    }

    @Test func `is a JPEG, PNG or WebP`() {
        #expect(FileUpload.photo(Self.photo(20))?.contentType == "image/jpeg")
        let webP = Data("RIFF\0\0\0\0WEBPVP8 ".utf8)
        #expect(FileUpload.photo(webP)?.contentType == "image/webp")
        #expect(FileUpload.photo(Data("GIF89a------".utf8)) == nil)
        #expect(FileUpload.photo(Data()) == nil)
    }
}
