import Foundation
import Synchronization
import Testing
import TidemarkServer
import TidemarkTesting

@testable import Tidemark

/// Tests features that FirebaseFirestore's API does not have.
@Suite(.timeLimit(.minutes(2))) struct `Beyond parity` {
    @Test func `everything may be handed from task to task`() {
        func sendable<T: Sendable>(_ types: T.Type...) {}
        sendable(Firestore.self)
        sendable(FirestoreSettings.self)
        sendable(FirestoreError.self)
        sendable(DocumentReference.self)
        sendable(CollectionReference.self)
        sendable(Query.self)
        sendable(Filter.self)
        sendable(AggregateQuery.self)
        sendable(AggregateQuerySnapshot.self)
        sendable(DocumentSnapshot.self)
        sendable(QuerySnapshot.self)
        sendable(DocumentChange.self)
        sendable(QuerySnapshotsSequence.self)
        sendable(DocumentSnapshotsSequence.self)
        sendable(WriteBatch.self)
        sendable(WriteReceipt.self)
        sendable(Transaction.self)
        sendable(TransactionOptions.self)
        sendable(LoadBundleTask.self)
        sendable(LoadBundleTaskProgress.self)
        sendable(Firestore.Encoder.self)
        sendable(Firestore.Decoder.self)
        sendable(FieldValue.self)
        sendable((any ListenerRegistration).self)
    }

    @Test func `a listener ends with the loop that it feeds, wherever that is left`() async throws {
        let (transport, scheduler) = (ScriptedTransport(), VirtualScheduler())
        let scripted = try Firestore(
            projectID: "p", settings: FirestoreSettings(cache: .memory),
            environment: SyncEnvironment(
                transport: transport, scheduler: scheduler, now: { scheduler.now },
                random: { 0.5 }))
        func targets() -> (added: Int, removed: Int) {
            scheduler.runUntilIdle()
            var targets = (added: 0, removed: 0)
            for message in transport.listens.flatMap(\.sent) {
                switch message {
                case .add: targets.added += 1
                case .remove: targets.removed += 1
                case .unreadable: break
                }
            }
            return targets
        }
        do {
            let rows = scripted.collection("rooms").snapshots.makeAsyncIterator()
            let document = scripted.document("rooms/a").snapshots.makeAsyncIterator()
            #expect(targets() == (2, 0))
            _ = (rows, document)
        }
        #expect(targets() == (2, 2))

        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let (started, ended) = (Called<Void>(), Called<Void>())
        let task = Task {
            for try await _ in firestore.collection("rooms").snapshots { started.with(()) }
            ended.with(())
        }
        await started.value()
        task.cancel()
        await ended.value()
        await local.stop()
    }

    @Test func `errors say what can be done`() {
        let recoveries: [(FirestoreErrorCode, FirestoreError.Recovery)] = [
            (.unavailable, .waitForNetwork), (.permissionDenied, .askForPermission),
            (.unauthenticated, .signIn), (.aborted, .readAgain), (.internal, .retry),
            (.invalidArgument, .correctTheCall), (.cancelled, .none),
        ]
        for (code, recovery) in recoveries {
            #expect(FirestoreError(code, "").recovery == recovery)
        }
    }

    @Test func `snapshots say as of when they are, and of which version`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let document = firestore.document("rooms/a")
        let start = local.now
        try await document.setData(["n": 1])
        let one = try await document.getDocument(source: .server)
        let version = try #require(one.updateTime)
        #expect(version >= start && one.createTime == version)
        #expect(try #require(one.readTime) >= version)
        let rows = try await firestore.collection("rooms").getDocuments(source: .server)
        #expect(try #require(rows.readTime) >= version)
        #expect(rows.documents[0].updateTime == version)
        await local.stop()
    }

    @Test func `a query on the cache explains itself`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let rooms = firestore.collection("rooms")
        for part in 0..<3 {
            let batch = firestore.batch()
            for n in 0..<100 {
                let number = part * 100 + n
                batch.setData(
                    ["n": number, "of": number % 10], forDocument: rooms.document("r\(number)"))
            }
            try await batch.commit()
        }
        _ = try await rooms.getDocuments(source: .server)
        let query = rooms.whereField("of", isEqualTo: 3).order(by: "n", descending: true).limit(
            to: 5)
        let scan = try await query.explainCached()
        #expect(!scan.isIndexed && scan.rowsScanned == 300 && scan.rowsReturned == 5)
        await withCheckedContinuation { done in
            firestore.engine.finishIndexes { done.resume() }
        }
        let indexed = try await query.explainCached()
        #expect(indexed.isIndexed && indexed.rowsScanned <= 6 && indexed.rowsReturned == 5)
        #expect(indexed.plan.contains("index") && indexed.duration >= .zero)
        await local.stop()
    }

    @Test func `a transaction known to be offline does not wait`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        await firestore.disableNetwork()
        let attempts = Mutex(0)
        do {
            try await firestore.runTransaction { transaction in
                attempts.withLock { $0 += 1 }
                _ = try await transaction.getDocument(firestore.document("rooms/a"))
            }
            Issue.record("a transaction without a server")
        } catch let error as FirestoreError { #expect(error.code == .unavailable) }
        #expect(attempts.withLock { $0 } == 1)
        await local.stop()
    }

    @Test func `a cache in memory that frees at once keeps only what is in use`() async throws {
        let local = try LocalFirestore.start()
        let settings = FirestoreSettings()
        settings.cacheSettings = MemoryCacheSettings(
            garbageCollectorSettings: MemoryEagerGCSetting())
        let scheduler = VirtualScheduler()
        let firestore = try Firestore(
            projectID: local.projectID, settings: settings,
            environment: SyncEnvironment(
                transport: ScriptedTransport(), scheduler: scheduler, now: { scheduler.now },
                random: { 0.5 }))
        let time = Timestamp(seconds: 5, nanoseconds: 0)
        let documents = try ["a", "b"].map { id in
            Document(
                path: try DocumentPath("rooms/\(id)"), fields: ["n": .integer(1)],
                createTime: time, updateTime: time)
        }
        let bundle = DocumentBundle(
            id: "b", createTime: time,
            documents: documents.map {
                BundledDocument(path: $0.path, document: $0, readTime: time)
            })
        firestore.engine.loadBundle(bundle) { _ in }
        let shown = firestore.document("rooms/a").addSnapshotListener { _, _ in }
        scheduler.advance(by: .seconds(3))
        let kept = Called<Int>()
        firestore.engine.cachedCounts(of: [QueryValue(collection: try CollectionPath("rooms"))]) {
            kept.with((try? $0.get().first) ?? -1)
        }
        scheduler.runUntilIdle()
        #expect(await kept.value() == 1)
        shown.remove()
        scheduler.advance(by: .seconds(3))
        firestore.engine.cachedCounts(of: [QueryValue(collection: try CollectionPath("rooms"))]) {
            kept.with((try? $0.get().first) ?? -1)
        }
        scheduler.runUntilIdle()
        #expect(await kept.value() == 0)
        await local.stop()
    }
}
