import Synchronization
import TidemarkModel
import TidemarkStore

extension FirestoreServer {
    /// The label under which the deletes of expired documents are counted.
    package static let expiryLabel = "time-to-live"

    /// Takes an event of the search for expired documents, and performs its effects. Has no effect
    /// without a policy.
    func stepExpiry(_ event: ExpiryMachine.Event) {
        guard let expiry else { return }
        for effect in expiry.machine.withLock({ $0.step(event) }) {
            switch effect {
            case .find(let most):
                executor.async { [weak self] in self?.findExpired(expiry.policies, most: most) }
            case .delete(let documents): delete(documents)
            case .startTimer(let number):
                executor.after(ExpiryMachine.pause) { [weak self] in
                    self?.stepExpiry(.timer(number))
                }
            }
        }
    }

    private func findExpired(_ policies: [ExpiryPolicy], most: Int) {
        if inbox.withLock({ $0.isClosed }) { return }
        // A search that fails is repeated after the pause.
        let found = try? core.withLock { core throws in
            try core.expired(policies, most: most)
        }
        stepExpiry(.found(found ?? []))
    }

    /// Deletes the documents of the first one's database, each by a write of its own. Others wait
    /// for the next part. A document that has changed since is kept, because its time can be
    /// another one.
    private func delete(_ documents: [ExpiredDocument]) {
        let database = documents[0].database
        let part = documents.filter { $0.database == database }
        let mutations = part.map {
            Mutation(path: $0.path, .delete, precondition: .updateTime($0.updateTime))
        }
        let context = CallContext(
            database: database, label: Self.expiryLabel, token: RulesIdentity.owner)
        let results = Mutex<[BatchWriteResult]>([])
        let request = Request.batchWrite(BatchWriteRequest(mutations: mutations))
        _ = call(request, context) { [weak self] event in
            switch event {
            case .message(.batchWrite(let received)): results.withLock { $0 = received }
            case .message: break
            case .ended:
                let received = results.withLock { $0 }
                let kept = part.indices.filter {
                    !received.indices.contains($0) || received[$0].status.code != .ok
                }
                self?.stepExpiry(.tried(kept: kept.map { part[$0] }))
            }
        }
    }
}

/// The policies of time to live, and the state of the search.
final class Expiry: Sendable {
    let policies: [ExpiryPolicy]
    let machine = Mutex(ExpiryMachine())

    /// Returns nil without a policy.
    init?(_ policies: [ExpiryPolicy]) {
        if policies.isEmpty { return nil }
        self.policies = policies
    }
}

extension ServerCore {
    /// Returns versions of documents whose time has passed, by the server's clock.
    ///
    /// - Parameter most: The maximum number of documents.
    func expired(_ policies: [ExpiryPolicy], most: Int) throws -> [ExpiredDocument] {
        let now = clocks.now
        let databases = clocks.states.filter { $0.value.rowID != nil }.keys
            .sorted { $0.name.precedesInBytes($1.name) }
        return try store.read { transaction in
            var found: [ExpiredDocument] = []
            for database in databases {
                let table = transaction.documents(of: database)
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
