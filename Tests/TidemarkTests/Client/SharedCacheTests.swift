import Foundation
import Testing
import TestSupport
import TidemarkServer
import TidemarkTesting

@testable import Tidemark

/// Tests clients that share one cache as processes do: each has its own lock, queue and connection.
@Suite(.timeLimit(.minutes(2))) struct `A shared cache` {
    private let local: LocalFirestore
    private let folder: TemporaryFolder

    init() throws {
        local = try LocalFirestore.start()
        folder = try TemporaryFolder()
    }

    private func client(
        _ role: FirestoreSettings.CacheRole, user: String? = nil, key: CacheEncryption? = nil
    ) throws(FirestoreError) -> Firestore {
        let settings = FirestoreSettings(
            cache: .directory(folder.path), user: user, label: "\(role)",
            onBusyCache: .shared(role))
        settings.cacheEncryption = key
        return try Firestore(
            projectID: local.projectID, settings: settings, environment: .live(local.server))
    }

    private static func rooms(_ client: Firestore) async throws -> [Int] {
        let rooms = try await client.collection("rooms").order(by: "n").getDocuments(source: .cache)
        return rooms.documents.compactMap { $0["n"] as? Int }
    }

    @Test func `shows a widget what the app stores, as it stores it`() async throws {
        let app = try client(.app)
        try await app.document("rooms/a").setData(["n": 1])
        let widget = try client(.helper)
        var shown: [[Int]] = []
        for try await snapshot in widget.collection("rooms").order(by: "n").snapshots {
            shown.append(snapshot.documents.compactMap { $0["n"] as? Int })
            if shown.count == 1 {
                #expect(snapshot.metadata.isFromCache && widget.isReadOnly)
                try await app.document("rooms/b").setData(["n": 2])
            }
            if shown.last == [1, 2] { break }
        }
        #expect(shown == [[1], [1, 2]], "one snapshot for one change")
        #expect(widget.isReadOnly && !app.isReadOnly)
        let reads = local.meter().filter { $0.label == "helper" && $0.reads > 0 }
        #expect(reads.isEmpty, "only the app asks the server: \(reads)")
        await widget.terminate()
        await app.terminate()
        await local.stop()
    }

    @Test func `has the app send what an extension writes, once`() async throws {
        let app = try client(.app)
        _ = try await app.collection("rooms").getDocuments(source: .cache)
        let sheet = try client(.helper)
        let count = sheet.document("counts/c")
        for n in 1...5 {
            let batch = sheet.batch()
            batch.setData(["n": n], forDocument: sheet.document("rooms/r\(n)"))
            batch.setData(
                ["n": FieldValue.increment(Int64(1))], forDocument: count, merge: true)
            // The commit waits for the acknowledgement of a write that another process sends.
            try await batch.commit()
        }
        #expect(sheet.isReadOnly && !app.isReadOnly)
        #expect(try await Self.rooms(sheet) == [1, 2, 3, 4, 5])
        #expect(try await app.document("counts/c").getDocument(source: .server)["n"] as? Int == 5)
        await app.terminate()
        await sheet.terminate()
        await local.stop()
    }

    @Test func `tells an extension why its write was refused`() async throws {
        let app = try client(.app)
        _ = try await app.collection("rooms").getDocuments(source: .cache)
        let sheet = try client(.helper)
        await #expect(throws: FirestoreError.self) {
            try await sheet.document("rooms/none").updateData(["n": 1])
        }
        try await until { try await app.pendingWrites().isEmpty }
        #expect(try await app.rejectedWrites().count == 1)
        await sheet.terminate()
        await app.terminate()
        await local.stop()
    }

    @Test func `goes over to an extension when the app is suspended, and back`() async throws {
        let app = try client(.app)
        try await app.document("rooms/a").setData(["n": 1])
        let sheet = try client(.helper)
        #expect(sheet.isReadOnly)
        await app.suspend()
        try await until { !sheet.isReadOnly }
        // The extension sends now.
        try await sheet.document("rooms/b").setData(["n": 2])
        #expect(try await sheet.document("rooms/b").getDocument(source: .server).exists)
        app.resume()
        // An extension hands the cache over to an app that asks for it.
        try await until { sheet.isReadOnly && !app.isReadOnly }
        #expect(try await Self.rooms(app) == [1, 2])
        try await app.document("rooms/c").setData(["n": 3])
        try await until { try await Self.rooms(sheet) == [1, 2, 3] }
        await app.terminate()
        try await until { !sheet.isReadOnly }
        await sheet.terminate()
        await local.stop()
    }

    @Test func `keeps the write of an extension that is gone before it is sent`() async throws {
        let app = try client(.app)
        _ = try await app.collection("rooms").getDocuments(source: .cache)
        await app.disableNetwork()
        let sheet = try client(.helper)
        _ = try await sheet.document("rooms/a").enqueueSetData(["n": 1])
        await sheet.terminate()
        try await until { try await Self.rooms(app) == [1] }
        #expect(try await app.pendingWrites().count == 1)
        await app.enableNetwork()
        try await app.waitForPendingWrites()
        await app.terminate()
        let next = try client(.app)
        #expect(try await Self.rooms(next) == [1])
        await next.terminate()
        await local.stop()
    }

    @Test func `keeps an extension's write, opened as the article says`() async throws {
        let (group, text) = (folder.path, "from an extension")
        func app() throws(FirestoreError) -> Firestore {
            let settings = FirestoreSettings(cache: .directory(group), onBusyCache: .shared(.app))
            return try Firestore(
                projectID: local.projectID, settings: settings, environment: .live(local.server))
        }
        func helper() throws(FirestoreError) -> Firestore {
            let settings = FirestoreSettings(
                cache: .directory(group), onBusyCache: .shared(.helper))
            return try Firestore(
                projectID: local.projectID, settings: settings, environment: .live(local.server))
        }
        let holder = try app()
        _ = try await holder.document("notes/1").getDocument()
        let firestore = try helper()
        _ = try await firestore.document("notes/1").enqueueSetData(["text": text])
        #expect(firestore.isReadOnly)
        await firestore.terminate()
        try await until { try await holder.document("notes/1").getDocument()["text"] != nil }
        await holder.terminate()
        await local.stop()
    }

    @Test func `shows that a collection is empty`() async throws {
        let app = try client(.app)
        _ = try await app.collection("rooms").getDocuments(source: .server)
        let widget = try client(.helper)
        for try await snapshot in widget.collection("rooms").snapshots {
            #expect(snapshot.isEmpty && widget.isReadOnly)
            break
        }
        await widget.terminate()
        await app.terminate()
        await local.stop()
    }

    @Test func `shows nobody what another user has written`() async throws {
        let app = try client(.app, user: "ann")
        _ = try await app.document("rooms/a").enqueueSetData(["n": 1])
        let other = try client(.helper, user: "ben")
        #expect(!other.isReadOnly, "each user has a cache of its own")
        #expect(try await Self.rooms(other) == [])
        let sheet = try client(.helper, user: "ann")
        #expect(try await Self.rooms(sheet) == [1])
        try await sheet.changeUser(to: "cid")
        #expect(try await Self.rooms(sheet) == [] && !sheet.isReadOnly)
        try await sheet.changeUser(to: "ann")
        #expect(try await Self.rooms(sheet) == [1] && sheet.isReadOnly)
        await #expect(throws: FirestoreError.self) {
            try await sheet.changeUser(to: nil, erasingPrevious: true)
        }
        for client in [app, other, sheet] { await client.terminate() }
        await local.stop()
    }
}
