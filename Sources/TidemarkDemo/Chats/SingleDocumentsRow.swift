import Synchronization
import Tidemark
import TidemarkApp
import TidemarkModel

/// Documents that are listened to one by one. One is written again as it was, and one changes.
struct SingleDocumentsRow: ScenarioRow {
    private static let names = ["report", "settings", "subscription", "game", "call"]
    private static let state = "state"

    /// What the app makes of one.
    private struct Shown: Codable, Equatable, Sendable {
        let state: String
    }

    let slug = "single-documents"
    let name = "report, settings, subscription, game and call, one document each"
    var bar: Bar {
        Bar(
            // Each once, and each of the two writes.
            reads: Self.names.count + 2, exactly: ["told though nothing changed": 0])
    }

    private static let collection = CollectionPath(unchecked: "users/ada/state")

    private static func write(_ name: String, _ state: String) -> Mutation {
        Mutation(
            path: DocumentPath(unchecked: "\(collection.text)/\(name)"),
            .set([Self.state: .string(state)]),
            transforms: [FieldTransform(FieldPath(name: ItemFields.updatedAt), .serverTimestamp)])
    }

    var seed: [Mutation] { Self.names.map { Self.write($0, "quiet") } }

    func lastUse(_ side: Side, _ firestore: Firestore) async throws {
        for name in Self.names {
            for try await snapshot in document(name, firestore).snapshots where snapshot.exists {
                if !snapshot.metadata.isFromCache { break }
            }
        }
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        let log = Log(Self.names)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in Self.names {
                let document = document(name, firestore)
                group.addTask {
                    switch side {
                    case .before:
                        for try await snapshot in document.snapshots {
                            let value = snapshot.fields?[Self.state]
                            guard case .string(let state)? = value else { continue }
                            visit.sawContent()
                            log.tell(name, state)
                        }
                    case .after:
                        for try await state in document.values(as: Shown.self) {
                            guard let value = state.value else { continue }
                            visit.sawContent()
                            log.tell(name, value.state)
                        }
                    }
                }
            }
            try await visit.untilOnline()
            await log.until { $0.values.allSatisfy { !$0.isEmpty } }
            // Everything is live once a change of each kind has come.
            for document in Self.names {
                let reference = self.document(document, firestore)
                for try await snapshot in reference.snapshots(includeMetadataChanges: true) {
                    if !snapshot.metadata.isFromCache { break }
                }
            }
            try await visit.happens([
                Self.write("settings", "quiet"), Self.write("call", "ringing"),
            ])
            await log.until { $0["call"]?.last == "ringing" }
            group.cancelAll()
        }
        visit.isUpToDate()
        let told = log.told
        let repeated = told.values.reduce(0) { sum, states in
            sum + zip(states, states.dropFirst()).count { $0 == $1 }
        }
        visit.measured("told though nothing changed", Double(repeated))
        return told.compactMap { name, states in
            states.last.map { ShownItem(id: "\(name) is \($0)", version: .min) }
        }
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        var living: [String: Timestamp] = [:]
        for document in try await server.documents(in: Self.collection) {
            guard case .string(let state)? = document.fields[Self.state] else { continue }
            living["\(document.path.id) is \(state)"] = .min
        }
        return Truth(living: living)
    }

    private func document(_ name: String, _ firestore: Firestore) -> DocumentReference {
        firestore.document("\(Self.collection.text)/\(name)")
    }
}

/// What screens were told, document by document.
private final class Log: Sendable {
    private let state: Mutex<[String: [String]]>
    private let changes: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation

    init(_ names: [String]) {
        state = Mutex(Dictionary(uniqueKeysWithValues: names.map { ($0, []) }))
        (changes, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var told: [String: [String]] { state.withLock { $0 } }

    func tell(_ name: String, _ value: String) {
        state.withLock { $0[name, default: []].append(value) }
        changed.yield()
    }

    func until(_ isSought: ([String: [String]]) -> Bool) async {
        if isSought(told) { return }
        for await _ in changes where isSought(told) { return }
    }
}
