import Observation
import Testing
import TestSupport
import TidemarkServer
import TidemarkTesting

@testable import Tidemark

/// Tests the values that `@FirestoreQuery` shows, with a server in this process. The property
/// itself runs in `Tools/AppleCheck`.
@MainActor @Suite(.timeLimit(.minutes(2))) struct `A query for views` {
    private struct Fruit: Codable, Equatable {
        var name: String
        var weight: Int
    }

    private func world(
        _ body: (_ writer: Firestore, _ reader: Firestore) async throws -> Void
    ) async throws {
        let local = try LocalFirestore.start()
        let writer = try local.firestore(label: "writer")
        let reader = try local.firestore(label: "reader")
        for (name, weight) in [("apple", 3), ("pear", 2), ("plum", 1)] {
            try await writer.document("fruits/\(name)")
                .setData(from: Fruit(name: name, weight: weight))
        }
        do { try await body(writer, reader) } catch {
            await local.stop()
            throw error
        }
        await local.stop()
    }

    @Test func `shows its rows, and what changes`() async throws {
        try await world { writer, firestore in
            let model = FirestoreQueryModel<[Fruit]>(path: "fruits", predicates: [.limit(to: 50)])
            model.listen(in: firestore)
            try await until { model.value.count == 3 }
            try await until { model.freshness?.isFresh == true }
            try await writer.document("fruits/apple").updateData(["weight": 4])
            try await until { model.value.first?.weight == 4 }
            #expect(model.value.map(\.name) == ["apple", "pear", "plum"])
            #expect(model.error == nil)
        }
    }

    /// Metadata changes with each write and each change of the network.
    @Test func `draws no view for what is not shown`() async throws {
        try await world { writer, reader in
            let model = FirestoreQueryModel<[Fruit]>(path: "fruits")
            model.listen(in: reader)
            try await until { model.value.count == 3 && model.freshness?.isFresh == true }
            let changes = Changes()
            changes.count { _ = model.value }
            let before = model.freshness
            // The write is shown immediately, and then acknowledged with the same fields.
            try await reader.document("fruits/apple").updateData(["weight": 5])
            try await until { model.value.first?.weight == 5 && model.freshness != before }
            #expect(changes.count <= 2, "the own write, and the server's time of it")
            await reader.disableNetwork()
            try await until { model.freshness?.isFresh == false }
            #expect(changes.count <= 2)
        }
    }

    @Test func `asks for another query in place of the last one`() async throws {
        try await world { _, firestore in
            let model = FirestoreQueryModel<[Fruit]>(
                path: "fruits", predicates: [.order(by: "weight"), .limit(to: 1)])
            model.listen(in: firestore)
            try await until { model.value.map(\.name) == ["plum"] }
            model.configuration.predicates = [
                .whereField("weight", isGreaterThan: 1), .order(by: "weight", descending: true),
            ]
            #expect(model.value.map(\.name) == ["plum"], "shown until the other rows are there")
            try await until { model.value.map(\.name) == ["apple", "pear"] }
        }
    }

    private static var predicates: [(predicate: QueryPredicate, names: [String])] {
        [
            (QueryPredicate.whereField("name", isEqualTo: "pear"), ["pear"]),
            (.whereField("name", isIn: ["pear", "fig"]), ["pear"]),
            (.whereField("name", isNotIn: ["pear"]), ["apple", "plum"]),
            (.whereField("tags", arrayContains: "red"), []),
            (.whereField("tags", arrayContainsAny: ["red"]), []),
            (.whereField("weight", isLessThan: 2), ["plum"]),
            (.whereField("weight", isLessThanOrEqualTo: 2), ["plum", "pear"]),
            (.whereField("weight", isGreaterThan: 2), ["apple"]),
            (.whereField("weight", isGreaterThanOrEqualTo: 3), ["apple"]),
            (.where("name", isEqualTo: "pear"), ["pear"]),
            (.where("name", isIn: ["pear"]), ["pear"]),
            (.where("name", isNotIn: ["pear"]), ["apple", "plum"]),
            (.where(field: "tags", arrayContains: "red"), []),
            (.where("tags", arrayContainsAny: ["red"]), []),
            (.where("weight", isLessThan: 2), ["plum"]),
            (.where("weight", isLessThanOrEqualTo: 2), ["plum", "pear"]),
            (.where("weight", isGreaterThan: 2), ["apple"]),
            (.where("weight", isGreaterThanOrEqualTo: 3), ["apple"]),
            (.order(by: "weight"), ["plum", "pear", "apple"]),
            (.order(by: "weight", descending: true), ["apple", "pear", "plum"]),
            (.limit(to: 1), ["apple"]),
        ]
    }

    @Test func `knows each predicate`() async throws {
        try await world { _, firestore in
            for (predicate, names) in Self.predicates {
                let query = predicate.applied(to: firestore.collection("fruits"))
                let rows = try await query.getDocuments()
                #expect(rows.documents.map(\.documentID) == names, "\(predicate)")
            }
        }
    }

    @Test func `knows the last rows`() async throws {
        try await world { _, firestore in
            let model = FirestoreQueryModel<[Fruit]>(
                path: "fruits", predicates: [.order(by: "weight"), .limit(toLast: 2)])
            model.listen(in: firestore)
            try await until { model.value.map(\.name) == ["pear", "apple"] }
        }
    }

    @Test func `shows none, or the others, when one cannot be decoded`() async throws {
        try await world { writer, firestore in
            try await writer.document("fruits/fig").setData(["nom": "figue"])
            let model = FirestoreQueryModel<[Fruit]>(path: "fruits")
            let results = FirestoreQueryModel<Result<[Fruit], any Error>>(path: "fruits")
            model.listen(in: firestore)
            results.listen(in: firestore)
            try await until { model.error != nil && results.error != nil }
            #expect(model.value.isEmpty)
            #expect((try? results.value.get()) == nil)
            model.configuration.decodingFailureStrategy = .ignore
            results.configuration.decodingFailureStrategy = .ignore
            try await until { model.value.count == 3 && (try? results.value.get().count) == 3 }
            #expect(model.error is DecodingError)
            try await writer.document("fruits/fig").delete()
            try await until { model.error == nil && results.error == nil }
            #expect(model.value.count == 3)
        }
    }

    @Test func `says why it cannot listen, and tries again`() async throws {
        try await world { _, firestore in
            let model = FirestoreQueryModel<[Fruit]>(
                path: "fruits", predicates: [.limit(to: 0)])
            model.listen(in: firestore)
            try await until { model.error != nil }
            #expect((model.error as? FirestoreError)?.code == .invalidArgument)
            model.configuration.predicates = [.limit(to: 1)]
            try await until { model.value.count == 1 }
            #expect(model.error == nil)
            let results = FirestoreQueryModel<Result<[Fruit], any Error>>(path: "fruits/a")
            results.listen(in: firestore)
            try await until { results.error != nil }
            #expect((try? results.value.get()) == nil)
        }
    }

    /// If the clients differed, each drawing of a view would use a new client, without an end.
    @Test func `of a client without a project is the same each time`() {
        let name = "no database has this name"
        #expect(Firestore.firestore(database: name) === Firestore.firestore(database: name))
    }
}

/// Counts the changes of the observed values.
@MainActor private final class Changes {
    private(set) var count = 0

    func count(_ look: @escaping @MainActor () -> Void) {
        withObservationTracking {
            look()
        } onChange: { [weak self] in
            Task { @MainActor in
                self?.count += 1
                self?.count(look)
            }
        }
    }
}
