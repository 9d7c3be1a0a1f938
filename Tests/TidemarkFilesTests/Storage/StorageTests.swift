import Foundation
import Testing
import Tidemark

@testable import TidemarkFiles

/// The API in the shape of FirebaseStorage's, over HTTP on this machine.
@Suite(.timeLimit(.minutes(2))) struct StorageTests {
    private func play(
        _ body: @escaping @Sendable (Storage, V0Storage, String) async throws -> Void
    ) async throws {
        let server = V0Storage()
        try await server.serve { address in
            var settings = FileSettings(bucket: "bucket")
            settings.address = address
            let environment = FileEnvironment(clock: InstantClock(), now: { 1_790_000_000 })
            try await body(
                Storage(settings, user: nil, appCheck: nil, environment: environment), server,
                address)
        }
    }

    @Test func `references name objects as FirebaseStorage's do`() async throws {
        try await play { storage, _, _ in
            let reference = storage.reference(withPath: "/a//b/c.png/")
            #expect(reference.fullPath == "a/b/c.png" && reference.name == "c.png")
            #expect(reference.parent()?.fullPath == "a/b")
            #expect(reference.root().parent() == nil)
            #expect(reference.root() == storage.reference())
            #expect(storage.reference().child("a").child("b/c.png") == reference)
            #expect(reference.description == "gs://bucket/a/b/c.png")
        }
    }

    @Test func `bytes and files come back`() async throws {
        try await play { storage, server, address in
            let reference = storage.reference(withPath: "a/b +%.bin")
            let bytes = TemporaryFolder.bytes(600_000, seed: 3)
            var metadata = StorageMetadata()
            metadata.contentType = "image/png"
            let answer = try await reference.putDataAsync(bytes, metadata: metadata)
            #expect(answer.size == 600_000 && answer.md5Hash == MD5.base64(bytes))
            #expect(answer.contentType == "image/png" && answer.generation == 7)
            #expect(answer.timeCreated == Date(timeIntervalSince1970: 1_795_860_000.25))
            #expect(try await reference.data(maxSize: 600_000) == bytes)
            let url = try await reference.downloadURL()
            #expect(
                url.absoluteString
                    == "\(address)/v0/b/bucket/o/a%2Fb%20%2B%25.bin?alt=media&token=t1")
            let folder = try TemporaryFolder()
            let file = try folder.write("x.jpg", size: 10)
            let other = storage.reference(withPath: "x.jpg")
            try await other.putFileAsync(from: file)
            #expect(server.objects["bucket/x.jpg"]?.contentType == "image/jpeg")
            try await reference.delete()
            #expect(server.objects.keys.sorted() == ["bucket/x.jpg"])
        }
    }

    @Test func `errors have FirebaseStorage's names`() async throws {
        try await play { storage, server, _ in
            let reference = storage.reference(withPath: "a")
            await #expect {
                _ = try await reference.getMetadata()
            } throws: {
                if case StorageError.objectNotFound(let object, _) = $0 {
                    object == "a"
                } else {
                    false
                }
            }
            try await reference.putDataAsync(Data([1, 2, 3]))
            await #expect(throws: StorageError.downloadSizeExceeded(total: 3, maxSize: 2)) {
                try await reference.data(maxSize: 2)
            }
            await #expect {
                try await storage.reference().delete()
            } throws: {
                if case StorageError.invalidArgument = $0 { true } else { false }
            }
            server.setFault { _, _ in .before(403) }
            await #expect {
                try await reference.putDataAsync(Data([1]))
            } throws: {
                if case StorageError.unauthorized(let bucket, let object, _) = $0 {
                    bucket == "bucket" && object == "a"
                } else {
                    false
                }
            }
        }
    }

    @Test func `a call is tried again while it can succeed`() async throws {
        try await play { storage, server, _ in
            let reference = storage.reference(withPath: "a")
            // Fails the start, the chunk and the read of the metadata once each.
            server.setFault { _, number in [0, 2, 5].contains(number) ? .before(503) : nil }
            try await reference.putDataAsync(Data([1, 2, 3]))
            #expect(try await reference.data(maxSize: 3) == Data([1, 2, 3]))
        }
    }

    @Test func `a list has all pages`() async throws {
        try await play { storage, _, _ in
            for name in ["a/1", "a/2", "a/b/3", "a/b/4", "a/c/5", "d"] {
                try await storage.reference(withPath: name).putDataAsync(Data())
            }
            let all = try await storage.reference(withPath: "a").listAll()
            #expect(all.items.map(\.fullPath) == ["a/1", "a/2"])
            #expect(all.prefixes.map(\.fullPath) == ["a/b", "a/c"])
            let root = try await storage.reference().list(maxResults: 2)
            #expect(root.prefixes.map(\.fullPath) == ["a"] && root.pageToken != nil)
        }
    }
}
