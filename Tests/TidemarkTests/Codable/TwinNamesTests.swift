import Foundation
import Testing
import TidemarkModel
import TidemarkServer

@testable import Tidemark

/// Tests that a whole document that is written back as it was read keeps all fields, or is refused.
@Suite(.timeLimit(.minutes(2))) struct `Names that are one key of a dictionary` {
    private static let (composed, decomposed) = ("al\u{E0}", "ala\u{300}")

    private func withTwins(
        _ body: (DocumentReference, Firestore) async throws -> Void
    ) async throws {
        let server = try FirestoreServer(FirestoreServer.Configuration())
        let firestore = try Firestore.testing(server)
        let document = firestore.document("places/a")
        try await document.setData(["n": 1, "in": ["deep": true]])
        try await document.updateData([
            FieldPath([Self.composed]): 1, FieldPath([Self.decomposed]): 2,
            FieldPath(["in", Self.composed]): 3, FieldPath(["in", Self.decomposed]): 4,
        ])
        try await body(document, firestore)
        await firestore.terminate()
        server.close()
    }

    private func refusal(_ body: () async throws -> Void) async -> FirestoreError? {
        do {
            try await body()
            return nil
        } catch { return error as? FirestoreError }
    }

    private func values(_ document: DocumentReference) async throws -> [Int?] {
        let found = try await document.getDocument(source: .server)
        return [
            [Self.composed], [Self.decomposed], ["in", Self.composed], ["in", Self.decomposed],
        ].map { found.get(FieldPath($0)) as? Int }
    }

    @Test func `what data() has lost is not removed by a write of it`() async throws {
        try await withTwins { document, firestore in
            let found = try await document.getDocument()
            var data = try #require(found.data())
            #expect(data.count == 3, "n, in, and one of the two")
            data["n"] = 2
            #expect(await refusal { try await document.setData(data) } != nil)
            let batch = firestore.batch()
            batch.setData(data, forDocument: document)
            #expect(await refusal { try await batch.commit() } != nil)
            // The nested map is refused too.
            #expect(await refusal { try await document.updateData(["in": data["in"]!]) } != nil)
            let error = await refusal {
                try await document.setData(["in": data["in"]!], mergeFields: ["in"])
            }
            #expect(error?.code == .invalidArgument)
            #expect(error.map { "\($0)".contains("updateData") } == true)
            let transacted = await refusal {
                try await firestore.runTransaction { transaction in
                    let found = try await transaction.getDocument(document)
                    transaction.setData(found.data() ?? [:], forDocument: document)
                }
            }
            #expect(transacted?.code == .invalidArgument)
            #expect(try await values(document) == [1, 2, 3, 4])
        }
    }

    @Test func `what says what it means is written`() async throws {
        try await withTwins { document, _ in
            // The writes use merge, a path, and a named deletion.
            try await document.setData([Self.composed: 5], merge: true)
            try await document.updateData([FieldPath([Self.decomposed]): 6])
            #expect(try await values(document) == [5, 6, 3, 4])
            try await document.updateData([FieldPath([Self.decomposed]): FieldValue.delete()])
            #expect(try await values(document) == [5, nil, 3, 4])
            // The next writes are a whole document with neither name, and documents that never had
            // both.
            try await document.setData(["n": 1])
            try await document.setData([Self.composed: 7])
            try await document.setData([Self.decomposed: 8])
            #expect(try await values(document) == [nil, 8, nil, nil])
        }
    }

    @Test func `all fields are read and copied by their names`() async throws {
        try await withTwins { document, firestore in
            let found = try await document.getDocument()
            let names = found.fieldNames()
            #expect(
                names.map { Array($0.utf8) }
                    == [
                        Self.decomposed, Self.composed, "in", "n",
                    ].map { Array($0.utf8) })
            #expect(found.fieldNames(in: FieldPath(["in"])).count == 3)
            #expect(found.fieldNames(in: FieldPath(["n"])).isEmpty)
            let copy = firestore.document("places/b")
            try await copy.setData([:])
            var fields: [AnyHashable: Any] = [:]
            for name in names where name != "in" {
                fields[FieldPath([name])] = found.get(FieldPath([name]))
            }
            for name in found.fieldNames(in: FieldPath(["in"])) {
                fields[FieldPath(["in", name])] = found.get(FieldPath(["in", name]))
            }
            try await copy.updateData(fields)
            #expect(try await values(copy) == [1, 2, 3, 4])
        }
    }
}
