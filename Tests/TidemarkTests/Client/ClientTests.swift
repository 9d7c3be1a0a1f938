import Foundation
import Testing
import TidemarkServer

@testable import Tidemark

/// Tests a client as an app uses it, with a server in the same process.
@Suite(.timeLimit(.minutes(2))) struct `A client` {
    @Test func `writes a document of every kind and reads it back`() async throws {
        try await Firestore.withServer { firestore in
            let document = firestore.document("things/one")
            let time = Timestamp(seconds: 12, nanoseconds: 345_678_000)
            try await document.setData([
                "null": NSNull(), "none": Int?.none as Any, "some": Int?(7) as Any, "true": true,
                "integer": 3, "byte": UInt8(255), "double": 2.5, "float": Float(0.5),
                "time": time, "text": "å", "data": Data([0, 255]),
                "place": GeoPoint(latitude: 1, longitude: 2), "link": document,
                "vector": FieldValue.vector([1.0, 2.0]), "list": [1, "two", ["three": 3]],
                "map": ["empty": [String: Any](), "deep": ["er": 1]],
            ])
            let snapshot = try await document.getDocument(source: .server)
            #expect(snapshot.exists)
            #expect(snapshot.freshness.isFresh)
            #expect(snapshot["null"] is NSNull)
            #expect(snapshot["none"] is NSNull)
            #expect(snapshot["some"] as? Int == 7)
            #expect(snapshot["true"] as? Bool == true)
            #expect(snapshot["integer"] as? Int == 3)
            #expect(snapshot["integer"] as? Double == 3)
            #expect(snapshot["byte"] as? Int64 == 255)
            #expect(snapshot["double"] as? Double == 2.5)
            #expect(snapshot["float"] as? Double == 0.5)
            #expect(snapshot["time"] as? Timestamp == time)
            #expect(snapshot["text"] as? String == "å")
            #expect(snapshot["data"] as? Data == Data([0, 255]))
            #expect(snapshot["link"] as? DocumentReference == document)
            #expect(snapshot["vector"] as? VectorValue == VectorValue([1, 2]))
            #expect(snapshot["map.deep.er"] as? Int == 1)
            #expect((snapshot["map.empty"] as? [String: Any])?.isEmpty == true)
            #expect((snapshot["list"] as? [Any])?.count == 3)
            #expect(snapshot.updateTime != nil)
            // The data that was read is written again without a change.
            try await firestore.document("things/two").setData(try #require(snapshot.data()))
            let copy = try await firestore.document("things/two").getDocument(source: .server)
            #expect(copy.fields == snapshot.fields)
        }
    }

    @Test func `updates, merges, transforms and deletes`() async throws {
        try await Firestore.withServer { firestore in
            let document = firestore.document("rooms/blue")
            await #expect(throws: FirestoreError.self) { try await document.updateData(["a": 1]) }
            try await document.setData(["a": 1, "b": ["c": 1, "d": 2], "list": [1]])
            try await document.updateData([
                "b.c": 5, "a": FieldValue.increment(Int64(2)),
                "list": FieldValue.arrayUnion([1, 2]), "at": FieldValue.serverTimestamp(),
            ])
            try await document.setData(["b": ["d": FieldValue.delete()], "e": 9], merge: true)
            let snapshot = try await document.getDocument(source: .server)
            #expect(snapshot["a"] as? Int == 3)
            #expect(snapshot["b.c"] as? Int == 5)
            #expect(snapshot["b.d"] == nil)
            #expect(snapshot["e"] as? Int == 9)
            #expect(snapshot["list"] as? [Int] == [1, 2])
            #expect(snapshot["at"] is Timestamp)
            try await document.delete()
            #expect(try await document.getDocument(source: .server).exists == false)
        }
    }

    @Test func `queries, counts and sums`() async throws {
        try await Firestore.withServer { firestore in
            let rooms = firestore.collection("rooms")
            let batch = firestore.batch()
            for number in 1...9 {
                batch.setData(["n": number, "odd": number % 2], forDocument: rooms.document())
            }
            try await batch.commit()
            let query: Tidemark.Query = rooms.whereField("odd", isEqualTo: 1)
                .order(by: "n", descending: true).limit(to: 3)
            let snapshot = try await query.getDocuments(source: .server)
            #expect(snapshot.documents.map { $0["n"] as? Int } == [9, 7, 5])
            let next = query.start(afterDocument: try #require(snapshot.documents.last))
            #expect(try await next.getDocuments().map { $0["n"] as? Int } == [3, 1])
            #expect(
                try await rooms.order(by: "n").limit(toLast: 2).getDocuments(source: .server)
                    .map { $0["n"] as? Int } == [8, 9])
            let either = rooms.whereFilter(
                .orFilter([.whereField("n", isLessThan: 2), .whereField("n", in: [4, 5])]))
            #expect(try await either.getDocuments(source: .server).count == 3)
            let figures = try await rooms.aggregate([.count(), .sum("n"), .average("n")])
                .getAggregation()
            #expect(figures.count == 9)
            #expect(figures.get(.sum("n")) as? Int == 45)
            #expect(figures.get(.average("n")) as? Double == 5)
        }
    }

    @Test func `follows a query, with changes that lead from each snapshot to the next`()
        async throws
    {
        try await Firestore.withServer { firestore in
            let rooms = firestore.collection("rooms")
            try await rooms.document("a").setData(["n": 1])
            var rows: [String] = []
            var step = 0
            let query = rooms.order(by: "n")
            for try await snapshot in query.snapshots(includeMetadataChanges: true) {
                for change in snapshot.documentChanges {
                    if let old = change.oldRow { rows.remove(at: old) }
                    if let new = change.newRow {
                        rows.insert(change.document.documentID, at: new)
                    }
                }
                #expect(rows == snapshot.documents.map(\.documentID))
                guard !snapshot.metadata.isFromCache, !snapshot.metadata.hasPendingWrites else {
                    continue
                }
                switch (step, rows) {
                case (0, ["a"]):
                    _ = try await rooms.document("b").enqueueSetData(["n": 0])
                    step = 1
                case (1, ["b", "a"]):
                    _ = try await rooms.document("b").enqueueUpdateData(["n": 2])
                    step = 2
                case (2, ["a", "b"]):
                    _ = try await rooms.document("a").enqueueDelete()
                    step = 3
                case (3, ["b"]): return
                default: break
                }
            }
            Issue.record("the sequence ended")
        }
    }

    @Test func `follows one document`() async throws {
        try await Firestore.withServer { firestore in
            let document = firestore.document("rooms/blue")
            for try await snapshot in document.snapshots(includeMetadataChanges: true)
            where snapshot.freshness.isFresh {
                if !snapshot.exists {
                    _ = try await document.enqueueSetData(["n": 1])
                } else if !snapshot.metadata.hasPendingWrites {
                    #expect(snapshot["n"] as? Int == 1)
                    return
                }
            }
            Issue.record("the sequence ended")
        }
    }

    @Test func `bad input throws and nothing else`() async throws {
        try await Firestore.withServer { firestore in
            let document = firestore.document("rooms/blue")
            let bad: [[String: Any]] = [
                ["a": [[1]]], ["": 1], ["a": URL(fileURLWithPath: "/")], ["__a__": 1],
                ["a": UInt64.max], ["a": FieldValue.delete()],
                ["a": [FieldValue.serverTimestamp()]],
            ]
            for data in bad {
                do throws(FirestoreError) {
                    try await document.setData(data)
                    Issue.record("\(data) was taken")
                } catch { #expect(error.code == .invalidArgument, "\(data): \(error)") }
            }
            for path in ["rooms", "rooms//x", "", "/"] {
                await #expect(throws: FirestoreError.self, "\(path)") {
                    try await firestore.document(path).getDocument()
                }
            }
            await #expect(throws: FirestoreError.self) {
                try await firestore.collection("rooms").limit(to: -1).getDocuments()
            }
            await #expect(throws: FirestoreError.self) {
                try await firestore.collection("rooms").whereField("a..b", isEqualTo: 1)
                    .getDocuments()
            }
            let batch = firestore.batch().deleteDocument(document)
            try await batch.commit()
            await #expect(throws: FirestoreError.self) { try await batch.commit() }
        }
    }
}
