import Foundation
import SwiftProtobuf
import Testing
import TestSupport
import TidemarkModel
import TidemarkServer
import TidemarkTesting
import TidemarkTestKit

@testable import TidemarkWire

/// Sends the requests of the shared cases, as bytes, to our server and checks their effects.
@Suite(.enabled(if: SharedCases.corpus.isPlayed, "the shared conformance cases are not here"))
struct `The shared requests are executed` {
    private static let name = "projects/projectID/databases/(default)"
    private let names = Names(try! DatabaseID(project: "projectID"))
    private let context = CallContext(database: try! DatabaseID(project: "projectID"))

    /// Returns a server whose next commit is at 42 s, the time in the cases' preconditions.
    private func server() throws -> LocalFirestore {
        try LocalFirestore.start(
            projectID: "projectID", now: Timestamp(seconds: 42, nanoseconds: 0))
    }

    private func send(
        _ method: RPCMethod, _ message: any SwiftProtobuf.Message,
        to local: LocalFirestore
    ) async throws -> [Reply] {
        let bytes: [UInt8] = try message.serializedBytes()
        let decoded = try DecodedRequest(method, bytes)
        #expect(decoded.database == context.database)
        let received = Received<Reply>()
        _ = local.server.call(decoded.request, context, receive: received.sink)
        let status = await received.end()
        if status.code != .ok { throw status }
        return received.messages.all
    }

    private func seed(_ document: String, _ local: LocalFirestore) async throws {
        let old = PBDocument.with {
            $0.name = document
            $0.fields = ["old": .with { $0.integerValue = 1 }]
        }
        try await commit([.with { $0.update = try! old.serializedBytes() }], local)
    }

    @discardableResult
    private func commit(_ writes: [PBWrite], _ local: LocalFirestore) async throws -> CommitReply {
        var request = PBCommitRequest()
        request.database = Self.name
        request.writes = writes
        guard case .commit(let reply)? = try await send(.commit, request, to: local).first else {
            throw RPCStatus(.internal, "no reply")
        }
        return reply
    }

    private func fields(_ document: String, _ local: LocalFirestore) async throws -> MapValue? {
        var request = PBGetDocumentRequest()
        request.name = document
        do {
            let replies = try await send(.getDocument, request, to: local)
            guard case .document(let found)? = replies.first else { return nil }
            return found.fields
        } catch let status as RPCStatus where status.code == .notFound { return nil }
    }

