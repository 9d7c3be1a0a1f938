package import TidemarkModel

/// One attempt of a transaction: the documents it has read and its writes, until the commit.
package struct TransactionAttempt: Sendable {
    private var documents: [DocumentPath: Document?] = [:]
    private var mutations: [Mutation] = []
    private var isCommitted = false
    /// The lost commit of an earlier attempt.
    private let doubt: CommitInDoubt?
    /// True if the result of the lost commit can never be known, so no other attempt may follow.
    private(set) var isStuck = false
    #if TIDEMARK_DEFECTS
        var defects: PlantedDefects = []
    #endif

    init(after doubt: CommitInDoubt?) { self.doubt = doubt }

    // MARK: Reading

    /// - Throws: An error if the transaction may not read now.
    package func checkReading() throws(SyncError) {
        try checkRunning()
        if mutations.isEmpty { return }
        throw .invalidArgument("Read all documents of a transaction before the first write.")
    }

    /// Adds a document that was read.
    ///
    /// - Throws: `aborted` if an earlier read returned another version; the error of the lost
    ///   commit if its result can no longer be known.
    package mutating func read(_ path: DocumentPath, _ document: Document?) throws(SyncError) {
        if let before = documents[path] {
            if before?.updateTime == document?.updateTime { return }
            throw .server(
                RPCStatus(.aborted, "\(path.text) changed while the transaction read it."))
        }
        documents[path] = .some(document)
        guard let doubt, let version = doubt.guards[path], version != document?.updateTime
        else { return }
        isStuck = true
        throw doubt.error
    }

    // MARK: Writing

    /// - Parameter isUpdate: True if the document must exist.
    package mutating func write(
        _ mutation: Mutation, isUpdate: Bool = false
    ) throws(SyncError) {
        try checkRunning()
        var mutation = mutation
        if let precondition = try precondition(of: mutation.path, isUpdate: isUpdate) {
            mutation.precondition = precondition
        }
        mutations.append(mutation)
    }

    package func checkRunning() throws(SyncError) {
        if isCommitted { throw .invalidArgument("The transaction is over.") }
    }

    /// Returns the condition that the document has not changed since the read; nil to keep the
    /// condition of the write.
    private func precondition(
        of path: DocumentPath, isUpdate: Bool
    ) throws(SyncError) -> Precondition? {
        // A later write of a document applies to the result of the first write.
        guard let document = documents[path], !mutations.contains(where: { $0.path == path })
        else { return nil }
        #if TIDEMARK_DEFECTS
            if defects.contains(.readsUnverified) { return nil }
        #endif
        if let document { return .updateTime(document.updateTime) }
        if isUpdate {
            throw .invalidArgument("\(path.text) cannot be updated: it does not exist.")
        }
        return .exists(false)
    }

    // MARK: Committing

    /// Returns the mutations of the commit: the writes, and the condition that other read documents
    /// are unchanged. The array is empty if nothing was written.
    ///
    /// - Throws: The error of a lost commit, unless this commit and the lost one exclude each
    ///   other.
    package mutating func take() throws(SyncError) -> [Mutation] {
        isCommitted = true
        if let doubt, doubt.guards.allSatisfy({ guards[$0.key] != $0.value }) {
            isStuck = true
            throw doubt.error
        }
        if mutations.isEmpty { return [] }
        var verified = documents.filter { read in !mutations.contains { $0.path == read.key } }
        #if TIDEMARK_DEFECTS
            if defects.contains(.readsUnverified) { verified = [:] }
        #endif
        return mutations
            + verified.sorted { $0.key < $1.key }.map { path, document in
                Mutation(
                    path: path, .verify,
                    precondition: document.map { .updateTime($0.updateTime) } ?? .exists(false))
            }
    }

    /// The documents that the commit surely changes if they have not changed since the read, and
    /// their versions.
    var guards: [DocumentPath: Timestamp?] {
        var guards: [DocumentPath: Timestamp?] = [:]
        for (path, document) in documents {
            let writes = mutations.filter { $0.path == path }
            guard writes.count == 1, writes[0].surelyChanges(document) else { continue }
            guards[path] = .some(document?.updateTime)
        }
        return guards
    }
}

extension Mutation {
    /// True if the document has another version after the mutation. A write that changes nothing
    /// keeps the old version. Source: server-production-facts, "no-op writes".
    fileprivate func surelyChanges(_ document: Document?) -> Bool {
        guard let document else {
            switch operation {
            case .set, .patch: return true
            case .delete, .verify: return false
            }
        }
        if transforms.contains(where: { $0.operation == .serverTimestamp }) { return true }
        switch operation {
        case .delete: return true
        case .verify: return false
        case .set(let fields): return transforms.isEmpty && fields != document.fields
        case .patch(let fields, let mask):
            return mask.contains { fields[$0] != document.fields[$0] }
        }
    }
}
