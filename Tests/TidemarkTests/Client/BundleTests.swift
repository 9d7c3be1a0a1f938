import Foundation
import Testing
import TidemarkServer

@testable import Tidemark

/// Tests bundles in the format of a server's library.
@Suite(.timeLimit(.minutes(2))) struct `A bundle` {
    private static let root = "projects/projectID/databases/(default)/documents"
    private static let time = "2026-11-21T10:00:00.000001Z"

    private static func element(_ json: String) -> String { "\(json.utf8.count)\(json)" }

    private static func metadata(_ time: String = time) -> String {
        element(
            #"{"metadata":{"id":"b","createTime":"\#(time)","version":1,"totalDocuments":2,"#
                + #""totalBytes":"900"}}"#)
    }

    private static func document(_ id: String, _ fields: String, time: String = time) -> String {
        element(
            #"{"documentMetadata":{"name":"\#(root)/rooms/\#(id)","readTime":"\#(time)","#
                + #""exists":true,"queries":["all"]}}"#)
            + element(
                #"{"document":{"name":"\#(root)/rooms/\#(id)","createTime":"\#(time)","#
                    + #""updateTime":"\#(time)","fields":{\#(fields)}}}"#)
    }

    private static let query = element(
        #"{"namedQuery":{"name":"all","readTime":"\#(time)","bundledQuery":{"parent":"\#(root)","#
            + #""limitType":"LAST","structuredQuery":{"from":[{"collectionId":"rooms"}],"where":"#
            + #"{"compositeFilter":{"op":"AND","filters":[{"fieldFilter":{"field":{"fieldPath":"n"},"#
            + #""op":"GREATER_THAN","value":{"integerValue":"0"}}},{"unaryFilter":{"op":"IS_NOT_NAN","#
            + #""field":{"fieldPath":"n"}}}]}},"orderBy":[{"field":{"fieldPath":"n"},"direction":"#
            + #""DESCENDING"}],"limit":{"value":2}}}}}"#)

    private func offline(_ body: (Firestore) async throws -> Void) async throws {
        let firestore = try Firestore.testing(Unconnected())
        do { try await body(firestore) } catch {
            await firestore.terminate()
            throw error
        }
        await firestore.terminate()
    }

    @Test func `keeps names that differ only in how an accent is composed`() async throws {
        try await offline { firestore in
            let fields = "\"\u{E9}\":{\"integerValue\":1},\"e\u{301}\":{\"integerValue\":2}"
            let bundle =
                Self.metadata()
                + Self.document("a", fields + #","m":{"mapValue":{"fields":{\#(fields)}}}"#)
            try await firestore.loadBundle(Data(bundle.utf8))
            let room = try await firestore.document("rooms/a").getDocument(source: .cache)
            let both = MapValue([("\u{E9}", .integer(1)), ("e\u{301}", .integer(2))])
            #expect(room.fields?["\u{E9}"] == .integer(1))
            #expect(room.fields?["e\u{301}"] == .integer(2))
            #expect(room.fields?["m"] == .map(both))
        }
    }

    @Test func `is read offline: documents, and queries by name`() async throws {
        try await offline { firestore in
            let bundle =
                Self.metadata() + Self.query + Self.document("a", #""n":{"integerValue":"1"}"#)
                + Self.document("b", #""n":{"integerValue":2},"t":{"stringValue":"å"}"#)
            let progress = try await firestore.loadBundle(Data(bundle.utf8))
            #expect(progress.state == .success && progress.documentsLoaded == 2)
            #expect(progress.totalDocuments == 2 && progress.totalBytes == 900)
            let room = try await firestore.document("rooms/b").getDocument(source: .cache)
            #expect(room["n"] as? Int == 2 && room["t"] as? String == "å")
            let query = try #require(try await firestore.getQuery(named: "all"))
            let value = try query.value.get()
            #expect(value.limit == .last(2) && value.orders.count == 1)
            #expect(
                try await query.getDocuments(source: .cache).documents.map(\.documentID)
                    == ["b", "a"])
            #expect(try await firestore.getQuery(named: "none") == nil)
        }
    }

    @Test func `does not take the place of anything newer`() async throws {
        try await offline { firestore in
            let new = "2026-11-21T10:00:09Z"
            let first =
                Self.metadata() + Self.document("a", #""n":{"integerValue":"1"}"#, time: new)
            try await firestore.loadBundle(Data(first.utf8))
            let older =
                Self.metadata("2026-11-21T11:00:00Z")
                + Self.document("a", #""n":{"integerValue":"0"}"#)
            try await firestore.loadBundle(Data(older.utf8))
            let room = try await firestore.document("rooms/a").getDocument(source: .cache)
            #expect(room["n"] as? Int == 1)
            let same = Self.metadata() + Self.document("c", #""n":{"integerValue":"3"}"#)
            try await firestore.loadBundle(Data(same.utf8))
            await #expect(throws: FirestoreError.self) {
                try await firestore.document("rooms/c").getDocument(source: .cache)
            }
        }
    }

    @Test func `that is damaged is refused, and nothing of it is loaded`() async throws {
        try await offline { firestore in
            let good = Self.metadata() + Self.document("a", #""n":{"integerValue":"1"}"#)
            var bad = (0..<good.utf8.count).map {
                String(decoding: good.utf8.prefix($0), as: UTF8.self)
            }
            // A text cut between two elements is a valid bundle, unless the bundle announced a
            // document.
            bad.removeAll { $0 == Self.metadata() }
            bad += [
                "{}", "2{}", good.replacingOccurrences(of: "projectID", with: "another_p"),
                Self.document("a", ""), good + "999999999999999{", good + "17{\"nothing\":null}}",
                good.replacingOccurrences(of: "\"version\":1", with: "\"version\":9"),
            ]
            for text in bad {
                do throws(FirestoreError) {
                    try await firestore.loadBundle(Data(text.utf8))
                    Issue.record("taken: \(text)")
                } catch { #expect(error.code == .invalidArgument, "\(error)") }
            }
            await #expect(throws: FirestoreError.self) {
                try await firestore.document("rooms/a").getDocument(source: .cache)
            }
        }
    }
}
