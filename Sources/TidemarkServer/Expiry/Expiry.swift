import Synchronization
import TidemarkModel
import TidemarkStore

/// Searches for expired documents and deletes them: performs the effects of ``ExpiryMachine`` on
/// the server's executor.
final class Expiry: Sendable {
    /// The label under which the deletes are counted.
    static let label = "time-to-live"

    private let machine = Mutex(ExpiryMachine())

    /// No search begins while no database has a policy.
    func step(_ event: ExpiryMachine.Event, on server: FirestoreServer) {
        switch event {
        case .clockSet, .timer:
            if !server.core.withLock({ $0.indexes.hasExpiryPolicies }) { return }
        case .found, .tried: break
        }
        for effect in machine.withLock({ $0.step(event) }) {
            switch effect {
            case .find(let most):
                server.executor.async { [weak server, self] in
                    if let server { find(most: most, on: server) }
                }
            case .delete(let documents): delete(documents, on: server)
            case .startTimer(let number):
                server.executor.after(ExpiryMachine.pause) { [weak server, self] in
                    if let server { step(.timer(number), on: server) }
                }
            }
        }
    }

    private func find(most: Int, on server: FirestoreServer) {
        if server.inbox.withLock({ $0.isClosed }) { return }
        // A search that fails is repeated after the pause.
        let found = try? server.core.withLock { core throws in
            try core.expired(most: most)
        }
        step(.found(found ?? []), on: server)
    }

    /// Deletes the documents of one database, that of the first document, each by a write of its
    /// own. The documents of other databases wait for the next part. A document that has changed
    /// since the search is kept, because its time can have changed too.
    private func delete(_ documents: [ExpiredDocument], on server: FirestoreServer) {
        let database = documents[0].database
        let part = documents.filter { $0.database == database }
        let mutations = part.map {
            Mutation(path: $0.path, .delete, precondition: .updateTime($0.updateTime))
        }
        let context = CallContext(
            database: database, label: Self.label, token: RulesIdentity.owner)
        let results = Mutex<[BatchWriteResult]>([])
        let request = Request.batchWrite(BatchWriteRequest(mutations: mutations))
        _ = server.call(request, context) { [weak server, self] event in
            switch event {
            case .message(.batchWrite(let received)): results.withLock { $0 = received }
            case .message: break
            case .ended:
                let received = results.withLock { $0 }
                let kept = part.indices.filter {
                    !received.indices.contains($0) || received[$0].status.code != .ok
                }
                if let server { step(.tried(kept: kept.map { part[$0] }), on: server) }
            }
        }
    }
}

extension ServerCore {
    /// Returns versions of documents whose time has passed, by the server's clock.
    ///
    /// - Parameter most: The maximum number of documents.
    func expired(most: Int) throws -> [ExpiredDocument] {
        let now = clocks.now
        let databases = clocks.states.filter { $0.value.rowID != nil }.keys
            .sorted { $0.name.precedesInBytes($1.name) }
        return try store.read { transaction in
            var found: [ExpiredDocument] = []
            for database in databases {
                let table = transaction.documents(of: database)
                let policies = indexes.expiryPolicies(of: database)
                for policy in policies where found.count < most {
                    let query = policy.expired(at: now, most: most - found.count)
                    for row in try table.run(query).documents {
                        guard let document = row.document else { continue }
                        found.append(
                            ExpiredDocument(
                                database: database, path: document.path,
                                updateTime: document.updateTime))
                    }
                }
            }
            return found
        }
    }
}
