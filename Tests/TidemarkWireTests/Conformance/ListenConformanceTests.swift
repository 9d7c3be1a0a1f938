import Foundation
import SwiftProtobuf
import Testing
import TestSupport
import TidemarkModel

@testable import TidemarkSync
@testable import TidemarkWire

/// Replays the listen scripts of the shared cases, as bytes, through our client's watch
/// aggregation.
///
/// The scripts are for listeners of one target, number 1. They often omit the number, and the
/// replay inserts it. The query is `C` ordered by `a`.
@Suite(.enabled(if: SharedCases.corpus.isPlayed, "the shared conformance cases are not here"))
struct `The shared listen scripts are replayed` {
    @Test func listens() throws {
        let cases = try SharedCases.all(["listen"])
        #expect(cases.count == 12, "the cases have moved")
        for test in cases {
            var replay = Replay()
            for json in test.body["responses"] as? [[String: Any]] ?? [] {
                let message: PBListenResponse = try SharedCases.message(withTarget(json))
                try replay.receive(message.serializedBytes())
            }
            if test.expectsError {
                // Our client ignores an ADD of an unknown target: it uses each id once, so a late
                // answer to an earlier listen may arrive at any time. The ADD must change nothing.
                let isStray = test.name == "listen-target-add-wrong-id.json"
                #expect(replay.isRejected != isStray, "\(test.name)")
                #expect(isStray || replay.snapshots.isEmpty, "\(test.name)")
                continue
            }
            #expect(!replay.isRejected, "\(test.name)")
            let expected = try (test.body["snapshots"] as? [[String: Any]] ?? [])
                .map { try Snapshot(json: $0) }
            #expect(replay.snapshots == expected, "\(test.name)")
        }
    }

    private func withTarget(_ json: [String: Any]) -> [String: Any] {
        var json = json
        for (key, name) in [
            ("documentDelete", "removedTargetIds"), ("documentRemove", "removedTargetIds"),
        ] {
            guard var body = json[key] as? [String: Any], body[name] == nil else { continue }
            body[name] = [1]
            json[key] = body
        }
        if var filter = json["filter"] as? [String: Any], filter["targetId"] == nil {
            filter["targetId"] = 1
            json["filter"] = filter
        }
        return json
    }
}

/// A snapshot as a listener receives it.
private struct Snapshot: Equatable {
    struct Change: Equatable {
        let kind: String
        let document: Document
        let oldIndex: Int
        let newIndex: Int
    }

    var documents: [Document]
    var changes: [Change]
    var readTime: Timestamp

    init(documents: [Document], changes: [Change], readTime: Timestamp) {
        self.documents = documents
        self.changes = changes
        self.readTime = readTime
    }

    init(json: [String: Any]) throws {
        func document(_ json: Any?) throws -> Document {
            let message: PBDocument = try SharedCases.message(json ?? [:])
            let bytes: [UInt8] = try message.serializedBytes()
            let wire = try bytes.withUnsafeBytes { try DocumentCodec.decode($0) }
            return Document(
                path: try Replay.names.document(wire.name), contents: wire.contents,
                createTime: wire.createTime ?? .epoch, updateTime: wire.updateTime ?? .epoch)
        }
        let boundary: PBTargetChange = try SharedCases.message(["readTime": json["readTime"] ?? ""])
        documents = try (json["docs"] as? [Any] ?? []).map { try document($0) }
        changes = try (json["changes"] as? [[String: Any]] ?? []).map {
            Change(
                kind: $0["kind"] as? String ?? "", document: try document($0["doc"]),
                oldIndex: $0["oldIndex"] as? Int ?? 0, newIndex: $0["newIndex"] as? Int ?? 0)
        }
        readTime = Timestamp(
            seconds: boundary.readTime.seconds, nanoseconds: boundary.readTime.nanos)
    }
}

/// The aggregation, and the part of a view that separates its events.
private struct Replay {
    static let names = Names(try! DatabaseID(project: "projectID"))
    private static let query = Query(
        collectionID: "C", orders: [Order(FieldPath(unchecked: ["a"]))])

    private var aggregator = WatchAggregator(database: names.database)
    private var held: [DocumentPath: Document] = [:]
    private var shown: [Document] = []
    private(set) var snapshots: [Snapshot] = []
    private(set) var isRejected = false

    init() {
        step(.listening(wireID: 1, targetID: 1, .query(Self.query)))
        step(.received(.targetChange(TargetChange(.add, targetIDs: [1]))))
    }

    mutating func receive(_ bytes: [UInt8]) throws {
        step(.received(try ListenCoder(Self.names).response(bytes)))
    }

    private mutating func step(_ event: WatchAggregator.Event) {
        let keys = Set(held.keys)
        for effect in aggregator.step(event, remoteKeys: { _ in keys }) {
            switch effect {
            case .rejected: isRejected = true
            case .raise(let event): raise(event)
            }
        }
        // If the server removes the target without a cause, the aggregation drops the target and
        // raises nothing more for it.
        if aggregator.targets[1] == nil { isRejected = true }
    }

    private mutating func raise(_ event: RemoteEvent) {
        guard let delta = event.targets[1] else { return }
        for path in delta.removed { held[path] = nil }
        for path in delta.added.union(delta.modified) {
            guard case .found(let document)? = event.documents[path] else { continue }
            held[path] = document
        }
        guard delta.isCurrent else { return }
        let rows = held.values.sorted {
            Self.query.compare(
                ($0.path, $0.fields), ($1.path, $1.fields), in: Self.names.database)
                == .ascending
        }
        let changes = changes(to: rows)
        if changes.isEmpty, !snapshots.isEmpty { return }
        snapshots.append(
            Snapshot(documents: rows, changes: changes, readTime: event.version))
        shown = rows
    }

    /// Returns removals, additions and modifications. Each index assumes that the earlier changes
    /// are applied. Versions differ by their update times.
    private func changes(to rows: [Document]) -> [Snapshot.Change] {
        var list = shown
        var changes: [Snapshot.Change] = []
        func place(_ document: Document) -> Int {
            list.firstIndex {
                Self.query.compare(
                    (document.path, document.fields), ($0.path, $0.fields),
                    in: Self.names.database) == .ascending
            } ?? list.count
        }
        let now = Dictionary(uniqueKeysWithValues: rows.map { ($0.path, $0) })
        for document in shown where now[document.path] == nil {
            let index = list.firstIndex { $0.path == document.path }!
            list.remove(at: index)
            changes.append(
                .init(kind: "REMOVED", document: document, oldIndex: index, newIndex: -1))
        }
        let before = Dictionary(uniqueKeysWithValues: shown.map { ($0.path, $0) })
        for document in rows where before[document.path] == nil {
            let index = place(document)
            list.insert(document, at: index)
            changes.append(
                .init(kind: "ADDED", document: document, oldIndex: -1, newIndex: index))
        }
        for document in rows {
            guard let old = before[document.path], old.updateTime != document.updateTime else {
                continue
            }
            let from = list.firstIndex { $0.path == document.path }!
            list.remove(at: from)
            let index = place(document)
            list.insert(document, at: index)
            changes.append(
                .init(kind: "MODIFIED", document: document, oldIndex: from, newIndex: index))
        }
        return changes
    }
}
