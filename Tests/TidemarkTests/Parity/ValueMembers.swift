import Foundation
import Testing
import Tidemark
import TidemarkTesting

/// Tests every member of swift-api 1.4, in its Swift spelling.
@Suite(.timeLimit(.minutes(2))) struct `Parity 1.4, snapshots and values` {
    @Test func `a document's snapshot`() async throws {
        let local = try LocalFirestore.start()
        let document = try local.firestore().document("rooms/a")
        try await document.setData(["n": 1, "m": ["x": "y"]])
        let snapshot = try await document.getDocument()
        #expect(snapshot.exists && snapshot.reference == document && snapshot.documentID == "a")
        #expect(!snapshot.metadata.hasPendingWrites && !snapshot.metadata.isFromCache)
        #expect(snapshot.data()?["n"] as? Int == 1)
        #expect(snapshot.data(with: .estimate)?.count == 2)
        #expect(snapshot.get("m.x") as? String == "y")
        #expect(snapshot.get(FieldPath(["m", "x"])) as? String == "y")
        #expect(snapshot.get("m.x", serverTimestampBehavior: .previous) as? String == "y")
        let path = FieldPath(["m", "x"])
        #expect(snapshot.get(path, serverTimestampBehavior: .none) as? String == "y")
        #expect(snapshot["n"] as? Int == 1 && snapshot[path] as? String == "y")
        struct Room: Codable, Equatable { var n: Int }
        let room = try snapshot.data(as: Room.self, with: .none, decoder: Firestore.Decoder())
        #expect(room == Room(n: 1))
        await local.stop()
    }

    @Test func `server timestamps that nobody knows yet`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let document = firestore.document("rooms/a")
        try await document.setData(["t": "before"])
        await firestore.disableNetwork()
        _ = try await document.enqueueUpdateData(["t": FieldValue.serverTimestamp()])
        let snapshot = try await document.getDocument(source: .cache)
        #expect(snapshot.get("t") is NSNull)
        #expect(snapshot.data(with: ServerTimestampBehavior.none)?["t"] is NSNull)
        #expect(snapshot.get("t", serverTimestampBehavior: .estimate) is Timestamp)
        #expect(snapshot.get("t", serverTimestampBehavior: .previous) as? String == "before")
        struct Time: Codable { var t: Date? }
        #expect(try snapshot.data(as: Time.self).t == nil)
        #expect(try snapshot.data(as: Time.self, with: .estimate).t == local.now.dateValue())
        await local.stop()
    }

    @Test func `a query's snapshots and their changes`() async throws {
        let local = try LocalFirestore.start()
        let rooms = try local.firestore().collection("rooms")
        try await rooms.document("a").setData(["n": 1])
        try await rooms.document("b").setData(["n": 2])
        var iterator = rooms.order(by: "n").snapshots.makeAsyncIterator()
        let first = try #require(try await iterator.next())
        #expect(first.count == 2 && !first.isEmpty && first.query.firestore === rooms.firestore)
        #expect(first.documents.map(\.documentID) == ["a", "b"])
        let row: QueryDocumentSnapshot = first.documents[0]
        let (data, estimated): ([String: Any], [String: Any]) = (
            row.data(), row.data(with: .estimate)
        )
        #expect(data["n"] as? Int == 1 && estimated.count == 1)
        #expect(first.documentChanges.map(\.type) == [.added, .added])
        #expect(first.documentChanges[0].oldIndex == UInt(NSNotFound))
        #expect(first.documentChanges[1].newIndex == 1)
        let batch = rooms.firestore.batch()
        batch.updateData(["n": 9], forDocument: rooms.document("a"))
        batch.deleteDocument(rooms.document("b"))
        try await batch.commit()
        let next = try #require(try await iterator.next())
        #expect(next.documents.map(\.documentID) == ["a"])
        let all = try await rooms.getDocuments(source: .server)
        #expect(all.documents.map(\.documentID) == ["a"] && !all.metadata.isFromCache)
        await local.stop()
    }

    @Test func `a change says what moved where`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let rooms = firestore.collection("rooms")
        for n in 1...3 { try await rooms.document("r\(n)").setData(["n": n]) }
        _ = try await rooms.getDocuments()
        await firestore.disableNetwork()
        var iterator = rooms.order(by: "n").snapshots.makeAsyncIterator()
        _ = try await iterator.next()
        _ = try await rooms.document("r1").enqueueUpdateData(["n": 9])
        let moved = try #require(try await iterator.next()).documentChanges
        #expect(moved.map(\.type) == [.modified])
        #expect(moved[0].oldIndex == 0 && moved[0].newIndex == 2)
        #expect(moved[0].document.documentID == "r1")
        _ = try await rooms.document("r2").enqueueDelete()
        let snapshot = try #require(try await iterator.next())
        let removed = snapshot.documentChanges(includeMetadataChanges: true)
        #expect(removed.first?.type == DocumentChangeType.removed)
        #expect(removed.first?.newIndex == UInt(NSNotFound))
        await local.stop()
    }

    @Test func `what a write makes of a field`() async throws {
        let local = try LocalFirestore.start()
        let document = try local.firestore().document("rooms/a")
        try await document.setData([
            "gone": 1, "tags": ["a", "b"], "n": 5, "low": 5, "high": 5, "d": 1.5, "l": 2.5,
        ])
        try await document.updateData([
            "gone": FieldValue.delete(), "time": FieldValue.serverTimestamp(),
            "tags": FieldValue.arrayUnion(["c"]), "n": FieldValue.increment(Int64(2)),
            "d": FieldValue.increment(0.5), "low": FieldValue.minimum(Int64(3)),
            "high": FieldValue.maximum(Int64(9)), "l": FieldValue.minimum(0.5),
            "h": FieldValue.maximum(0.5), "v": FieldValue.vector([1.0, 2.0]),
            "w": FieldValue.vector([Float(3)]),
        ])
        try await document.updateData(["tags": FieldValue.arrayRemove(["a"])])
        let snapshot = try await document.getDocument(source: .server)
        #expect(snapshot["gone"] == nil && snapshot["time"] is Timestamp)
        #expect(snapshot["tags"] as? [String] == ["b", "c"] && snapshot["n"] as? Int == 7)
        #expect(snapshot["d"] as? Double == 2 && snapshot["low"] as? Int == 3)
        #expect(snapshot["high"] as? Int == 9 && snapshot["l"] as? Double == 0.5)
        #expect(snapshot["h"] as? Double == 0.5)
        #expect(snapshot["v"] as? VectorValue == VectorValue([1, 2]))
        #expect((snapshot["w"] as? VectorValue)?.array == [3])
        await local.stop()
    }

    @Test func `values of Firestore's own`() {
        let point = GeoPoint(latitude: 1.5, longitude: -2.5)
        #expect(point.latitude == 1.5 && point.longitude == -2.5)
        let time = Timestamp(seconds: 1, nanoseconds: 500_000_000)
        #expect(time.seconds == 1 && time.nanoseconds == 500_000_000)
        #expect(time.dateValue() == Date(timeIntervalSince1970: 1.5))
        #expect(Timestamp(date: Date(timeIntervalSince1970: 1.5)) == time)
        #expect(time.compare(Timestamp()) == .orderedAscending)
        #expect(Timestamp().compare(time) == .orderedDescending)
        #expect(time.compare(time) == .orderedSame)
    }

    @Test func `batches`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let (a, b) = (firestore.document("rooms/a"), firestore.document("rooms/b"))
        struct Room: Codable { var n: Int }
        try await firestore.batch().setData(["n": 1], forDocument: a)
            .setData(["m": 1], forDocument: a, merge: true)
            .setData(["x": 1, "y": 2], forDocument: a, mergeFields: ["y"])
            .updateData(["z": 3], forDocument: a).deleteDocument(b).commit()
        let data = try await a.getDocument(source: .server).data()
        #expect(data as? [String: Int] == ["n": 1, "m": 1, "y": 2, "z": 3])
        let typed = firestore.batch()
        try typed.setData(from: Room(n: 5), forDocument: b)
        try typed.setData(from: Room(n: 6), forDocument: b, merge: true)
        try typed.setData(from: Room(n: 7), forDocument: a, mergeFields: ["n"])
        try await completed { typed.commit(completion: $0) }
        #expect(try await a.getDocument(source: .server)["n"] as? Int == 7)
        #expect(try await b.getDocument(source: .server)["n"] as? Int == 6)
        commit(firestore.batch().deleteDocument(a))
        try await firestore.waitForPendingWrites()
        #expect(try await a.getDocument(source: .server).exists == false)
        await local.stop()
    }

    private func commit(_ batch: WriteBatch) { batch.commit() }

    @Test func `writes of a transaction`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let documents = (1...6).map { firestore.document("rooms/\($0)") }
        struct Room: Codable { var n: Int }
        for document in documents { try await document.setData(["n": 0, "m": 0]) }
        try await firestore.runTransaction { transaction in
            let read: DocumentSnapshot = try await transaction.getDocument(documents[0])
            #expect(read.exists)
            transaction.setData(["n": 1], forDocument: documents[0])
                .setData(["n": 1], forDocument: documents[1], merge: true)
                .setData(["n": 1, "m": 9], forDocument: documents[2], mergeFields: ["n"])
                .updateData(["n": 1], forDocument: documents[3])
                .deleteDocument(documents[4])
            try transaction.setData(from: Room(n: 2), forDocument: documents[5])
            try transaction.setData(from: Room(n: 3), forDocument: documents[5], merge: true)
            try transaction.setData(from: Room(n: 4), forDocument: documents[5], mergeFields: ["n"])
        }
        let rows = try await firestore.collection("rooms").getDocuments(source: .server)
        #expect(rows.documents.map { $0["n"] as? Int } == [1, 1, 1, 1, 4])
        #expect(rows.documents.map { $0["m"] as? Int } == [nil, 0, 0, 0, nil])
        await local.stop()
    }
}
