import Foundation
import Synchronization
import Testing
import TestSupport
import TidemarkModel
import TidemarkServer
import TidemarkTesting

@testable import Tidemark

/// Tests a client that closes its cache's file while its app is suspended.
@Suite(.timeLimit(.minutes(2))) struct `A client that is suspended` {
    private let local: LocalFirestore
    private let folder: TemporaryFolder

    init() throws {
        local = try LocalFirestore.start()
        folder = try TemporaryFolder()
    }

    private func client() throws -> Firestore {
        try local.firestore(label: "phone", cache: .directory(folder.path))
    }

    private func other() throws -> Firestore { try local.firestore(label: "other") }

    private var log: [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (names ?? []).filter { $0.hasSuffix("-wal") || $0.hasSuffix("-journal") }
    }

    /// Returns the client's counts from now on. Each snapshot differs from the previous one.
    private func counts(
        _ firestore: Firestore
    ) -> AsyncThrowingStream<(count: Int, isCached: Bool), any Error> {
        let snapshots = firestore.collection("rooms").snapshots(includeMetadataChanges: true)
        return AsyncThrowingStream { input in
            let task = Task {
                do {
                    for try await snapshot in snapshots {
                        input.yield((snapshot.count, snapshot.metadata.isFromCache))
                    }
                    input.finish()
                } catch { input.finish(throwing: error) }
            }
            input.onTermination = { _ in task.cancel() }
        }
    }

    @Test func `leaves the file to another process, and goes on where it was`() async throws {
        let (phone, other) = (try client(), try other())
        try await other.document("rooms/a").setData(["n": 1])
        var counts = counts(phone).makeAsyncIterator()
        while let next = try await counts.next(), next != (1, false) {}
        let before = local.meter().first { $0.label == "phone" }?.reads

        await phone.suspend()
        while let next = try await counts.next(), next != (1, true) {}
        #expect(log.isEmpty, "nothing is left for whoever opens it to recover")
        // The next client opens the file alone, so it is not a copy.
        let second = try client()
        #expect(!second.isReadOnly)
        #expect(try await second.collection("rooms").getDocuments(source: .cache).count == 1)
        _ = try await second.document("rooms/b").enqueueSetData(["n": 2])
        await second.terminate()
        try await other.document("rooms/c").setData(["n": 3])

        phone.resume()
        // The other client's queued write is shown, sent and acknowledged. Only new documents are
        // read.
        while let next = try await counts.next(), next != (3, false) {}
        try await phone.waitForPendingWrites()
        #expect(try await other.document("rooms/b").getDocument(source: .server)["n"] as? Int == 2)
        let after = local.meter().first { $0.label == "phone" }?.reads
        #expect(after.map { $0 - (before ?? 0) } == 2, "the two new documents")
        await phone.terminate()
        await local.stop()
    }

    @Test func `refuses what is asked of it, and loses nothing of what was`() async throws {
        let phone = try client()
        await phone.disableNetwork()
        let receipt = try await phone.document("rooms/a").enqueueSetData(["n": 1])
        await phone.suspend()
        await phone.suspend()
        func refuses(_ body: () async throws -> Void) async {
            do {
                try await body()
                Issue.record("it is suspended")
            } catch let error as FirestoreError {
                #expect(error.code == .failedPrecondition && error.detail.contains("resume()"))
            } catch { Issue.record(error) }
        }
        await refuses { _ = try await phone.document("rooms/a").getDocument(source: .cache) }
        await refuses { _ = try await phone.document("rooms/a").getDocument(source: .server) }
        await refuses { _ = try await phone.document("rooms/b").enqueueSetData(["n": 2]) }
        await refuses { for try await _ in phone.collection("rooms").snapshots {} }
        await phone.enableNetwork()
        phone.networkMayBeBack()

        phone.resume()
        phone.resume()
        let document = try await phone.document("rooms/a").getDocument(source: .cache)
        #expect(document["n"] as? Int == 1)
        try await receipt.acknowledged()
        #expect(try await other().document("rooms/a").getDocument()["n"] as? Int == 1)
        await phone.terminate()
        await local.stop()
    }

    @Test func `ends what waits for the server`() async throws {
        let server = ScriptedTransport()
        let phone = try Firestore.testing(server, cache: .directory(folder.path))
        let reading = Task {
            try await phone.document("rooms/a").getDocument(
                source: .server, within: .seconds(3_600))
        }
        try await until("a call is made") { !server.calls.isEmpty }
        await phone.suspend()
        await #expect(throws: FirestoreError.self) { try await reading.value }
        await phone.terminate()
        await local.stop()
    }

    @Test func `that is resumed within the grace stays open`() async throws {
        let phone = try client()
        await phone.disableNetwork()
        _ = try await phone.document("rooms/a").enqueueSetData(["n": 1])
        let suspending = Task { await phone.suspend(after: .seconds(3_600)) }
        try await until("the client is paused") { phone.startedClient?.pauses.withLock { $0 } != 0 }
        phone.resume()
        await phone.enableNetwork()
        // The suspension stops waiting, and the resumed client does not suspend.
        await suspending.value
        #expect(try await phone.document("rooms/a").getDocument(source: .cache).exists)
        await phone.terminate()
        await local.stop()
    }

    @Test func `sends what is pending within the grace`() async throws {
        let phone = try client()
        _ = try await phone.document("rooms/a").enqueueSetData(["n": 1])
        await phone.suspend(after: .seconds(3_600))
        #expect(try await other().document("rooms/a").getDocument().exists)
        #expect(log.isEmpty)
        await phone.terminate()
        await local.stop()
    }

    @Test func `can be terminated, and another user can be asked for`() async throws {
        let phone = try client()
        _ = try await phone.document("rooms/a").enqueueSetData(["n": 1])
        await phone.suspend()
        let change = Task { try await phone.changeUser(to: "bob") }
        phone.resume()
        try await change.value
        #expect(try await phone.collection("rooms").getDocuments(source: .cache).isEmpty)
        try await phone.changeUser(to: nil)
        #expect(try await phone.collection("rooms").getDocuments(source: .cache).count == 1)
        await phone.suspend()
        await phone.terminate()
        let next = try client()
        #expect(try await next.document("rooms/a").getDocument(source: .cache).exists)
        await next.terminate()
        await local.stop()
    }

    /// World seed 702: the cache was opened again for the previous user, and the next user saw
    /// those rows.
    @Test func `shows nothing of the user before to one who was asked for meanwhile`() async throws
    {
        let phone = try client()
        await phone.disableNetwork()
        _ = try await phone.document("rooms/a").enqueueSetData(["n": 1])
        var counts = counts(phone).makeAsyncIterator()
        while let next = try await counts.next(), next.count != 1 {}
        await phone.suspend()
        let second = try client()
        _ = try await second.document("rooms/b").enqueueSetData(["n": 2])
        await second.terminate()
        phone.engine.changeUser(to: "bob") { _ in }
        phone.resume()
        #expect(try await counts.next()?.count == 0)
        await phone.terminate()
        await local.stop()
    }

    @Test func `waits for a file that somebody else has`() async throws {
        let phone = try client()
        _ = try await phone.document("rooms/a").enqueueSetData(["n": 1])
        await phone.suspend()
        let second = try client()
        _ = try await second.document("rooms/b").enqueueSetData(["n": 2])
        phone.resume()
        let states = phone.storageStates
        for await state in states {
            if case .failing(.locked) = state { break }
        }
        do {
            _ = try await phone.document("rooms/a").getDocument(source: .cache)
            Issue.record("another client has the file")
        } catch { #expect(error.storageFault == .locked) }
        // World seed 68: a pause before the file could be opened led to two attempts to open it,
        // and the second one never succeeded.
        await phone.suspend()
        phone.resume()
        await second.terminate()
        phone.networkMayBeBack()
        for await state in phone.storageStates where state == .available { break }
        #expect(try await phone.collection("rooms").getDocuments(source: .cache).count == 2)
        await phone.terminate()
        await local.stop()
    }

    @Test func `with its cache in memory keeps it`() async throws {
        let phone = try local.firestore(label: "phone", cache: .memory)
        await phone.disableNetwork()
        _ = try await phone.document("rooms/a").enqueueSetData(["n": 1])
        await phone.suspend()
        phone.resume()
        #expect(try await phone.document("rooms/a").getDocument(source: .cache).exists)
        await phone.terminate()
        await local.stop()
    }

    /// Suspends and resumes at random. In the end the listener shows the server's documents, and
    /// every accepted write arrives once.
    @Test(arguments: 0..<12) func `again and again shows what is there`(seed: UInt64) async throws {
        var dice = SeededRandom(seed: seed)
        let (phone, other) = (try client(), try other())
        var counts = counts(phone).makeAsyncIterator()
        _ = try await counts.next()
        var (expected, taken) = (0, 0)
        for step in 0..<60 {
            switch dice.next() % 6 {
            case 0: await phone.suspend()
            case 1: phone.resume()
            case 2:
                try await other.document("rooms/o\(step)").setData(["n": step])
                expected += 1
            case 3: phone.networkMayBeBack()
            default:
                let document = phone.document("counters/one")
                do throws(FirestoreError) {
                    _ = try await document.enqueueSetData(
                        ["n": FieldValue.increment(Int64(1))], merge: true)
                    taken += 1
                } catch { #expect(error.code == .failedPrecondition, "it is suspended") }
            }
        }
        phone.resume()
        while let next = try await counts.next(), next != (expected, false) {}
        try await phone.waitForPendingWrites()
        let counter = try await other.document("counters/one").getDocument(source: .server)
        #expect((counter["n"] as? Int ?? 0) == taken)
        await phone.terminate()
        await local.stop()
    }
}
