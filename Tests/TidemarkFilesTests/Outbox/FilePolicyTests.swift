import Foundation
import HTTPTesting
import TestSupport
import Testing
import Tidemark
import TidemarkHTTP
import TidemarkObjects
import TidemarkTesting

@testable import TidemarkFiles

/// Documents that are sent before their files, and documents that are deleted with them.
extension ServedStorageTests {
    private func field(_ place: Place, _ id: String) async throws -> ArrivingFile? {
        struct Message: Codable { var photo: ArrivingFile? }
        let reader = try place.local.firestore()
        let document = try await reader.document("messages/\(id)").getDocument(source: .server)
        await reader.terminate()
        return try document.data(as: Message.self).photo
    }

    private func changeTime(_ place: Place, _ id: String) async throws -> Timestamp? {
        let reader = try place.local.firestore()
        let document = try await reader.document("messages/\(id)").getDocument(source: .server)
        await reader.terminate()
        return document.get("updatedAt") as? Timestamp
    }

    /// The first process ends when the document is acknowledged, before a byte of the file is sent.
    @Test func `a document that is sent first says that its file is pending`() async throws {
        try await play { place, _ in
            let bytes = TemporaryFolder.bytes(3_000_000, seed: 5)
            let first = try place.phone()
            let message = first.firestore.document("messages/1")
            let photo = FileUpload(
                data: bytes, contentType: "image/png",
                policy: .documentFirst(changeTime: "updatedAt"))
            let receipt = try await message.enqueueSetData([
                "photo": photo, "updatedAt": FieldValue.serverTimestamp(),
            ])
            #expect(try await message.file("photo") != nil)
            try await receipt.acknowledged()
            #expect(
                try await field(place, "1") == .pending(size: 3_000_000, type: "image/png"))
            // The phone that sends the file already shows the end.
            let own = try await message.getDocument(source: .cache)
            #expect((own.get("photo") as? [String: Any])?["path"] is String)
            let before = try #require(try await changeTime(place, "1"))
            #expect(try await first.outbox.waitingFiles().map(\.state) == [.waiting])
            await first.kill()

            place.local.advance(by: .seconds(60))
            let second = try place.phone()
            #expect(try await second.firestore.document("messages/1").file("photo") != nil)
            await second.outbox.start()
            try await second.sendAll()
            try await place.expect("1", bytes)
            guard case .stored(let stored)? = try await field(place, "1") else {
                Issue.record("the field is not complete")
                return
            }
            #expect(stored.size == 3_000_000 && stored.hash.count == 64)
            let after = try #require(try await changeTime(place, "1"))
            #expect(before < after, "feeds see the second write")
            await second.kill()
        }
    }

    @Test func `a document that is sent first and refused sends no byte of its file`() async throws
    {
        try await play { place, _ in
            let phone = try place.phone()
            await phone.outbox.start()
            let photo = FileUpload(
                data: Data([1, 2]), contentType: "image/png", policy: .documentFirst)
            let receipt = try await phone.firestore.document("messages/none")
                .enqueueUpdateData(["photo": photo])
            await #expect {
                try await receipt.acknowledged()
            } throws: {
                ($0 as? FirestoreError)?.code == .notFound
            }
            #expect(try await phone.outbox.waitingFiles().map(\.state) == [.documentRefused])
            #expect(try await phone.firestore.pendingWrites().isEmpty)
            #expect(try await place.storage.objects().isEmpty)
            // The document exists now, so the write can be repeated. It is sent first again.
            try await phone.firestore.document("messages/none").setData(["text": "Look!"])
            let refused = try #require(try await phone.firestore.rejectedWrites().first)
            try await phone.firestore.retryRejectedWrite(refused.batch).acknowledged()
            try await phone.sendAll()
            try await place.expect("none", Data([1, 2]))
            #expect(try await place.storage.objects().count == 1)
            await phone.kill()
        }
    }

    @Test func `a file that is given up leaves a document that was sent first, without the field`()
        async throws
    {
        try await play { place, _ in
            let phone = try place.phone()
            let message = phone.firestore.document("messages/1")
            let photo = FileUpload(
                data: Data([1, 2]), contentType: "image/png", policy: .documentFirst)
            await phone.firestore.disableNetwork()
            let receipt = try await message.enqueueSetData(["text": "Look!", "photo": photo])
            let waiting = try #require(try await phone.outbox.waitingFiles().first)
            #expect(waiting.state == .waitingForDocument)
            await #expect {
                try await phone.outbox.discard(waiting.id)
            } throws: {
                ($0 as? FirestoreError)?.code == .failedPrecondition
            }
            await phone.firestore.enableNetwork()
            try await receipt.acknowledged()
            try await phone.outbox.discard(waiting.id)
            await phone.outbox.start()
            try await phone.sendAll()
            try await phone.firestore.waitForPendingWrites()
            let reader = try place.local.firestore()
            let left = try await reader.document("messages/1").getDocument(source: .server)
            #expect(left.get("text") as? String == "Look!" && left.get("photo") == nil)
            #expect(try await place.storage.objects().isEmpty)
            await phone.kill()
        }
    }

    /// The first process ends after the deletion is journalled, before it is sent.
    @Test func `a document is deleted with its file, after a kill too`() async throws {
        try await play { place, _ in
            let first = try place.phone()
            await first.outbox.start()
            for id in ["1", "2"] {
                let photo = FileUpload(data: Data([1, 2]), contentType: "image/png")
                try await first.send(photo, with: id).acknowledged()
            }
            #expect(try await place.storage.objects().count == 2)
            await first.firestore.disableNetwork()
            _ = try await first.firestore.document("messages/1")
                .enqueueDelete(withFiles: ["photo", "film"])
            await first.kill()
            #expect(try await place.storage.objects().count == 2, "the document is there")

            let second = try place.phone()
            await second.outbox.start()
            try await second.firestore.waitForPendingWrites()
            try await until { try await place.storage.objects().count == 1 }
            try await place.expect("2", Data([1, 2]))
            await #expect {
                try await second.firestore.document("messages/unknown")
                    .enqueueDelete(withFiles: ["photo"])
            } throws: {
                ($0 as? FirestoreError)?.code == .failedPrecondition
            }
            await second.kill()
        }
    }

    /// The file's write waits behind nothing, and the deletion waits behind it.
    @Test func `a document is deleted while its file is on the way`() async throws {
        try await play { place, _ in
            let phone = try place.phone()
            let photo = FileUpload(data: Data([1, 2]), contentType: "image/png")
            let sent = try await phone.send(photo, with: "1")
            let gone = try await phone.firestore.document("messages/1")
                .enqueueDelete(withFiles: ["photo"])
            await phone.outbox.start()
            try await sent.acknowledged()
            try await gone.acknowledged()
            try await until { try await place.storage.objects().isEmpty }
            try await phone.sendAll()
            await phone.kill()
        }
    }
}
