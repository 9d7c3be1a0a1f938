import Foundation
import Testing
import TidemarkServer

@testable import Tidemark

/// Tests how a client uses its caches.
@Suite(.timeLimit(.minutes(2))) struct `A cache` {
    @Test func `that another client has open is refused at once, with the reason`() async throws {
        let folder = try TemporaryFolder()
        let first = try Firestore.testing(Unconnected(), cache: .directory(folder.path))
        do throws(FirestoreError) {
            _ = try Firestore(
                projectID: "projectID", settings: FirestoreSettings(cache: .directory(folder.path)),
                environment: first.environment)
            Issue.record("two clients on one cache")
        } catch {
            #expect(error.storageFault == .locked && error.recovery == .closeOtherClient)
        }
        await first.terminate()
    }

    @Test func `is each user's own, and all are cleared at once`() async throws {
        let folder = try TemporaryFolder()
        let firestore = try Firestore.testing(Unconnected(), cache: .directory(folder.path))
        let document = firestore.document("rooms/a")
        try await firestore.changeUser(to: "ann")
        _ = try await document.enqueueSetData(["n": 1])
        try await firestore.changeUser(to: "ben")
        await #expect(throws: FirestoreError.self) {
            try await document.getDocument(source: .cache)
        }
        try await firestore.changeUser(to: "ann")
        #expect(try await document.getDocument(source: .cache)["n"] as? Int == 1)
        #expect(try await firestore.pendingWrites().count == 1)
        await firestore.terminate()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count >= 3)
        try await firestore.clearPersistence()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test func `gives figures too, with what waits to be sent counted in`() async throws {
        let server = try FirestoreServer(FirestoreServer.Configuration())
        let firestore = try Firestore.testing(server)
        let rooms = firestore.collection("rooms")
        for number in 1...3 { try await rooms.document("\(number)").setData(["n": number]) }
        _ = try await rooms.getDocuments(source: .server)
        await firestore.disableNetwork()
        _ = try await rooms.document("4").enqueueSetData(["n": 10])
        _ = try await rooms.document("1").enqueueDelete()
        let figures = try await rooms.aggregate([.count(), .sum("n"), .average("n")])
            .getAggregation(source: .cache)
        #expect(figures.count == 3)
        #expect(figures.get(.sum("n")) as? Int == 15)
        #expect(figures.get(.average("n")) as? Double == 5)
        #expect(!figures.freshness.isFresh)
        await firestore.terminate()
        server.close()
    }

    @Test func `too small to be one is refused`() {
        #expect(throws: FirestoreError.self) {
            try Firestore(projectID: "p", settings: FirestoreSettings(cacheSizeBytes: 1000))
        }
    }
}
