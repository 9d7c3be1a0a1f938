import ChatsCore
import Observation
import Synchronization
import Tidemark
import TidemarkApp
import TidemarkModel

/// Documents with one listener each. One document is written again without a change, and one
/// changes.
struct SingleDocumentsRow: ScenarioRow {
    private static let names = ["report", "settings", "subscription", "game", "call"]
    private static let state = "state"

    let slug = "single-documents"
    /// A single document is no list, so there is nothing to filter by.
    let isFilteredAsBefore = true
    let name = "report, settings, subscription, game and call, one document each"
    var bar: Bar {
        Bar(
            // The reads are one for each document and one for each of the two writes.
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

    /// Predicts one read for each document, and the two writes while they are on the screen.
    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        let written = WrittenDocuments(seed + changes)
        var forecast = Forecast()
        for (document, row) in zip(seed, written.rows(seed.map(\.path))) {
            forecast.add(document.path.id, .document(bytes: row.documentBytes))
        }
        forecast.addUpdates(
            "changes on the open screen", of: written.rows(changes.map(\.path)))
        return forecast
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        let log = Log(Self.names)
        switch side {
        case .before, .filtered: try await listen(firestore, visit: visit, log: log)
        case .after: try await watch(firestore, visit: visit, log: log)
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

    /// Plays the app as it was: it shows every snapshot of each listener.
    private func listen(_ firestore: Firestore, visit: Visit, log: Log) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in Self.names {
                let document = document(name, firestore)
                group.addTask {
                    for try await snapshot in document.snapshots {
                        let value = snapshot.fields?[Self.state]
                        guard case .string(let state)? = value else { continue }
                        visit.sawContent()
                        log.notify(name, state)
                    }
                }
            }
            try await visit.untilOnline()
            await log.until { $0.values.allSatisfy { !$0.isEmpty } }
            // The listeners are live when each has a snapshot from the server.
            for document in Self.names {
                let reference = self.document(document, firestore)
                for try await snapshot in reference.snapshots(includeMetadataChanges: true) {
                    if !snapshot.metadata.isFromCache { break }
                }
            }
            try await visit.happens(changes)
            await log.until { $0["call"]?.last == "ringing" }
            group.cancelAll()
        }
    }

    @MainActor
    private func watch(_ firestore: Firestore, visit: Visit, log: Log) async throws {
        let states = ChatsApp(firestore, me: Membership.user).states()
        defer { withExtendedLifetime(states) {} }
        for name in ChatsApp.Single.allCases { follow(name, of: states, visit: visit, log: log) }
        try await visit.untilOnline()
        try await untilShown { states.isFresh }
        try await visit.happens(changes)
        await log.until { $0["call"]?.last == "ringing" }
    }

    /// Records the state that a view of one document shows, each time that the view is drawn.
    @MainActor
    private func follow(
        _ name: ChatsApp.Single, of states: StatesModel, visit: Visit, log: Log
    ) {
        let state = withObservationTracking {
            states.state(of: name)
        } onChange: { [weak states] in
            Task { @MainActor in
                if let states { follow(name, of: states, visit: visit, log: log) }
            }
        }
        guard let value = state.value else { return }
        visit.sawContent()
        log.notify(name.rawValue, value.state)
    }

    private var changes: [Mutation] {
        [Self.write("settings", "quiet"), Self.write("call", "ringing")]
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

/// The states that the screens showed, by document.
private final class Log: Sendable {
    private let state: Mutex<[String: [String]]>
    private let changes: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation

    init(_ names: [String]) {
        state = Mutex(Dictionary(uniqueKeysWithValues: names.map { ($0, []) }))
        (changes, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var told: [String: [String]] { state.withLock { $0 } }

    func notify(_ name: String, _ value: String) {
        state.withLock { $0[name, default: []].append(value) }
        changed.yield()
    }

    func until(_ isSought: @Sendable ([String: [String]]) -> Bool) async {
        if isSought(told) { return }
        for await _ in changes where isSought(told) { return }
    }
}
