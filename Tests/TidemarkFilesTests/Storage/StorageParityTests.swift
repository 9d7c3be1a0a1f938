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

/// Every member of FirebaseStorage's Swift API that the parity table lists, in its Swift spelling,
/// against the storage port of `tidemark serve`.
@Suite(.timeLimit(.minutes(2))) struct `Parity with FirebaseStorage` {
    private func play(
        _ body: @escaping @Sendable (Storage, ObjectsServer) async throws -> Void
    ) async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let server = try ObjectsServer(dataDirectory: nil, project: local.projectID, gate: nil)
        try await serve(server) { address, _ in
            var settings = FileSettings(bucket: "bucket")
            settings.address = address
            try await body(Storage(firestore, settings), server)
        }
        server.close()
        await local.stop()
    }

    @Test func `references come from paths and addresses`() async throws {
        try await play { storage, _ in
            let reference = storage.reference(withPath: "a/b c.png")
            let gs = try #require(URL(string: "gs://bucket/a/b%20c.png"))
            #expect(try storage.reference(for: gs) == reference)
            try await reference.putDataAsync(Data([1]))
            let url = try await reference.downloadURL()
            #expect(try storage.reference(for: url) == reference)
            for bad in ["gs://other/a", "ftp://bucket/a", "https://host/v0/b/bucket/x/a"] {
                let url = try #require(URL(string: bad))
                #expect(throws: StorageError.self) { try storage.reference(for: url) }
            }
            storage.maxUploadRetryTime = 30
            storage.maxOperationRetryTime = 20
            #expect(storage.maxUploadRetryTime == 30 && storage.maxOperationRetryTime == 20)
        }
    }

    @Test func `metadata is set, read, changed and removed`() async throws {
        try await play { storage, _ in
            let reference = storage.reference(withPath: "a/b.png")
            var new = StorageMetadata()
            new.contentType = "image/png"
            new.cacheControl = "private, max-age=60"
            new.contentDisposition = "attachment"
            new.contentLanguage = "de"
            new.customMetadata = ["by": "ann", "at": "sea"]
            var metadata = try await reference.putDataAsync(Data([1, 2, 3]), metadata: new)
            #expect(metadata.contentType == "image/png")
            #expect(metadata.cacheControl == "private, max-age=60")
            #expect(metadata.contentDisposition == "attachment")
            #expect(metadata.contentLanguage == "de")
            #expect(metadata.customMetadata == ["by": "ann", "at": "sea"])
            #expect(metadata.bucket == "bucket" && metadata.path == "a/b.png")
            #expect(metadata.name == "b.png" && metadata.size == 3)
            #expect(metadata.generation > 0 && metadata.metageneration == 1)
            #expect(metadata.timeCreated != nil && metadata.updated != nil)
            metadata.contentLanguage = nil
            metadata.customMetadata = ["by": "bob"]
            let changed = try await reference.updateMetadata(metadata)
            #expect(changed.contentLanguage == nil && changed.contentType == "image/png")
            #expect(changed.customMetadata == ["by": "bob"] && changed.metageneration == 2)
            #expect(try await reference.getMetadata() == changed)
        }
    }

    @Test func `a download to a file is whole, and a failed one leaves nothing`() async throws {
        try await play { storage, _ in
            let folder = try TemporaryFolder()
            let bytes = TemporaryFolder.bytes(1_500_000, seed: 6)
            let reference = storage.reference(withPath: "film.mov")
            try await reference.putDataAsync(bytes)
            let file = folder.url.appendingPathComponent("film.mov")
            let steps = Mutex<[Int64]>([])
            let written = try await reference.writeAsync(toFile: file) { progress in
                steps.withLock { $0.append(progress?.completedUnitCount ?? -1) }
            }
            #expect(written == file)
            #expect(try Data(contentsOf: file) == bytes)
            let seen = steps.withLock { $0 }
            #expect(seen == seen.sorted() && seen.last == 1_500_000)
            let other = folder.url.appendingPathComponent("none")
            await #expect(throws: StorageError.self) {
                try await storage.reference(withPath: "none").writeAsync(toFile: other)
            }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
                    == ["film.mov"])
        }
    }

    // MARK: Completions and tasks

    /// Waits for the one call of a completion.
    private func called<Value: Sendable>(
        _ body: (@escaping (Value?, (any Error)?) -> Void) -> Void
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            body { value, error in
                if let value {
                    continuation.resume(returning: value)
                } else {
                    continuation.resume(throwing: error ?? StorageError.cancelled)
                }
            }
        }
    }

    private func result<Value: Sendable>(
        _ body: (@escaping (Result<Value, any Error>) -> Void) -> Void
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            body { continuation.resume(with: $0) }
        }
    }

    @Test func `calls with completions, in both forms`() async throws {
        try await play { storage, _ in
            let reference = storage.reference(withPath: "a/1")
            let first: StorageMetadata = try await called { done in
                reference.putData(Data([1, 2]), metadata: nil) { done($0, $1) }
            }
            #expect(first.size == 2)
            let second: StorageMetadata = try await result { done in
                storage.reference(withPath: "a/2").putData(Data([3])) { done($0) }
            }
            #expect(second.size == 1)
            #expect(
                try await called { reference.getData(maxSize: 9, completion: $0) } == Data([1, 2]))
            #expect(
                try await result { reference.getData(maxSize: 9, completion: $0) } == Data([1, 2]))
            let read: StorageMetadata = try await called { reference.getMetadata(completion: $0) }
            #expect(read == first)
            let again: StorageMetadata = try await result { done in
                reference.updateMetadata(read) { done($0) }
            }
            #expect(again.size == 2)
            let url: URL = try await called { reference.downloadURL(completion: $0) }
            #expect(url.query?.contains("token=") == true)
            let folder = storage.reference(withPath: "a")
            let all: StorageListResult = try await called { folder.listAll(completion: $0) }
            #expect(all.items.map(\.name) == ["1", "2"])
            let page: StorageListResult = try await result { done in
                folder.list(maxResults: 1) { done($0) }
            }
            let token = try #require(page.pageToken)
            let next: StorageListResult = try await called { done in
                folder.list(maxResults: 1, pageToken: token) { done($0, $1) }
            }
            #expect(next.items.map(\.name) == ["2"])
            let error: (any Error)? = await withCheckedContinuation { continuation in
                reference.delete { continuation.resume(returning: $0) }
            }
            #expect(error == nil)
            await #expect {
                let _: Data = try await result { reference.getData(maxSize: 9, completion: $0) }
            } throws: {
                if case StorageError.objectNotFound = $0 { true } else { false }
            }
        }
    }

    @Test func `observers see an upload, also late ones`() async throws {
        try await play { storage, _ in
            let folder = try TemporaryFolder()
            let file = try folder.write("film.mov", size: 3_000_000)
            let reference = storage.reference(withPath: "film.mov")
            let task = reference.putFile(from: file)
            let steps = Mutex<[Int64]>([])
            task.observe(.progress) { snapshot in
                steps.withLock { $0.append(snapshot.progress?.completedUnitCount ?? -1) }
            }
            let removed = task.observe(.success) { _ in Issue.record("was removed") }
            task.removeObserver(withHandle: removed)
            let end: StorageMetadata = try await withCheckedThrowingContinuation { continuation in
                task.observe(.success) { continuation.resume(returning: $0.metadata!) }
            }
            #expect(end.size == 3_000_000 && end.contentType == "video/quicktime")
            #expect(steps.withLock { $0.last } == 3_000_000)
            #expect(task.snapshot.status == .success)
            let late: StorageTaskStatus = await withCheckedContinuation { continuation in
                task.observe(.success) { continuation.resume(returning: $0.status) }
            }
            #expect(late == .success)
        }
    }

    @Test func `a paused upload continues in its session, and a cancelled one ends it`()
        async throws
    {
        try await play { storage, server in
            let folder = try TemporaryFolder()
            let file = try folder.write("film.mov", size: 20_000_000)
            let task = storage.reference(withPath: "film.mov").putFile(from: file)
            try await until {
                try await server.openUploads(limit: 9).contains { $0.received > 0 }
            }
            task.pause()
            #expect(task.snapshot.status == .pause)
            #expect(try await server.openUploads(limit: 9).count == 1)
            task.resume()
            let end: StorageMetadata = try await withCheckedThrowingContinuation { continuation in
                task.observe(.success) { continuation.resume(returning: $0.metadata!) }
                task.observe(.failure) { continuation.resume(throwing: $0.error!) }
            }
            #expect(end.size == 20_000_000)
            #expect(try await server.openUploads(limit: 9).isEmpty, "one session was enough")

            let second = storage.reference(withPath: "other.mov").putFile(from: file)
            try await until {
                try await server.openUploads(limit: 9).contains { $0.received > 0 }
            }
            second.cancel()
            let error: (any Error)? = await withCheckedContinuation { continuation in
                second.observe(.failure) { continuation.resume(returning: $0.error) }
            }
            #expect(error as? StorageError == .cancelled)
            try await until { try await server.openUploads(limit: 9).isEmpty }
            #expect(try await server.objects().map(\.path.name) == ["film.mov"])
        }
    }
}
