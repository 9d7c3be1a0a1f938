import Foundation
import Testing
import Tidemark
import TidemarkTesting

/// Tests every member of swift-api 1.2, in its Swift spelling.
@Suite(.timeLimit(.minutes(2))) struct `Parity 1.2, references` {
    struct Room: Codable, Equatable {
        var name: String
        var n: Int?
    }

    @Test func `identity and navigation`() throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let collection = firestore.collection("rooms/blue/messages")
        #expect(collection.collectionID == "messages")
        #expect(collection.path == "rooms/blue/messages")
        #expect(collection.parent == firestore.document("rooms/blue"))
        #expect(collection.document("7") == firestore.document("rooms/blue/messages/7"))
        #expect(collection.document().documentID.count == 20)
        let document = collection.document("7")
        #expect(document.documentID == "7" && document.path == "rooms/blue/messages/7")
        #expect(document.parent == collection && document.firestore === firestore)
        #expect(document.collection("likes").path == "rooms/blue/messages/7/likes")
    }

    @Test func `writes, waited for`() async throws {
        let local = try LocalFirestore.start()
        let document = try local.firestore().document("rooms/a")
        try await document.setData(["name": "a", "n": 1])
        try await document.setData(["n": 2], merge: true)
        try await document.setData(["name": "x", "n": 3], mergeFields: ["n"])
        try await document.updateData(["m.x": 4, FieldPath(["m", "y.z"]): 5])
        let data = try #require(try await document.getDocument(source: .server).data())
        #expect(data["name"] as? String == "a" && data["n"] as? Int == 3)
        #expect(data["m"] as? [String: Int] == ["x": 4, "y.z": 5])
        try await document.delete()
        #expect(try await document.getDocument().exists == false)
        let added = try await document.parent.addDocument(data: ["name": "b"])
        #expect(try await added.getDocument()["name"] as? String == "b")
        await local.stop()
    }

    @Test func `writes with completions, and without`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let document = firestore.document("rooms/a")
        try await completed { document.setData(["name": "a", "n": 1], completion: $0) }
        try await completed { document.setData(["n": 2], merge: true, completion: $0) }
        try await completed {
            document.setData(["name": "x", "n": 3], mergeFields: ["n"], completion: $0)
        }
        try await completed { document.updateData(["m": 4], completion: $0) }
        let first = try await document.getDocument(source: .server)
        #expect(first["name"] as? String == "a" && first["n"] as? Int == 3)
        try await completed { document.delete(completion: $0) }
        try await completed { firestore.collection("rooms").addDocument(data: [:], completion: $0) }
        queue(document)
        try await firestore.waitForPendingWrites()
        let last = try await document.getDocument(source: .server)
        #expect(last.data() as? [String: Int] == ["a": 1, "b": 2, "c": 3, "d": 4])
        let all = try await firestore.collection("rooms").getDocuments(source: .server)
        #expect(all.count == 3)
        await local.stop()
    }

    /// Queues writes without `await`.
    private func queue(_ document: DocumentReference) {
        document.setData(["a": 1])
        document.setData(["b": 2], merge: true)
        document.setData(["c": 3, "x": 0], mergeFields: [FieldPath(["c"])])
        document.updateData(["d": 4])
        let other: DocumentReference = document.parent.addDocument(data: ["x": 1])
        document.parent.document("gone").delete()
        // An invalid value is noted in the log, and nothing is queued.
        KeptLog.begin()
        other.setData(["x": [[1]]])
        #expect(KeptLog.has(.fault, "An array may not hold an array (in x)."))
    }

    @Test func `one read`() async throws {
        let local = try LocalFirestore.start()
        let document = try local.firestore().document("rooms/a")
        try await document.setData(["name": "a"])
        let asked: DocumentSnapshot = try await completed { document.getDocument(completion: $0) }
        let cached: DocumentSnapshot = try await completed {
            document.getDocument(source: .cache, completion: $0)
        }
        #expect(asked["name"] as? String == "a" && cached["name"] as? String == "a")
        #expect(try await document.getDocument().exists)
        #expect(try await document.getDocument(source: .server).exists)
        await local.stop()
    }

    @Test func `a live document`() async throws {
        let local = try LocalFirestore.start()
        let document = try local.firestore().document("rooms/a")
        try await document.setData(["n": 1])
        let seen = Called<Int?>()
        let listener: @Sendable (DocumentSnapshot?, (any Error)?) -> Void = { snapshot, _ in
            seen.with(snapshot?["n"] as? Int)
        }
        let registrations: [any ListenerRegistration] = [
            document.addSnapshotListener(listener),
            document.addSnapshotListener(includeMetadataChanges: true, listener: listener),
            document.addSnapshotListener(
                options: SnapshotListenOptions().withSource(.cache), listener: listener),
        ]
        for _ in registrations { #expect(await seen.value() == 1) }
        for registration in registrations { registration.remove() }
        for try await snapshot in document.snapshots {
            #expect(snapshot["n"] as? Int == 1)
            break
        }
        var iterator = DocumentSnapshotsSequence(document, includeMetadataChanges: true)
            .makeAsyncIterator()
        #expect(try await iterator.next()?.exists == true)
        for try await snapshot in document.snapshots(includeMetadataChanges: true) {
            #expect(snapshot.reference == document)
            break
        }
        await local.stop()
    }

    @Test func `values of types`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let document = firestore.document("rooms/a")
        let encoder = Firestore.Encoder()
        let room = Room(name: "a", n: 1)
        try await completed { completion in
            do { try document.setData(from: room, encoder: encoder, completion: completion) } catch
            {
                completion(error)
            }
        }
        try await document.setData(from: Room(name: "b"), merge: true)
        #expect(try await document.getDocument(as: Room.self) == Room(name: "b", n: 1))
        try await document.setData(from: Room(name: "c", n: 2), mergeFields: ["n"])
        #expect(try await document.getDocument(as: Room.self) == Room(name: "b", n: 2))
        try await document.setData(from: room, encoder: encoder)
        try queue(room, document)
        try await firestore.waitForPendingWrites()
        let read = Called<Result<Room, any Error>>()
        document.getDocument(
            as: Room.self, with: .estimate, decoder: Firestore.Decoder(), source: .server
        ) { read.with($0) }
        #expect(try await read.value().get() == Room(name: "e", n: 5))
        let gone = firestore.document("rooms/gone")
        #expect(try await gone.getDocument(as: Room?.self) == nil)
        await #expect(throws: DecodingError.self) { try await gone.getDocument(as: Room.self) }
        let added = try await firestore.collection("rooms").addDocument(from: room)
        #expect(try await added.getDocument(as: Room.self, source: .cache) == room)
        await local.stop()
    }

    private func queue(_ room: Room, _ document: DocumentReference) throws {
        try document.setData(from: room)
        try document.setData(from: Room(name: "e"), merge: true)
        try document.setData(from: Room(name: "f", n: 5), mergeFields: ["n"])
        let added: DocumentReference = try document.parent.addDocument(
            from: room, encoder: Firestore.Encoder(), completion: nil)
        #expect(added.documentID.count == 20)
    }
}
