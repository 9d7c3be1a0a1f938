import Foundation
import Testing
import Tidemark
import TidemarkTesting

/// A view model as apps write it: on the main actor, with closures that set its properties.
@MainActor private final class RoomsModel {
    private(set) var rooms: [String] = []
    private(set) var first: String?
    private(set) var failure: String?
    private(set) var saved = 0
    private var listeners: [any ListenerRegistration] = []
    private var lastSnapshot: QuerySnapshot?
    private(set) var repeats = 0

    func start(_ query: Query, _ document: DocumentReference) {
        listeners.append(
            query.addSnapshotListener { snapshot, error in
                guard let snapshot else {
                    self.failure = error?.localizedDescription
                    return
                }
                if snapshot == self.lastSnapshot { self.repeats += 1 }
                self.lastSnapshot = snapshot
                self.rooms = snapshot.documents.map { $0.documentID }
            })
        listeners.append(
            document.addSnapshotListener(includeMetadataChanges: true) { snapshot, _ in
                self.first = snapshot?.get("name") as? String
            })
    }

    func load(_ query: Query) {
        query.getDocuments { snapshot, _ in self.rooms = snapshot?.documents.map(\.documentID) ?? []
        }
    }

    func save(_ document: DocumentReference) {
        document.setData(["name": "Blue"]) { error in
            if error == nil { self.saved += 1 }
        }
        document.updateData(["n": 1]) { [weak self] _ in self?.saved += 1 }
        let batch = document.firestore.batch()
        batch.setData(["name": "Red"], forDocument: document.parent.document("red"))
        batch.commit { _ in self.saved += 1 }
        document.firestore.waitForPendingWrites { _ in self.saved += 1 }
    }

    func stop() {
        for listener in listeners { listener.remove() }
        listeners = []
    }
}

/// Tests code from apps that import FirebaseFirestore: it compiles and works with this import.
@Suite(.timeLimit(.minutes(2))) struct `Parity, as apps write it` {
    @Test @MainActor func `closures of a view model set its properties`() async throws {
        let local = try LocalFirestore.start()
        let rooms = try local.firestore().collection("rooms")
        let model = RoomsModel()
        model.start(rooms, rooms.document("blue"))
        model.save(rooms.document("blue"))
        for _ in 0..<2_000 where model.rooms.count < 2 || model.saved < 4 || model.first == nil {
            // A read lets the main queue run.
            _ = try await rooms.getDocuments()
        }
        #expect(model.rooms == ["blue", "red"])
        #expect(model.first == "Blue")
        #expect(model.saved == 4)
        #expect(model.repeats == 0)
        #expect(model.failure == nil)
        model.stop()
        model.load(rooms.whereField("name", isEqualTo: "Red"))
        for _ in 0..<2_000 where model.rooms != ["red"] { _ = try await rooms.getDocuments() }
        #expect(model.rooms == ["red"])
    }

    @Test func `options of a transaction are set on a constant`() async throws {
        let local = try LocalFirestore.start()
        let document = try local.firestore().document("counters/a")
        let options = TransactionOptions()
        options.maxAttempts = 3
        #expect(options != TransactionOptions())
        let value: Int = try await document.firestore.runTransaction(with: options) { transaction in
            let old = try await transaction.getDocument(document).get("n") as? Int ?? 0
            transaction.setData(["n": old + 1], forDocument: document)
            return old + 1
        }
        #expect(value == 1)
    }

    @Test func `fields to merge are held in a list of Any`() async throws {
        let local = try LocalFirestore.start()
        let document = try local.firestore().document("rooms/blue")
        let fields: [Any] = ["a", FieldPath(["m", "x"])]
        try await document.setData(["a": 1, "b": 2, "m": ["x": 3]], mergeFields: fields)
        let snapshot = try await document.getDocument(source: .server)
        #expect(snapshot.get("a") as? Int == 1)
        let name: Any = FieldPath(["m", "x"])
        #expect(snapshot.get(name) as? Int == 3)
        #expect(snapshot.get("b") == nil)
        #expect(snapshot.get(7 as Any) == nil)
        await #expect(throws: FirestoreError.self) {
            try await document.setData(["a": 1], mergeFields: [1])
        }
    }

    @Test func `snapshots are compared, and kept in sets`() async throws {
        let local = try LocalFirestore.start()
        let rooms = try local.firestore().collection("rooms")
        try await rooms.document("a").setData(["n": 1])
        let first = try await rooms.getDocuments(source: .server)
        let same = try await rooms.getDocuments(source: .server)
        try await rooms.document("a").setData(["n": 2])
        let other = try await rooms.getDocuments(source: .server)
        #expect(first == same && first != other)
        #expect(Set([first, same, other]).count == 2)
        #expect(try await rooms.limit(to: 5).getDocuments(source: .server) != other)
    }

    @Test func `the progress of a bundle is an Int`() {
        let bytes: (LoadBundleTaskProgress) -> Int = { $0.bytesLoaded }
        let total: (LoadBundleTaskProgress) -> Int = { $0.totalBytes }
        _ = (bytes, total)
    }
}
