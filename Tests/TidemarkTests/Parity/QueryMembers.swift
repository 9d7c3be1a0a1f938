import Foundation
import Testing
import Tidemark
import TidemarkTesting

/// Tests every member of swift-api 1.3 that needs no Apple framework, in its Swift spelling.
@Suite(.timeLimit(.minutes(2))) struct `Parity 1.3, queries` {
    /// Makes five rooms with `n` from 1 to 5. A tag says whether `n` is even.
    private func rooms(_ local: LocalFirestore) async throws -> CollectionReference {
        let rooms = try local.firestore().collection("rooms")
        for n in 1...5 {
            try await rooms.document("r\(n)").setData([
                "n": n, "m": ["x": n], "tags": [n.isMultiple(of: 2) ? "even" : "odd", "t\(n)"],
            ])
        }
        return rooms
    }

    private func found(_ query: Query) async throws -> [Int] {
        try await query.getDocuments(source: .server).documents.compactMap { $0["n"] as? Int }
    }

    @Test func `conditions on fields`() async throws {
        let local = try LocalFirestore.start()
        let rooms = try await rooms(local)
        let path = FieldPath(["m", "x"])
        for queries in [
            (rooms.whereField("n", isEqualTo: 2), rooms.whereField(path, isEqualTo: 2), [2]),
            (
                rooms.whereField("n", isNotEqualTo: 2), rooms.whereField(path, isNotEqualTo: 2),
                [1, 3, 4, 5]
            ),
            (rooms.whereField("n", isLessThan: 3), rooms.whereField(path, isLessThan: 3), [1, 2]),
            (
                rooms.whereField("n", isLessThanOrEqualTo: 2),
                rooms.whereField(path, isLessThanOrEqualTo: 2), [1, 2]
            ),
            (
                rooms.whereField("n", isGreaterThan: 4), rooms.whereField(path, isGreaterThan: 4),
                [5]
            ),
            (
                rooms.whereField("n", isGreaterThanOrEqualTo: 4),
                rooms.whereField(path, isGreaterThanOrEqualTo: 4), [4, 5]
            ),
            (
                rooms.whereField("tags", arrayContains: "even"),
                rooms.whereField(FieldPath(["tags"]), arrayContains: "even"), [2, 4]
            ),
            (
                rooms.whereField("tags", arrayContainsAny: ["t1", "t5"]),
                rooms.whereField(FieldPath(["tags"]), arrayContainsAny: ["t1", "t5"]), [1, 5]
            ),
            (rooms.whereField("n", in: [1, 9]), rooms.whereField(path, in: [1, 9]), [1]),
            (
                rooms.whereField("n", notIn: [1, 2]), rooms.whereField(path, notIn: [1, 2]),
                [3, 4, 5]
            ),
        ] {
            #expect(try await found(queries.0) == queries.2)
            #expect(try await found(queries.1) == queries.2)
        }
        let byName = rooms.whereField(FieldPath.documentID(), isEqualTo: "r3")
        #expect(try await found(byName) == [3])
        await local.stop()
    }

    @Test func `conditions put together`() async throws {
        let local = try LocalFirestore.start()
        let rooms = try await rooms(local)
        let n = FieldPath(["n"])
        let all: [(Filter, Filter, [Int])] = [
            (.whereField("n", isEqualTo: 2), .whereField(n, isEqualTo: 2), [2]),
            (.whereField("n", isNotEqualTo: 2), .whereField(n, isNotEqualTo: 2), [1, 3, 4, 5]),
            (.whereField("n", isLessThan: 2), .whereField(n, isLessThan: 2), [1]),
            (.whereField("n", isLessThanOrEqualTo: 1), .whereField(n, isLessOrEqualTo: 1), [1]),
            (.whereField("n", isGreaterThan: 4), .whereField(n, isGreaterThan: 4), [5]),
            (
                .whereField("n", isGreaterThanOrEqualTo: 5), .whereField(n, isGreaterOrEqualTo: 5),
                [5]
            ),
            (
                .whereField("tags", arrayContains: "t1"),
                .whereField(FieldPath(["tags"]), arrayContains: "t1"), [1]
            ),
            (
                .whereField("tags", arrayContainsAny: ["t1"]),
                .whereField(FieldPath(["tags"]), arrayContainsAny: ["t1"]), [1]
            ),
            (.whereField("n", in: [1]), .whereField(n, in: [1]), [1]),
            (.whereField("n", notIn: [1, 2, 3]), .whereField(n, notIn: [1, 2, 3]), [4, 5]),
        ]
        for (text, path, expected) in all {
            #expect(try await found(rooms.whereFilter(text)) == expected)
            #expect(try await found(rooms.whereFilter(path)) == expected)
        }
        let either = Filter.orFilter([
            .whereField("n", isEqualTo: 1),
            .andFilter([.whereField("n", isGreaterThan: 3), .whereField("n", isLessThan: 5)]),
        ])
        #expect(try await found(rooms.whereFilter(either)) == [1, 4])
        await local.stop()
    }

    @Test func `orders, limits and cursors`() async throws {
        let local = try LocalFirestore.start()
        let rooms = try await rooms(local)
        let up = rooms.order(by: "n")
        #expect(up.firestore === rooms.firestore)
        #expect(try await found(rooms.order(by: FieldPath(["n"]))) == [1, 2, 3, 4, 5])
        #expect(try await found(rooms.order(by: "n", descending: true)) == [5, 4, 3, 2, 1])
        let down = rooms.order(by: FieldPath(["n"]), descending: true)
        #expect(try await found(down.limit(to: 2)) == [5, 4])
        #expect(try await found(up.limit(toLast: 2)) == [4, 5])
        #expect(try await found(up.start(at: [4])) == [4, 5])
        #expect(try await found(up.start(after: [4])) == [5])
        #expect(try await found(up.end(before: [2])) == [1])
        #expect(try await found(up.end(at: [2])) == [1, 2])
        let third = try await rooms.document("r3").getDocument()
        #expect(try await found(up.start(atDocument: third)) == [3, 4, 5])
        #expect(try await found(up.start(afterDocument: third)) == [4, 5])
        #expect(try await found(up.end(beforeDocument: third)) == [1, 2])
        #expect(try await found(up.end(atDocument: third)) == [1, 2, 3])
        await local.stop()
    }

    @Test func `one read, and live rows`() async throws {
        let local = try LocalFirestore.start()
        let rooms = try await rooms(local)
        let asked: QuerySnapshot = try await completed { rooms.getDocuments(completion: $0) }
        let cached: QuerySnapshot = try await completed {
            rooms.getDocuments(source: .cache, completion: $0)
        }
        #expect(asked.count == 5 && cached.count == 5)
        #expect(try await rooms.getDocuments().count == 5)
        let seen = Called<Int>()
        let listener: @Sendable (QuerySnapshot?, (any Error)?) -> Void = { snapshot, _ in
            seen.with(snapshot?.count ?? -1)
        }
        let registrations = [
            rooms.addSnapshotListener(listener),
            rooms.addSnapshotListener(includeMetadataChanges: false, listener: listener),
            rooms.addSnapshotListener(
                options: SnapshotListenOptions().withSource(.cache), listener: listener),
        ]
        for _ in registrations { #expect(await seen.value() == 5) }
        for registration in registrations { registration.remove() }
        for try await snapshot in rooms.snapshots {
            #expect(snapshot.count == 5)
            break
        }
        for try await snapshot in rooms.snapshots(includeMetadataChanges: true) {
            #expect(snapshot.count == 5)
            break
        }
        var iterator = QuerySnapshotsSequence(rooms, includeMetadataChanges: false)
            .makeAsyncIterator()
        #expect(try await iterator.next()?.count == 5)
        await local.stop()
    }

    @Test func `aggregates`() async throws {
        let local = try LocalFirestore.start()
        let rooms = try await rooms(local)
        let path = FieldPath(["m", "x"])
        let fields: [AggregateField] = [
            .count(), .sum("n"), .sum(path), .average("n"), .average(path),
        ]
        let query: AggregateQuery = rooms.aggregate(fields)
        #expect(query.query === rooms)
        let result = try await query.getAggregation(source: .server)
        #expect(result.query == query && result.count == 5)
        #expect(result.get(.sum("n")) as? Int == 15 && result.get(.sum(path)) as? Int == 15)
        #expect(result.get(.average("n")) as? Double == 3)
        #expect(result.get(AggregateField.average(path)) as? Double == 3)
        let counted: AggregateQuerySnapshot = try await completed {
            rooms.count.getAggregation(source: AggregateSource.server, completion: $0)
        }
        #expect(counted.count.intValue == 5)
        await local.stop()
    }
}
