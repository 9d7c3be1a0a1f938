import Foundation
import HTTPTesting
import Synchronization
import TestSupport
import Testing
import Tidemark
import TidemarkHTTP
import TidemarkObjects
import TidemarkRules
import TidemarkServer
import TidemarkTesting

@testable import TidemarkFiles

/// The outbox against the storage port of `tidemark serve`, over HTTP on this machine.
@Suite(.timeLimit(.minutes(3))) struct ServedStorageTests {
    struct Place: Sendable {
        let local: LocalFirestore
        let storage: ObjectsServer
        let folder: TemporaryFolder
        let address: String

        func phone(
            small: Int64 = 1 << 20, onStep: @escaping @Sendable () -> Void = {}
        ) throws -> Phone {
            try Phone(local, folder: folder, address: address, small: small, onStep: onStep)
        }

        /// Returns the field of a document on the server, read by another device.
        func photo(of id: String) async throws -> [String: Any]? {
            let reader = try local.firestore()
            let document = try await reader.document("messages/\(id)").getDocument(source: .server)
            await reader.terminate()
            return document.get("photo") as? [String: Any]
        }

        /// Fails unless the document names an object with these bytes.
        func expect(_ id: String, _ bytes: Data) async throws {
            let path = try #require(try await photo(of: id)?["path"] as? String)
            let object = try await storage.bytes(
                of: ObjectPath(bucket: "bucket", name: path), upTo: 64 << 20)
            #expect(Data(object.bytes) == bytes, "\(id)")
            #expect(object.object.version.metageneration == 1)
        }
    }

    func play(
        rules: Bool = false,
        _ body: @escaping @Sendable (Place, StorageRules) async throws -> Void
    ) async throws {
        let local = try LocalFirestore.start()
        let storageRules = StorageRules(
            local.server, project: local.projectID, errors: .explained, say: { _ in })
        let storage = try ObjectsServer(
            dataDirectory: nil, project: local.projectID, gate: nil,
            rules: rules ? storageRules : nil)
        let folder = try TemporaryFolder()
        try await serve(storage) { address, _ in
            try await body(
                Place(local: local, storage: storage, folder: folder, address: address),
                storageRules)
        }
        storage.close()
        await local.stop()
    }

    @Test(arguments: [0, 1, 262_143, 262_144, 262_145, (8 << 20) - 1, 8 << 20, (8 << 20) + 1])
    func `every size arrives whole, and its document after it`(size: Int) async throws {
        try await play { place, _ in
            let phone = try place.phone()
            await phone.outbox.start()
            let file = try place.folder.write("file.bin", size: size)
            let receipt = try await phone.send(FileUpload(file), with: "1")
            try await receipt.acknowledged()
            try await place.expect("1", TemporaryFolder.bytes(size, seed: 1))
            let objects = try await place.storage.objects()
            #expect(objects.count == 1)
            #expect(objects.first?.path.name.hasPrefix("messages/1/") == true)
            try await phone.sendAll()
            #expect(try await place.storage.openUploads(limit: 9).isEmpty)
            await phone.kill()
        }
    }

    @Test func `names, types and metadata arrive as they were given`() async throws {
        try await play { place, _ in
            let phone = try place.phone()
            await phone.outbox.start()
            var upload = FileUpload(
                data: Data([1, 2]), folder: "a+b %#?é/ü&=;,'()*!", contentType: "image/png")
            upload.metadata = ["shot by": "Zoë + 1%"]
            try await phone.send(upload, with: "1").acknowledged()
            let object = try #require(try await place.storage.objects().first)
            #expect(object.path.name.hasPrefix("a+b %#?é/ü&=;,'()*!/"))
            #expect(object.path.name.hasSuffix(".png"))
            #expect(object.fields.contentType == "image/png")
            #expect(object.fields.custom == ["shot by": "Zoë + 1%"])
            let photo = try #require(try await place.photo(of: "1"))
            #expect(photo["path"] as? String == object.path.name)
            #expect(photo["size"] as? Int == 2)
            #expect(photo["type"] as? String == "image/png")
            // Source: `printf '\1\2' | sha256sum`.
            #expect(
                photo["hash"] as? String
                    == "a12871fee210fb8619291eaea194581cbd2531e4b23759d225f6806923f63222")
            await phone.kill()
        }
    }

    /// The first process ends when Storage has confirmed a part. The second one continues the same
    /// session: another one would stay open at the server.
    @Test func `an upload that is killed continues where it was`() async throws {
        try await play { place, _ in
            let size = 12_000_000
            let first = try place.phone()
            let file = try place.folder.write("film.mov", size: size)
            _ = try await first.send(FileUpload(file), with: "1")
            try FileManager.default.removeItem(at: file)
            await first.outbox.start()
            try await until {
                try await place.storage.openUploads(limit: 9).contains { $0.received >= 262_144 }
            }
            await first.kill()
            let open = try await place.storage.openUploads(limit: 9)
            let upload = try #require(open.first)
            #expect(open.count == 1)
            #expect(upload.received < size, "the upload was over before the kill")
            let second = try place.phone()
            let shown = try #require(try await second.outbox.waitingFiles().first)
            #expect(shown.size == size && shown.sent <= upload.received)
            #expect(try await second.firestore.document("messages/1").file("photo") != nil)
            await second.outbox.start()
            try await second.sendAll()
            try await place.expect("1", TemporaryFolder.bytes(size, seed: 1))
            #expect(try await place.storage.openUploads(limit: 9).isEmpty, "one session was enough")
            #expect(try await place.storage.objects().count == 1)
            await second.kill()
        }
    }

    @Test func `an upload outlives a restart of the server`() async throws {
        let local = try LocalFirestore.start()
        let data = try TemporaryFolder()
        let folder = try TemporaryFolder()
        let size = 6_000_000
        let phone = Mutex<Phone?>(nil)
        let port = Mutex(0)
        let first = try ObjectsServer(
            dataDirectory: data.url.path, project: local.projectID, gate: nil)
        try await serve(first) { address, used in
            let file = try folder.write("film.mov", size: size)
            let started = try Phone(local, folder: folder, address: address)
            _ = try await started.send(FileUpload(file), with: "1")
            await started.outbox.start()
            try await until { try await !first.openUploads(limit: 9).isEmpty }
            phone.withLock { $0 = started }
            port.withLock { $0 = used }
        }
        first.close()
        let second = try ObjectsServer(
            dataDirectory: data.url.path, project: local.projectID, gate: nil)
        let running = try #require(phone.withLock { $0 })
        try await serve(second, port: port.withLock { $0 }) { address, _ in
            await running.outbox.networkMayBeBack()
            try await running.sendAll()
            let place = Place(local: local, storage: second, folder: folder, address: address)
            try await place.expect("1", TemporaryFolder.bytes(size, seed: 1))
        }
        await running.kill()
        second.close()
        await local.stop()
    }

    /// Kills at a random step of an upload, again and again.
    @Test(arguments: 0..<10)
    func `kills at random steps lose, double and splice nothing`(seed: UInt64) async throws {
        try await play { place, _ in
            var dice = ModelDice(seed)
            let sizes = [0, 300, 262_144, 900_000, 5_000_000]
            for (index, size) in sizes.enumerated() {
                // The next process starts with what this one has left.
                let (kills, kill) = AsyncStream.makeStream(of: Void.self)
                let left = Mutex(1 + dice.below(9))
                let phone = try place.phone(small: 300_000) {
                    let isOver = left.withLock { count in
                        count -= 1
                        return count == 0
                    }
                    if isOver { kill.yield() }
                }
                await phone.outbox.start()
                let file = try place.folder.write("f", size: size, seed: UInt64(index))
                _ = try await phone.send(FileUpload(file), with: "\(index)")
                let watch = Task {
                    try? await phone.sendAll()
                    kill.yield()
                }
                for await _ in kills { break }
                await phone.kill()
                watch.cancel()
                await watch.value
            }
            let last = try place.phone(small: 300_000)
            await last.outbox.start()
            try await last.sendAll("all files are sent, seed \(seed)")
            for (index, size) in sizes.enumerated() {
                try await place.expect(
                    "\(index)", TemporaryFolder.bytes(size, seed: UInt64(index)))
            }
            #expect(try await place.storage.objects().count == sizes.count, "seed \(seed)")
            await last.kill()
        }
    }

    @Test func `rules that refuse an upload are shown, and a retry succeeds`() async throws {
        try await play(rules: true) { place, rules in
            rules.set(
                try Self.rules("allow read; allow create: if request.resource.size < 100;"))
            let phone = try place.phone()
            await phone.outbox.start()
            let bytes = TemporaryFolder.bytes(500, seed: 4)
            let receipt = try await phone.send(
                FileUpload(data: bytes, contentType: "image/png"), with: "1")
            try await until {
                try await phone.outbox.waitingFiles().first?.state == .failed(.refused(status: 403))
            }
            #expect(try await place.photo(of: "1") == nil)
            rules.set(try Self.rules("allow read, write;"))
            let file = try #require(try await phone.outbox.waitingFiles().first)
            try await phone.outbox.retry(file.id)
            try await receipt.acknowledged()
            try await place.expect("1", bytes)
            await phone.kill()
        }
    }

    @Test func `a document that is refused takes its object with it`() async throws {
        try await play { place, _ in
            let phone = try place.phone()
            await phone.outbox.start()
            let missing = phone.firestore.document("messages/none")
            let receipt = try await missing.enqueueUpdateData([
                "photo": FileUpload(data: Data([1]), contentType: "image/png")
            ])
            await #expect {
                try await receipt.acknowledged()
            } throws: {
                ($0 as? FirestoreError)?.code == .notFound
            }
            try await until { try await place.storage.objects().isEmpty }
            #expect(try await phone.outbox.waitingFiles().map(\.state) == [.documentRefused])
            // The document exists now, so the write can be repeated, with another object.
            try await phone.firestore.document("messages/none").setData(["text": "Look!"])
            let refused = try #require(try await phone.firestore.rejectedWrites().first)
            try await phone.firestore.retryRejectedWrite(refused.batch).acknowledged()
            try await place.expect("none", Data([1]))
            try await phone.sendAll()
            #expect(try await place.storage.objects().count == 1)
            await phone.kill()
        }
    }

    @Test func `a file that is given up in the middle leaves no object and no session`()
        async throws
    {
        try await play { place, _ in
            let phone = try place.phone()
            let file = try place.folder.write("film.mov", size: 9_000_000)
            let receipt = try await phone.send(FileUpload(file), with: "1")
            await phone.outbox.start()
            try await until {
                try await place.storage.openUploads(limit: 9).contains { $0.received > 0 }
            }
            let waiting = try #require(try await phone.outbox.waitingFiles().first)
            try await phone.outbox.discard(waiting.id)
            await #expect(throws: FirestoreError.self) { try await receipt.acknowledged() }
            try await phone.sendAll()
            try await until { try await place.storage.openUploads(limit: 9).isEmpty }
            try await until { try await place.storage.objects().isEmpty }
            #expect(try await phone.firestore.pendingWrites().isEmpty)
            await phone.kill()
        }
    }

    private static func rules(_ conditions: String) throws -> Ruleset {
        try Ruleset(
            """
            rules_version = '2';
            service firebase.storage {
              match /b/{bucket}/o { match /{name=**} { \(conditions) } }
            }
            """, service: .storage)
    }
}
