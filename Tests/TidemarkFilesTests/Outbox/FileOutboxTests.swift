import Foundation
import Synchronization
import TestSupport
import Testing
import Tidemark
import TidemarkTesting

@testable import TidemarkFiles

/// Files and documents, from the attachment to the server, over HTTP on this machine.
@Suite(.timeLimit(.minutes(2))) struct FileOutboxTests {
    private struct Place {
        let local: LocalFirestore
        /// Another device, which sees what the server has.
        let reader: Firestore
        let storage: V0Storage
        let folder: TemporaryFolder
        let address: String

        func phone(small: Int64 = 1 << 20, tokens: (any TokenProvider)? = nil) throws -> Phone {
            try Phone(local, folder: folder, address: address, small: small, tokens: tokens)
        }

        /// Returns the path in a document's field on the server; nil if there is none.
        func path(of id: String) async throws -> String? {
            let document = try await reader.document("messages/\(id)").getDocument(source: .server)
            return (document.get("photo") as? [String: Any])?["path"] as? String
        }

        /// Fails unless the document names an object with these bytes.
        func expect(_ id: String, _ bytes: Data) async throws {
            let path = try #require(try await path(of: id))
            #expect(storage.objects["bucket/" + path]?.bytes == bytes)
        }
    }

    private func play(_ body: @escaping @Sendable (Place) async throws -> Void) async throws {
        let storage = V0Storage()
        let folder = try TemporaryFolder()
        try await storage.serve { address in
            let local = try LocalFirestore.start()
            try await body(
                Place(
                    local: local, reader: try local.firestore(), storage: storage,
                    folder: folder, address: address))
            await local.stop()
        }
    }

    @Test func `a photo arrives, then its document, then the copy goes`() async throws {
        try await play { place in
            let phone = try place.phone()
            let photo = try place.folder.write("photo.jpg", size: 700_000)
            let receipt = try await phone.send(FileUpload(photo, folder: "chats/a"), with: "1")
            try FileManager.default.removeItem(at: photo)
            let message = phone.firestore.document("messages/1")
            let copy = try #require(try await message.file("photo"))
            let bytes = TemporaryFolder.bytes(700_000, seed: 1)
            #expect(try Data(contentsOf: copy) == bytes)
            #expect(place.storage.requests.isEmpty, "nothing is sent before the start")
            await phone.outbox.start()
            try await receipt.acknowledged()
            try await place.expect("1", bytes)
            let name = try #require(try await place.path(of: "1"))
            #expect(name.hasPrefix("chats/a/") && name.hasSuffix(".jpg"))
            #expect(place.storage.objects["bucket/" + name]?.contentType == "image/jpeg")
            try await until { try await message.file("photo") == nil }
            try await until { try await phone.outbox.waitingFiles().isEmpty }
            #expect(place.storage.bytesReceived == 700_000)
            await phone.kill()
        }
    }

    @Test(arguments: [0, 1, 262_143, 262_144, 262_145, 3_000_000])
    func `every size arrives whole`(size: Int) async throws {
        try await play { place in
            let phone = try place.phone()
            await phone.outbox.start()
            let file = try place.folder.write("file.bin", size: size)
            let receipt = try await phone.send(FileUpload(file, folder: ""), with: "1")
            try await receipt.acknowledged()
            try await place.expect("1", TemporaryFolder.bytes(size, seed: 1))
            await phone.kill()
        }
    }

    @Test func `an upload continues in the next process`() async throws {
        try await play { place in
            let size = 2_000_000
            let file = try place.folder.write("file.bin", size: size)
            // The first process sends two chunks and no more.
            place.storage.setFault { request, _ in
                request.command == "upload" || request.command == "start" ? nil : .before(503)
            }
            let first = try place.phone()
            _ = try await first.send(FileUpload(file, folder: "f"), with: "1")
            await first.outbox.start()
            try await until { place.storage.requests.contains { $0.command == "upload, finalize" } }
            await first.kill()
            place.storage.setFault(nil)
            let before = place.storage.bytesReceived
            let second = try place.phone()
            let shown = try await second.outbox.waitingFiles()
            #expect(shown.count == 1 && shown[0].sent > 0, "progress is known before a request")
            await second.outbox.start()
            try await until { try await place.path(of: "1") != nil }
            try await place.expect("1", TemporaryFolder.bytes(size, seed: 1))
            #expect(place.storage.bytesReceived - before <= size - Int(shown[0].sent))
            await second.kill()
        }
    }

    /// Faults at random requests, and kills at random moments. The seed is in the message.
    @Test(arguments: 0..<12)
    func `nothing is lost, doubled or spliced`(seed: UInt64) async throws {
        try await play { place in
            let dice = Mutex(ModelDice(seed))
            let sizes = [0, 300, 262_144, 900_000, 2_500_000]
            place.storage.setFault { _, number in
                dice.withLock { dice in
                    guard number < 120, dice.happens(0.3) else { return nil }
                    return dice.pick([.before(503), .after, .after, .sessionLost, .before(408)])
                }
            }
            for (index, size) in sizes.enumerated() {
                let phone = try place.phone(small: 300_000)
                await phone.outbox.start()
                let file = try place.folder.write("f", size: size, seed: UInt64(index))
                _ = try await phone.send(FileUpload(file, folder: "f"), with: "\(index)")
                let seen = place.storage.requests.count
                let wait = dice.withLock { $0.below(12) }
                try await until {
                    let isIdle = try await phone.outbox.waitingFiles().isEmpty
                    return isIdle || place.storage.requests.count >= seen + wait
                }
                await phone.kill()
            }
            let last = try place.phone(small: 300_000)
            await last.outbox.start()
            try await until("all files are sent, seed \(seed)") {
                try await last.outbox.waitingFiles().isEmpty
            }
            for (index, size) in sizes.enumerated() {
                try await place.expect(
                    "\(index)", TemporaryFolder.bytes(size, seed: UInt64(index)))
            }
            #expect(place.storage.objects.count == sizes.count, "no object is doubled")
            await last.kill()
        }
    }

    @Test func `a refusal is shown, and can be retried`() async throws {
        try await play { place in
            place.storage.setFault { request, _ in request.command == nil ? nil : .before(403) }
            let phone = try place.phone()
            await phone.outbox.start()
            let receipt = try await phone.send(
                FileUpload(data: Data([1, 2, 3]), folder: "f", contentType: "image/png"), with: "1")
            try await until {
                try await phone.outbox.waitingFiles().first?.state == .failed(.refused(status: 403))
            }
            #expect(try await place.path(of: "1") == nil)
            place.storage.setFault(nil)
            let file = try #require(try await phone.outbox.waitingFilesByDocument().values.first)
            try await phone.outbox.retry(file[0].id)
            try await receipt.acknowledged()
            try await place.expect("1", Data([1, 2, 3]))
            await phone.kill()
        }
    }

    @Test func `a refusal can be discarded, and the writer is told`() async throws {
        try await play { place in
            place.storage.setFault { request, _ in request.command == nil ? nil : .before(403) }
            let phone = try place.phone()
            await phone.outbox.start()
            let receipt = try await phone.send(
                FileUpload(data: Data([1]), folder: "f", contentType: "image/png"), with: "1")
            try await until {
                try await phone.outbox.waitingFiles().first?.state == .failed(.refused(status: 403))
            }
            try await phone.outbox.discard(try await phone.outbox.waitingFiles()[0].id)
            await #expect(throws: FirestoreError.self) { try await receipt.acknowledged() }
            try await until { try await phone.outbox.waitingFiles().isEmpty }
            #expect(try await phone.firestore.pendingWrites().isEmpty)
            await phone.kill()
        }
    }

    @Test func `a document that is refused takes its object with it`() async throws {
        try await play { place in
            let phone = try place.phone()
            await phone.outbox.start()
            let batch = phone.firestore.batch()
            let missing = phone.firestore.document("messages/none")
            batch.updateData(["text": "new"], forDocument: missing)
            batch.attach(
                FileUpload(data: Data([1]), folder: "f", contentType: "image/png"), to: missing,
                field: "photo")
            let receipt = try #require(try await batch.enqueue())
            await #expect(throws: FirestoreError.self) { try await receipt.acknowledged() }
            #expect(place.storage.state.withLock { $0.completions.count } == 1)
            try await until { place.storage.objects.isEmpty }
            #expect(try await phone.outbox.waitingFiles().map(\.state) == [.documentRefused])
            let refused = try #require(try await phone.firestore.rejectedWrites().first)
            try await phone.firestore.discardRejectedWrite(refused.batch)
            try await until { try await phone.outbox.waitingFiles().isEmpty }
            await phone.kill()
        }
    }

    @Test func `a file that cannot be copied fails its write alone`() async throws {
        try await play { place in
            let phone = try place.phone()
            let none = place.folder.url.appendingPathComponent("none.jpg")
            await #expect(throws: FileProblem.missing.firestoreError) {
                try await phone.send(FileUpload(none, folder: "f"), with: "1")
            }
            await #expect(throws: FileProblem.isFolder.firestoreError) {
                try await phone.send(FileUpload(place.folder.url, folder: "f"), with: "1")
            }
            await #expect(throws: FileProblem.invalidName.firestoreError) {
                try await phone.send(
                    FileUpload(data: Data(), folder: "a//b", contentType: "x"), with: "1")
            }
            #expect(try await phone.firestore.pendingWrites().isEmpty)
            await phone.outbox.start()
            let receipt = try await phone.send(
                FileUpload(data: Data([7]), folder: "a+b %#?é", contentType: "image/png"),
                with: "2")
            try await receipt.acknowledged()
            try await place.expect("2", Data([7]))
            await phone.kill()
        }
    }

    @Test func `a changed copy is reported and never sent`() async throws {
        try await play { place in
            let phone = try place.phone()
            let file = try place.folder.write("a.jpg", size: 500)
            _ = try await phone.send(FileUpload(file, folder: "f"), with: "1")
            let copy = try #require(try await phone.firestore.document("messages/1").file("photo"))
            try TemporaryFolder.bytes(500, seed: 2).write(to: copy)
            await phone.outbox.start()
            try await until {
                try await phone.outbox.waitingFiles().first?.state == .failed(.copyChanged)
            }
            #expect(place.storage.objects.isEmpty)
            await phone.kill()
        }
    }

    /// Passes tokens of one user.
    private struct Tokens: TokenProvider {
        let token: String

        func token(
            replacing refused: String?,
            receive: @escaping @Sendable (Result<String?, RPCStatus>) -> Void
        ) { receive(.success(token)) }
    }

    @Test func `every request of an upload has the user's token`() async throws {
        try await play { place in
            let phone = try place.phone(tokens: Tokens(token: "T"))
            await phone.outbox.start()
            let receipt = try await phone.send(
                FileUpload(data: Data([1]), folder: "f", contentType: "image/png"), with: "1")
            try await receipt.acknowledged()
            #expect(place.storage.requests.count == 2)
            #expect(place.storage.requests.allSatisfy { $0.authorization == "Firebase T" })
            await phone.kill()
        }
    }

    @Test func `copies of a cache that was reset stay until they are purged`() async throws {
        try await play { place in
            let first = try place.phone()
            let file = try place.folder.write("a.jpg", size: 500)
            _ = try await first.send(FileUpload(file, folder: "f"), with: "1")
            let copy = try #require(try await first.firestore.document("messages/1").file("photo"))
            await first.kill()
            try await first.firestore.clearPersistence()
            let second = try place.phone()
            await second.outbox.start()
            let receipt = try await second.send(
                FileUpload(data: Data([1]), folder: "f", contentType: "image/png"), with: "2")
            try await receipt.acknowledged()
            #expect(FileManager.default.fileExists(atPath: copy.path))
            // The outbox removes its own copy a moment after the acknowledgement.
            let copies = copy.deletingLastPathComponent().path
            try await until {
                try FileManager.default.contentsOfDirectory(atPath: copies).count == 1
            }
            #expect(try await second.outbox.purgeUnknownCopies() == 1)
            #expect(!FileManager.default.fileExists(atPath: copy.path))
            await second.kill()
        }
    }

    @Test func `copies of a user who has left are deleted by name alone`() async throws {
        try await play { place in
            let phone = try place.phone()
            try await phone.firestore.changeUser(to: "ann")
            _ = try await phone.send(
                FileUpload(data: Data([1]), folder: "f", contentType: "image/png"), with: "1")
            let file = try await phone.firestore.document("messages/1").file("photo")
            let copy = try #require(file)
            await #expect(throws: FirestoreError.self) {
                try await phone.outbox.purgeCopies(ofUser: "ann")
            }
            try await phone.firestore.changeUser(to: "bob")
            try await phone.outbox.purgeCopies(ofUser: "eve")
            #expect(FileManager.default.fileExists(atPath: copy.path))
            try await phone.outbox.purgeCopies(ofUser: "ann")
            #expect(!FileManager.default.fileExists(atPath: copy.path))
            // The write is still there, and says what is missing.
            try await phone.firestore.changeUser(to: "ann")
            await phone.outbox.start()
            try await until {
                try await phone.outbox.waitingFiles().first?.state == .failed(.copyMissing)
            }
            await phone.kill()
        }
    }

    @Test func `a batch needs an outbox`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let batch = firestore.batch()
        batch.attach(
            FileUpload(data: Data(), folder: "f", contentType: "x"),
            to: firestore.document("a/b"), field: "c")
        await #expect(throws: FileOutbox.missing) { try await batch.enqueue() }
        await local.stop()
    }
}
