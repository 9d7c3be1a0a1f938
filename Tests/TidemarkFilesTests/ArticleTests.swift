import Foundation
import Testing
import Tidemark
import TidemarkFiles
import TidemarkTesting

// These are the examples of the articles and the doc comments, line by line. The tidy tests compare
// them.

@Suite(.timeLimit(.minutes(2))) struct `The article on sending files` {
    @Test func `attaches a photo, shows it and lists what waits`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let folder = try TemporaryFolder()
        let photo = try folder.write("photo.jpg", size: 1_000)

        let files = FileOutbox(firestore, FileSettings(bucket: "my-project.firebasestorage.app"))

        let message = firestore.collection("chats/blue/messages").document()
        let receipt = try await message.enqueueSetData([
            "text": "Look!", "photo": FileUpload(photo, contentType: "image/jpeg"),
        ])
        #expect(receipt.batch == 1)

        var shown: [URL] = []
        func show(_ copy: URL) { shown.append(copy) }
        if let copy = try await message.file("photo") { show(copy) }
        #expect(try shown.map { try Data(contentsOf: $0) } == [Data(contentsOf: photo)])

        let waiting = try await files.waitingFiles()
        #expect(waiting.map(\.document.text) == [message.path])
        #expect(waiting.map(\.state) == [.waiting])

        let path = (isExpensive: true, isConstrained: false)
        files.setNetwork(isExpensive: path.isExpensive, isConstrained: path.isConstrained)
        #expect(try await files.waitingFiles().map(\.state) == [.waiting], "it has no rules")

        let film = FileUpload(photo, policy: .documentFirst(changeTime: "updatedAt"))
        #expect(film.contentType == "image/jpeg")
        let deletion = try await message.enqueueDelete(withFiles: ["photo"])
        #expect(deletion.batch > receipt.batch)
        await local.stop()
    }

    @Test func `hands files to a session of the system`() throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        var settings = FileSettings(bucket: "my-project.firebasestorage.app")
        settings.backgroundSession = "com.example.app.files"
        let files = FileOutbox(firestore, settings)
        let identifier = "com.example.app.other"
        let completion: @Sendable () -> Void = {}
        files.handleEvents(ofBackgroundSession: identifier, completion: completion)
        #expect(!files.handleEvents(ofBackgroundSession: identifier, completion: completion))
    }

    @Test func `names the networks on which a film is not sent`() throws {
        let photo = URL(fileURLWithPath: "film.mov")
        let film = FileUpload(photo, networks: [.wifiOnly, .notOnLowData])
        #expect(film.networks.contains(.wifiOnly) && film.contentType == "video/quicktime")
    }

    @Test func `attaches a file to a batch`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let folder = try TemporaryFolder()
        let photo = try folder.write("photo.jpg", size: 1_000)
        let files = FileOutbox(firestore, FileSettings(bucket: "my-project.firebasestorage.app"))
        let message = firestore.document("chats/blue")

        let batch = firestore.batch()
        batch.updateData(["text": "Look at this!"], forDocument: message)
        batch.attach(FileUpload(photo, folder: "chats/blue"), to: message, field: "photo")
        let receipt = try await batch.enqueue()
        #expect(receipt != nil)

        let waiting = try await files.waitingFiles()
        #expect(waiting.count == 1)
        #expect(waiting.first?.objectName.hasPrefix("chats/blue/") == true)
        await local.stop()
    }

    /// Compiled and not run: the client would call Google's service.
    private func read(_ firestore: Firestore) async throws -> Data {
        let storage = Storage(firestore, FileSettings(bucket: "my-project.firebasestorage.app"))
        let face = try await storage.reference(withPath: "faces/kim.jpg").data(maxSize: 1 << 20)
        return face
    }

    /// Compiled and not run: the outbox would call Google's service.
    private func start(_ firestore: Firestore) async {
        let files = FileOutbox(firestore, FileSettings(bucket: "my-project.firebasestorage.app"))
        await files.start()

        for await waiting in await files.updates() {
            for file in waiting { print(file.document, file.sent, "of", file.size, file.state) }
        }
    }
}
