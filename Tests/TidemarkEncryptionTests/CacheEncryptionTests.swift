import Foundation
import Synchronization
import Testing
import Tidemark
import TidemarkEncryption
import TidemarkTesting

/// Tests an encrypted cache as an app uses it: through the public API, over a socket.
@Suite(.timeLimit(.minutes(2))) struct CacheEncryptionTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidemark-encryption-" + UUID().uuidString)
    private let local: LocalFirestore
    private let host: String

    init() async throws {
        local = try LocalFirestore.start()
        host = try await local.serve().host
    }

    private func end() async {
        await local.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    private func settings(_ encryption: CacheEncryption?, user: String? = nil) -> FirestoreSettings
    {
        let settings = FirestoreSettings(
            host: host, isSSLEnabled: false, cache: .directory(folder.path), user: user,
            readDeadline: nil)
        settings.cacheEncryption = encryption
        return settings
    }

    private func client(
        _ encryption: CacheEncryption?, user: String? = nil
    ) throws -> Firestore {
        try Firestore(projectID: local.projectID, settings: settings(encryption, user: user))
    }

    private static func encryption(_ key: CacheKey = .random()) -> CacheEncryption {
        .aes256 { key }
    }

    /// Leaves a document and a pending write in the cache.
    private func fill(_ firestore: Firestore, _ name: String = "visits") async throws {
        let counter = firestore.document("counters/\(name)")
        try await counter.setData(["n": 0, "text": "written-in-the-clear"])
        await firestore.disableNetwork()
        _ = try await counter.enqueueUpdateData(["n": FieldValue.increment(Int64(1))])
        await firestore.terminate()
    }

    /// Returns the server's value after all pending writes are sent.
    private func sent(_ firestore: Firestore, _ name: String = "visits") async throws -> Int? {
        try await firestore.waitForPendingWrites()
        let document = try await firestore.document("counters/\(name)").getDocument(source: .server)
        return document.get("n") as? Int
    }

    private func files() throws -> [Data] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).map {
            try Data(contentsOf: folder.appendingPathComponent($0))
        }
    }

    @Test func `a write that waits is sent once, and only with the right key`() async throws {
        let right = Self.encryption()
        try await fill(try client(right))
        let before = try files()
        #expect(before.allSatisfy { $0.range(of: Data("written-in-the-clear".utf8)) == nil })
        for (encryption, fault) in [
            (nil, StorageFault.keyMissing), (Self.encryption(), .wrongKey),
        ] as [(CacheEncryption?, StorageFault)] {
            let error = #expect(throws: FirestoreError.self) { try client(encryption) }
            #expect(error?.storageFault == fault)
            #expect(error?.recovery == .giveOtherKey)
        }
        #expect(try files() == before)
        let firestore = try client(right)
        #expect(try await firestore.pendingWrites().count == 1)
        #expect(try await sent(firestore) == 1)
        await firestore.terminate()
        await end()
    }

    @Test func `while the key cannot be read the cache waits, also at a change of the user`()
        async throws
    {
        struct Locked: Error {}
        let key = CacheKey.random()
        let isLocked = Mutex(false)
        let encryption = CacheEncryption.aes256 {
            if isLocked.withLock({ $0 }) { throw Locked() }
            return key
        }
        try await fill(try client(encryption, user: "ann"))
        isLocked.withLock { $0 = true }
        let error = #expect(throws: FirestoreError.self) { try client(encryption, user: "ann") }
        #expect(error?.recovery == .waitForUnlock)
        #expect(error?.storageFault == .keyUnavailable(detail: "Locked()"))
        isLocked.withLock { $0 = false }
        let firestore = try client(encryption, user: "bob")
        isLocked.withLock { $0 = true }
        async let change: Void = firestore.changeUser(to: "ann")
        for await state in firestore.storageStates {
            if case .failing(.keyUnavailable) = state { break }
        }
        isLocked.withLock { $0 = false }
        firestore.networkMayBeBack()
        try await change
        #expect(try await sent(firestore) == 1)
        await firestore.terminate()
        await end()
    }

    @Test func `every user's cache is encrypted anew`() async throws {
        let (old, new) = (Self.encryption(), Self.encryption())
        for user in [nil, "ann", "bob"] {
            try await fill(try client(old, user: user), user ?? "nobody")
        }
        let used = try client(old)
        let error = await #expect(throws: FirestoreError.self) {
            try await used.changeCacheEncryption(to: new)
        }
        #expect(error?.code == .failedPrecondition)
        await used.terminate()
        try await used.changeCacheEncryption(to: new)
        // The second call has nothing to change.
        try await used.changeCacheEncryption(to: new)
        for user in [nil, "ann", "bob"] {
            #expect(throws: FirestoreError.self) { try client(old, user: user) }
            let firestore = try client(new, user: user)
            #expect(try await sent(firestore, user ?? "nobody") == 1)
            await firestore.terminate()
        }
        await end()
    }
}

// MARK: - The article

/// The place where an app keeps secrets, such as the keychain. A read throws on a locked device.
private final class Secrets: Sendable {
    private let kept = Mutex<[String: [UInt8]]>([:])

    func read(_ name: String) throws -> [UInt8]? { kept.withLock { $0[name] } }
    func write(_ bytes: [UInt8], as name: String) throws { kept.withLock { $0[name] = bytes } }
}

extension CacheEncryptionTests {
    @Test func `an app begins with a key, and changes it`() async throws {
        let secrets = Secrets()
        let project = local.projectID
        let settings = settings(nil)
        settings.cacheEncryption = .aes256 {
            if let kept = try secrets.read("cache").flatMap(CacheKey.init) { return kept }
            let new = CacheKey.random()
            try secrets.write(new.bytes, as: "cache")
            return new
        }
        try await fill(try Firestore(projectID: project, settings: settings))

        let firestore = try Firestore(projectID: project, settings: settings)
        await firestore.terminate()
        let new = CacheKey.random()
        try secrets.write(new.bytes, as: "next cache")
        try await firestore.changeCacheEncryption(to: .aes256 { new })
        try secrets.write(new.bytes, as: "cache")

        let after = try Firestore(projectID: local.projectID, settings: settings)
        #expect(try await sent(after) == 1)
        await after.terminate()
        await end()
    }

    @Test func `an app encrypts the cache that it has`() async throws {
        try await fill(try client(nil))
        let project = local.projectID
        let settings = settings(nil)
        let key = CacheKey.random()

        let encryption = CacheEncryption.aes256 { key }
        settings.cacheEncryption = encryption
        var firestore: Firestore
        do throws(FirestoreError) {
            firestore = try Firestore(projectID: project, settings: settings)
        } catch {
            guard error.storageFault == .notEncrypted else { throw error }
            settings.cacheEncryption = nil
            firestore = try Firestore(projectID: project, settings: settings)
            await firestore.terminate()
            try await firestore.changeCacheEncryption(to: encryption)
            settings.cacheEncryption = encryption
            firestore = try Firestore(projectID: project, settings: settings)
        }

        #expect(try files().allSatisfy { $0.range(of: Data("in-the-clear".utf8)) == nil })
        #expect(try await sent(firestore) == 1)
        await firestore.terminate()
        await end()
    }
}
