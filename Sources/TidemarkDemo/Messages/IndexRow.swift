import ExampleKit
import Foundation
import MessagesCore
import Tidemark
import TidemarkModel
import TidemarkResilience

/// The messages of a conversation need a composite index. A developer runs the query once on a
/// local server; then the query runs in production, which has the indexes of the file.
struct IndexRow: ScenarioRow {
    let slug = "index"
    let name = "a query whose composite index nobody made"
    let bar = Bar(
        showsContentOffline: false,
        most: ["not found in development": 0, "refused though it has its index": 0])

    private static let conversation = "blue"

    let seed: [Mutation] = []

    /// Predicts no reads.
    func forecast(_ firestore: Firestore) async throws -> Forecast? { Forecast() }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let folder = visit.place.folder
        let file = folder.appendingPathComponent("firestore.indexes.json")
        try Data(#"{"indexes": [], "fieldOverrides": []}"#.utf8).write(to: file)
        // The local server before Tidemark ran every query, with or without an index.
        let options = side == .before ? [] : ["--indexes", file.path]
        let isRefused = try await run(side, visit: visit, folder: "first", options: options).isEmpty
        visit.measured("not found in development", isRefused ? 0 : 1)
        try Data(ExampleIndexes.messages.text.utf8).write(to: file)
        let shown = try await run(side, visit: visit, folder: "second", options: options)
        visit.measured("refused though it has its index", shown.isEmpty ? 1 : 0)
        visit.isUpToDate()
        return shown
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        Truth(living: ["first": .min])
    }

    /// Runs the app once against a developer's local server, on the network of the visit.
    ///
    /// - Returns: The items; empty if the query was refused for its missing index.
    private func run(
        _ side: Side, visit: Visit, folder: String, options: [String]
    ) async throws -> [ShownItem] {
        let data = visit.place.folder.appendingPathComponent(folder)
        let server = try await ServerProcess(
            data: data, options: options + ["--network", "healthy"])
        defer { server.stop() }
        let direct = DirectServer(server)
        try await direct.play([message])
        await direct.close()
        let network = visit.network
        let faults = network.faults(label: visit.label)
        try await server.order(network.profile, rules: faults.map(\.rule))
        let place = DemoPlace(port: server.port, accounts: server.accountsPort, folder: data)
        let own = Visit(
            network: network, place: place, side: side, labels: visit.labels, server: server,
            direct: direct, faults: faults,
            clock: NetworkClock(Timestamp().seconds, server))
        do {
            let shown =
                switch side {
                case .before, .filtered: try await query(own)
                case .after: try await open(own)
                }
            _ = await own.end()
            return shown
        } catch {
            _ = await own.end()
            throw error
        }
    }

    private func query(_ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        let query = Conversation.newestFirst(of: Self.conversation, firestore)
            .limit(to: Conversation.pageSize)
        do {
            let found = try await visit.retrying {
                try await query.getDocuments(source: .server, within: .seconds(20))
            }
            return found.documents.map { ShownItem(id: $0.documentID, version: .min) }
        } catch let error as RetryError {
            let refusal = error.last as? FirestoreError
            if refusal?.code != .failedPrecondition { throw error }
            return []
        }
    }

    /// Waits until the screen reports the refusal or shows the server's content.
    @MainActor
    private func open(_ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        let model = try MessagesApp(firestore, me: Membership.user)
            .conversation(Self.conversation)
        defer { model.close() }
        try await untilShown {
            if case .failed(let error) = model.messages.phase {
                return error.code == .failedPrecondition
            }
            return model.messages.isUpToDate
        }
        return model.shown.map { ShownItem(id: $0.id ?? "", version: .min) }
    }

    private var message: Mutation {
        Mutation(
            path: DocumentPath(unchecked: Conversation.messages.text + "/first"),
            .set([
                Conversation.idField: .string(Self.conversation),
                ItemFields.author: .string("grace"),
                ItemFields.text: .string("Hello"),
                Conversation.timestamp: .timestamp(Timestamp(seconds: 0, nanoseconds: 0)),
            ]))
    }
}