    @Test func writes() async throws {
        var executed = 0
        for test in try SharedCases.all(["create", "set", "update", "updatePaths", "delete"]) {
            // If there is no request, the error is the client's: see `WriteConformanceTests`.
            guard let request: PBCommitRequest = try test.message("request") else {
                #expect(test.expectsError, "\(test.name)")
                continue
            }
            executed += 1
            let document = try #require(test.body["docRefPath"] as? String)
            let local = try server()
            let must = request.writes[0].currentDocument
            let needsOne = must.exists || must.namesTime
            if needsOne {
                let empty = try server()
                let refused = await #expect(throws: RPCStatus.self, "\(test.name)") {
                    try await send(.commit, request, to: empty)
                }
                let code: RPCStatus.Code? = must.namesTime ? .failedPrecondition : .notFound
                #expect(refused?.code == code, "\(test.name): \(refused as Any)")
                await empty.stop()
                try await seed(document, local)
            }
            guard case .commit(let reply)? = try await send(.commit, request, to: local).first
            else { continue }
            #expect(reply.results.count == request.writes.count, "\(test.name)")
            try await checkEffect(
                of: request.writes[0], on: needsOne ? ["old": .integer(1)] : [:],
                at: reply.commitTime, document, local, test.name)
            if must.namesTime || (must.conditionType != nil && !must.exists) {
                // After the write, its precondition no longer holds.
                let again = await #expect(throws: RPCStatus.self, "\(test.name)") {
                    try await send(.commit, request, to: local)
                }
                let code: RPCStatus.Code =
                    must.namesTime ? .failedPrecondition : .alreadyExists
                #expect(again?.code == code, "\(test.name)")
            }
            await local.stop()
        }
        #expect(executed == 90, "the cases have moved")
    }

    /// Compares the whole document with the one that the write describes: the old fields, the
    /// fields that the write sets, then its transforms.
    private func checkEffect(
        of write: PBWrite, on old: MapValue, at time: Timestamp, _ document: String,
        _ local: LocalFirestore, _ name: String
    ) async throws {
        let after = try await fields(document, local)
        if case .delete? = write.operation {
            #expect(after == nil, "\(name)")
            return
        }
        let update = try PBDocument(serializedBytes: write.update)
        #expect(update.name.utf8.elementsEqual(document.utf8), "\(name)")
        let given = try write.update.withUnsafeBytes { try DocumentCodec.decode($0) }.contents
            .decoded
        var wanted = write.hasUpdateMask ? old : given
        for text in write.updateMask.fieldPaths {
            let field = try FieldPath(wire: text)
            wanted[field] = given[field]
        }
        for transform in write.updateTransforms {
            let field = try FieldPath(wire: transform.fieldPath)
            let decoded = try FieldTransformMessage(wire: transform.wireBytes).decoded()
            wanted[field] = try result(of: decoded.operation, on: wanted[field], time)
        }
        #expect(after == wanted, "\(name)")
    }

    private func result(
        of operation: FieldTransform.Operation, on old: Value?, _ time: Timestamp
    ) throws -> Value {
        var values: [Value] = []
        if case .array(let old)? = old { values = old }
        switch operation {
        case .serverTimestamp:
            // Server timestamps have a precision of a millisecond. Source: server-protocol 1.2.
            let part = time.nanoseconds / 1_000_000 * 1_000_000
            return .timestamp(Timestamp(seconds: time.seconds, nanoseconds: part))
        case .arrayUnion(let added):
            for value in added where !values.contains(value) { values.append(value) }
            return .array(values)
        case .arrayRemove(let removed): return .array(values.filter { !removed.contains($0) })
        case .increment, .maximum, .minimum:
            throw SharedCases.Unknown(text: "a transform that no case had: \(operation)")
        }
    }

    @Test func get() async throws {
        for test in try SharedCases.all(["get"]) {
            let request: PBGetDocumentRequest = try #require(try test.message("request"))
            let local = try server()
            let missing = await #expect(throws: RPCStatus.self) {
                try await send(.getDocument, request, to: local)
            }
            #expect(missing?.code == .notFound)
            try await seed(request.name, local)
            let found = try await send(.getDocument, request, to: local)
            guard case .document(let document)? = found.first else { continue }
            #expect(names.name(document.path).utf8.elementsEqual(request.name.utf8))
            await local.stop()
        }
    }

    @Test func queries() async throws {
        let local = try server()
        for row in 0..<12 {
            let document = PBDocument.with {
                $0.name = Self.name + "/documents/C/D\(row)"
                $0.fields = [
                    "a": .with { $0.integerValue = Int64(row) },
                    "b": .with { $0.stringValue = row.isMultiple(of: 2) ? "foo" : "bar" },
                ]
            }
            try await commit([.with { $0.update = try! document.serializedBytes() }], local)
        }
        var executed = 0
        for test in try SharedCases.all(["query"]) {
            guard var json = test.body["query"] as? [String: Any] else {
                #expect(test.expectsError, "\(test.name)")
                continue
            }
            executed += 1
            // The cases wrap this number in an object. Protobuf's JSON has the number itself.
            if let limit = json["limit"] as? [String: Any] { json["limit"] = limit["value"] }
            var request = PBRunQueryRequest()
            request.parent = Self.name + "/documents"
            request.structuredQuery = try SharedCases.message(json)
            try await check(request, local, test.name)
        }
        #expect(executed == 23, "the cases have moved")
        await local.stop()
    }

    /// Compares the answer with the tests' own filtering and sorting of all documents.
    private func check(
        _ request: PBRunQueryRequest, _ local: LocalFirestore, _ name: String
    ) async throws {
        let bytes: [UInt8] = try request.serializedBytes()
        guard case .runQuery(let run) = try DecodedRequest(.runQuery, bytes).request else {
            Issue.record("\(name) is no query")
            return
        }
        var all = run
        all.query = Query(collectionID: "C")
        let rows = await replies(.runQuery(all), local).compactMap(\.document)
        var whole = run.query
        whole.projection = nil
        let expected = QueryOracle(whole, in: context.database).rows(of: rows).map(\.path)
        let actual = try await send(.runQuery, request, to: local).compactMap { reply in
            if case .runQuery(let row) = reply { row.document?.path } else { nil }
        }
        #expect(actual == expected, "\(name)")
    }

    private func replies(_ request: Request, _ local: LocalFirestore) async -> [RunQueryReply] {
        let received = Received<Reply>()
        _ = local.server.call(request, context, receive: received.sink)
        _ = await received.end()
        return received.messages.all.compactMap { reply in
            if case .runQuery(let row) = reply { row } else { nil }
        }
    }
}

extension PBPrecondition {
    fileprivate var namesTime: Bool {
        if case .updateTime? = conditionType { true } else { false }
    }
}
