import Dispatch
import Foundation
import Testing
import Tidemark
import TidemarkTesting

/// Tests every member of swift-api 1.1 that needs no Apple framework, in its Swift spelling.
@Suite(.timeLimit(.minutes(2))) struct `Parity 1.1, Firestore and settings` {
    @Test func `settings, and the kinds of caches`() throws {
        let settings = FirestoreSettings()
        #expect(settings.isSSLEnabled && settings.isPersistenceEnabled)
        #expect(settings.cacheSizeBytes == 104_857_600)
        #expect((settings.cacheSettings as? PersistentCacheSettings)?.sizeBytes == 104_857_600)
        #expect(settings.dispatchQueue.label == DispatchQueue.main.label)
        settings.host = "localhost:8080"
        settings.isSSLEnabled = false
        settings.dispatchQueue = DispatchQueue(label: "mine")
        #expect(settings.host == "localhost:8080" && !settings.isSSLEnabled)
        settings.cacheSettings = PersistentCacheSettings(
            sizeBytes: NSNumber(value: FirestoreCacheSizeUnlimited))
        #expect(settings.cacheSizeBytes == -1)
        settings.cacheSettings = MemoryCacheSettings()
        #expect(!settings.isPersistenceEnabled)
        settings.cacheSettings = MemoryCacheSettings(
            garbageCollectorSettings: MemoryEagerGCSetting())
        let memory = try #require(settings.cacheSettings as? MemoryCacheSettings)
        #expect(memory.garbageCollectorSettings is MemoryEagerGCSetting)
        settings.cacheSettings = MemoryCacheSettings(
            garbageCollectorSettings: MemoryLRUGCSettings(sizeBytes: 2_000_000))
        #expect(settings.cacheSizeBytes == 2_000_000)
        let (persistent, collector): (any LocalCacheSettings, any MemoryGarbageCollectorSettings) =
            (PersistentCacheSettings(), MemoryLRUGCSettings())
        #expect(persistent is PersistentCacheSettings && collector is MemoryLRUGCSettings)
        settings.isPersistenceEnabled = true
        settings.cacheSizeBytes = FirestoreCacheSizeUnlimited
        #expect(settings.cache == .standard)
    }

    @Test func `instances, settings before the first use, an emulator`() async throws {
        KeptLog.begin()
        let local = try LocalFirestore.start(projectID: "parity")
        let socket = try await local.serve()
        Firestore.configure(projectID: "parity")
        let firestore = Firestore.firestore()
        #expect(Firestore.firestore() === firestore)
        #expect(Firestore.firestore(database: "other") !== firestore)
        let settings = FirestoreSettings()
        settings.cacheSettings = MemoryCacheSettings()
        firestore.settings = settings
        let host = socket.host.split(separator: ":")
        firestore.useEmulator(withHost: String(host[0]), port: Int(host[1])!)
        #expect(firestore.settings.host == socket.host)
        try await firestore.document("rooms/blue").setData(["n": 1])
        #expect(try await firestore.document("rooms/blue").getDocument()["n"] as? Int == 1)
        // The client is already in use, so the settings come too late.
        firestore.settings = FirestoreSettings()
        #expect(firestore.settings.host == socket.host)
        #expect(KeptLog.has(.fault, "These settings are ignored"))
        try await completed { firestore.terminate(completion: $0) }
        #expect(Firestore.firestore() !== firestore)
        await #expect(throws: FirestoreError.self) {
            _ = try await Firestore.firestore(database: "no/name").document("a/b").getDocument()
        }
        await local.stop()
    }

    @Test func `references and batches`() throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        #expect(firestore.collection("rooms").path == "rooms")
        #expect(firestore.document("rooms/blue").path == "rooms/blue")
        #expect(firestore.collectionGroup("rooms").firestore === firestore)
        let batch: WriteBatch = firestore.batch()
        _ = batch
    }

    @Test func `the network, pending writes, the end`() async throws {
        Firestore.enableLogging(false)
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        try await completed { firestore.disableNetwork(completion: $0) }
        queue(firestore)
        let shown = try await firestore.document("rooms/blue").getDocument(source: .cache)
        #expect(shown.metadata.hasPendingWrites)
        let written = Called<Void>()
        firestore.waitForPendingWrites { error in
            #expect(error == nil)
            written.with(())
        }
        try await completed { firestore.enableNetwork(completion: $0) }
        await written.value()
        try await firestore.waitForPendingWrites()
        await firestore.disableNetwork()
        await firestore.enableNetwork()
        let inSync = Called<Void>()
        let registration = firestore.addSnapshotsInSyncListener { inSync.with(()) }
        await inSync.value()
        registration.remove()
        await #expect(throws: FirestoreError.self) {
            try await completed { firestore.clearPersistence(completion: $0) }
        }
        await firestore.terminate()
        try await completed { firestore.clearPersistence(completion: $0) }
        try await firestore.clearPersistence()
        await local.stop()
    }

    /// Queues a write without `await`.
    private func queue(_ firestore: Firestore) {
        firestore.document("rooms/blue").setData(["n": 1])
    }

    @Test func `indexes on the device`() async throws {
        let local = try LocalFirestore.start()
        let folder = try TemporaryFolder()
        #expect(try local.firestore().persistentCacheIndexManager == nil)
        let firestore = try local.firestore(cache: .directory(folder.path))
        let indexes = try #require(firestore.persistentCacheIndexManager)
        let json = """
            {"indexes": [{"collectionGroup": "rooms", "queryScope": "COLLECTION", "fields": [
                {"fieldPath": "n", "order": "ASCENDING"},
                {"fieldPath": "tags", "arrayConfig": "CONTAINS"}]}], "fieldOverrides": []}
            """
        try await firestore.setIndexConfiguration(json)
        try await firestore.setIndexConfiguration(InputStream(data: Data(json.utf8)))
        try await completed { firestore.setIndexConfiguration(json, completion: $0) }
        try await completed {
            firestore.setIndexConfiguration(
                InputStream(data: Data(json.utf8)), completion: $0)
        }
        #expect(try await indexes.indexes() == ["n asc, tags contains of rooms"])
        await #expect(throws: FirestoreError.self) {
            try await firestore.setIndexConfiguration("{\"indexes\": 1}")
        }
        indexes.disableIndexAutoCreation()
        indexes.enableIndexAutoCreation()
        indexes.deleteAllIndexes()
        #expect(try await indexes.indexes() == [])
        await local.stop()
    }

    @Test func `transactions, by closures and with options`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let counter = firestore.document("counters/a")
        try await counter.setData(["n": 1])
        let options = { () -> TransactionOptions in
            let options = TransactionOptions()
            #expect(options.maxAttempts == 5)
            options.maxAttempts = 3
            return options
        }()
        let block: @Sendable (Transaction) throws -> Int = { transaction in
            let n = try transaction.getDocument(counter)["n"] as? Int ?? 0
            transaction.updateData(["n": n + 1], forDocument: counter)
            return n + 1
        }
        let second: Int = try await completed {
            firestore.runTransaction(block, completion: $0)
        }
        let third: Int = try await completed {
            firestore.runTransaction(with: options, block: block, completion: $0)
        }
        let fourth = try await firestore.runTransaction(with: options) { transaction in
            let n = try await transaction.getDocument(counter)["n"] as? Int ?? 0
            transaction.updateData(["n": n + 1], forDocument: counter)
            return n + 1
        }
        #expect(second == 2 && third == 3 && fourth == 4)
        struct Refused: Error {}
        await #expect(throws: Refused.self) {
            let _: Int = try await completed {
                firestore.runTransaction({ _ in throw Refused() }, completion: $0)
            }
        }
        #expect(try await counter.getDocument(source: .server)["n"] as? Int == 4)
        await local.stop()
    }

    @Test func `errors, sources and options of listeners`() throws {
        let codes: [FirestoreErrorCode] = [
            .OK, .cancelled, .unknown, .invalidArgument, .deadlineExceeded, .notFound,
            .alreadyExists, .permissionDenied, .resourceExhausted, .failedPrecondition, .aborted,
            .outOfRange, .unimplemented, .internal, .unavailable, .dataLoss, .unauthenticated,
        ]
        #expect(codes.map(\.rawValue) == Array(0...16))
        #expect(FirestoreErrorCode.Code(rawValue: 14) == .unavailable)
        let error = FirestoreError(.notFound, "no such thing") as NSError
        #expect(error.domain == FirestoreErrorDomain && error.code == 5)
        let plain = FirestoreError(.notFound, "no such thing")
        #expect(plain.failureReason == "no such thing" && plain.errorDescription == plain.message)
        #expect(
            plain.errorUserInfo[NSLocalizedFailureReasonErrorKey] as? String == "no such thing")
        let sources: [FirestoreSource] = [.default, .server, .cache]
        let listenSources: [ListenSource] = [.default, .cache]
        #expect(sources.count == 3 && listenSources.count == 2)
        let options = SnapshotListenOptions().withSource(.cache).withIncludeMetadataChanges(true)
        #expect(options.source == .cache && options.includeMetadataChanges)
    }
}
