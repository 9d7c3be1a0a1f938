import Synchronization
package import TidemarkModel
package import TidemarkRules
import TidemarkStore

/// The decision of storage rules about a request for an object.
package struct StorageJudgement: Sendable {
    package let isAllowed: Bool
    /// True if every tried condition was false, whatever is not known yet. An error is not certain.
    package let isCertain: Bool
    /// The reason for a refusal, with the values that decided; empty if the request is allowed.
    package let reason: String
}

/// Decides about requests for objects, with the documents of a server.
package struct StorageJudge: Sendable {
    private let server: FirestoreServer

    package init(_ server: FirestoreServer) { self.server = server }

    /// Decides about a request for an object. `firestore.get()` and `firestore.exists()` read the
    /// documents of the project, all as of one time, without the rules of documents. These reads
    /// are not counted in the meter.
    ///
    /// - Parameter project: The project of the documents.
    package func judge(
        _ request: RulesRequest, under rules: Ruleset, project: String
    ) throws(RPCStatus) -> StorageJudgement {
        do {
            return try server.core.withLock { core throws in
                try core.store.read { transaction in
                    let documents = ProjectDocuments(project: project, transaction: transaction)
                    let trace = RulesTrace()
                    let decision = rules.decide(
                        request, reading: documents, reads: .ofObject, trace: trace)
                    return StorageJudgement(
                        isAllowed: decision.isAllowed, isCertain: decision.isCertain,
                        reason: decision.reason(in: rules.source, trace: trace))
                }
            }
        } catch { throw RPCStatus(storeFailure: error) }
    }
}

extension RulesDecision {
    fileprivate var isCertain: Bool {
        verdicts.allSatisfy { verdict in
            switch verdict.outcome {
            case .allowed, .denied: true
            case .failed, .undecided: false
            }
        }
    }
}

/// The documents of a project's databases, for rules of storage.
private struct ProjectDocuments: RulesDocuments {
    let project: String
    let transaction: StoreTransaction

    func lookUp(_ path: RulesPath, for function: RulesRead) -> RulesLookup {
        guard path.segments.count > 1,
            let database = try? DatabaseID(project: project, database: path.segments[1]),
            let document = path.document(in: database.database)
        else { return .refused("The path is not a document of this project.") }
        let stored = StoredDocuments(transaction.documents(of: database))
        do {
            let fields = try stored.fields(of: document)
            return fields.map { .document(.document(RulesMap($0), at: path)) } ?? .missing
        } catch { return .refused("The store failed.") }
    }
}
