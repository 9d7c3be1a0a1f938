import Foundation
import HTTPTesting
import Synchronization
import TestSupport
import Testing
import Tidemark
import TidemarkHTTP
import TidemarkObjects
import TidemarkTesting

@testable import TidemarkFiles

/// The outbox with a session that sends chunks from files, against the storage port. On Linux, the
/// chunks of such a session end with the process.
@Suite(.timeLimit(.minutes(3))) struct `A session of the system` {
    private static let photo = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    private func phone(_ place: ServedStorageTests.Place) throws -> Phone {
        try Phone(
            place.local, folder: place.folder, address: place.address, background: "app.files")
    }

    private func chunkFiles(_ phone: Phone) async throws -> [String] {
        let folder = await phone.outbox.base + "/chunks"
        return (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    @Test func `sends files, and leaves no chunk behind`() async throws {
        try await ServedStorageTests().play { place, _ in
            let phone = try phone(place)
            await phone.outbox.start()
            _ = try await phone.send(
                FileUpload(data: Self.photo, contentType: "image/jpeg"), with: "m1")
            _ = try await phone.send(
                FileUpload(data: Data(), contentType: "image/jpeg"), with: "m2")
            try await phone.sendAll()
            try await place.expect("m1", Self.photo)
            try await place.expect("m2", Data())
            #expect(try await chunkFiles(phone) == [])
            await phone.kill()
        }
    }

    @Test func `continues after a kill`() async throws {
        try await ServedStorageTests().play { place, _ in
            let first = try phone(place)
            await first.outbox.start()
            _ = try await first.send(
                FileUpload(data: Self.photo, contentType: "image/jpeg"), with: "m1")
            try await until("a part has arrived") {
                try await place.storage.openUploads(limit: 2).contains { $0.received > 0 }
            }
            await first.kill()
            let second = try phone(place)
            await second.outbox.start()
            try await second.sendAll()
            try await place.expect("m1", Self.photo)
            #expect(try await place.storage.objects().count == 1)
            #expect(try await chunkFiles(second) == [])
            await second.kill()
        }
    }

    @Test func `answers the system when the next chunk has started`() async throws {
        try await ServedStorageTests().play { place, _ in
            let phone = try phone(place)
            let isAnswered = Mutex(false)
            #expect(!phone.outbox.handleEvents(ofBackgroundSession: "other") {})
            #expect(
                phone.outbox.handleEvents(ofBackgroundSession: "app.files") {
                    isAnswered.withLock { $0 = true }
                })
            // The system calls before the outbox knows its chunks.
            phone.outbox.background?.delivered()
            await phone.outbox.start()
            _ = try await phone.send(
                FileUpload(data: Self.photo, contentType: "image/jpeg"), with: "m1")
            try await until("the system is answered") { isAnswered.withLock { $0 } }
            try await phone.sendAll()
            await phone.kill()
        }
    }
}
