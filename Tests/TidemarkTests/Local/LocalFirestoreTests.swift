import Foundation
import Testing
import Tidemark
import TidemarkServer
import TidemarkTesting

@Suite(.timeLimit(.minutes(2))) struct LocalFirestoreTests {
    @Test func `a client writes, reads and listens without a port`() async throws {
        let local = try LocalFirestore.start()
        let writer = try local.firestore(label: "writer")
        let reader = try local.firestore(label: "reader")
        try await writer.document("rooms/blue").setData(["open": true])
        let room = try await reader.document("rooms/blue").getDocument()
        #expect(room["open"] as? Bool == true)
        for try await snapshot in reader.collection("rooms").snapshots {
            #expect(snapshot.documents.map(\.documentID) == ["blue"])
            break
        }
        #expect(local.meter().first { $0.label == "writer" }?.writes == 1)
        await local.stop()
    }

    @Test func `time is the test's`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let start = local.now
        try await firestore.document("log/1").setData(["at": FieldValue.serverTimestamp()])
        local.advance(by: .seconds(3_600))
        #expect(local.now.duration(since: start) == .seconds(3_600))
        try await firestore.document("log/2").setData(["at": FieldValue.serverTimestamp()])
        let log = try await firestore.collection("log").order(by: "at").getDocuments()
        let times = log.documents.compactMap { $0["at"] as? Timestamp }
        #expect(times.count == 2)
        #expect(times[1].duration(since: times[0]) > .seconds(3_599))
        local.setNow(start)
        #expect(local.now == start)
        await local.stop()
    }

    @Test func `clearing empties one database, and listeners hear of it`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let other = try local.firestore(databaseID: "other")
        try await firestore.document("rooms/blue").setData([:])
        try await other.document("rooms/red").setData([:])
        var counts: [Int] = []
        for try await snapshot in firestore.collection("rooms").snapshots {
            counts.append(snapshot.documents.count)
            if counts.count == 1 { try await local.clear() }
            if snapshot.documents.isEmpty { break }
        }
        #expect(counts == [1, 0])
        #expect(try await local.firestore().collection("rooms").getDocuments().documents.isEmpty)
        #expect(try await other.collection("rooms").getDocuments().documents.count == 1)
        await local.stop()
    }

    @Test func `a snapshot is gone back to between two tests`() async throws {
        let local = try LocalFirestore.start()
        let seed = try local.firestore()
        try await seed.document("rooms/blue").setData(["n": 1])
        let snapshot = try local.snapshot()
        let start = local.now
        for test in 0..<3 {
            let firestore = try local.firestore()
            try await firestore.document("rooms/blue").setData(["n": 100 + test])
            try await firestore.document("rooms/test-\(test)").setData([:])
            local.advance(by: .seconds(60))
            try await local.restore(snapshot)
            #expect(local.now == start)
            let rooms = try await local.firestore().collection("rooms").getDocuments()
            #expect(rooms.documents.map(\.documentID) == ["blue"], "test \(test)")
            #expect(rooms.documents[0]["n"] as? Int == 1)
        }
        await local.stop()
    }

    @Test func `a token from after a snapshot finds what is there now`() async throws {
        let local = try LocalFirestore.start()
        let snapshot = try local.snapshot()
        let folder = try TemporaryFolder()
        let cache = FirestoreSettings.Cache.directory(folder.path)
        let before = try local.firestore(cache: cache)
        try await before.document("rooms/old").setData([:])
        #expect(try await before.collection("rooms").getDocuments().documents.count == 1)
        try await local.restore(snapshot)
        let other = try local.firestore()
        try await other.document("rooms/new").setData([:])
        let after = try local.firestore(cache: cache)
        let rooms = try await after.collection("rooms").getDocuments()
        #expect(rooms.documents.map(\.documentID) == ["new"])
        await local.stop()
    }

    @Test func `data in a folder is there for the next server`() async throws {
        let folder = try TemporaryFolder()
        let configuration = FirestoreServer.Configuration(dataDirectory: folder.path)
        var local = try LocalFirestore.start(configuration: configuration)
        try await local.firestore().document("rooms/blue").setData([:])
        let snapshot = try local.snapshot()
        try await local.firestore().document("rooms/red").setData([:])
        try await local.restore(snapshot)
        await local.stop()
        local = try LocalFirestore.start(configuration: configuration)
        let rooms = try await local.firestore().collection("rooms").getDocuments()
        #expect(rooms.documents.map(\.documentID) == ["blue"])
        await local.stop()
    }

    @Test func `the same server on a socket`() async throws {
        let local = try LocalFirestore.start()
        let socket = try await local.serve()
        let remote = try Firestore(
            projectID: local.projectID,
            settings: FirestoreSettings(
                host: socket.host, isSSLEnabled: false, cache: .memory, readDeadline: nil))
        try await remote.document("rooms/blue").setData(["n": 1])
        #expect(try await local.firestore().document("rooms/blue").getDocument()["n"] as? Int == 1)
        await #expect(throws: RPCStatus.self) { try await local.serve(port: socket.port) }
        await remote.terminate()
        await local.stop()
    }
}
