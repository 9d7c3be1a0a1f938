package import TidemarkModel

/// One attempt of a transaction: what it has read and what it writes, until it is committed.
package struct TransactionAttempt: Sendable {
    private var documents: [DocumentPath: Document?] = [:]
    private var mutations: [Mutation] = []
    private var isCommitted = false
    /// Of an earlier attempt.
    private let doubt: CommitInDoubt?
    /// Whether what is in doubt will never be known: no other attempt may follow.
    private(set) var isStuck = false
    #if TIDEMARK_DEFECTS
        var defects: PlantedDefects = []
    #endif

    init(after doubt: CommitInDoubt?) { self.doubt = doubt }

    // MARK: Reading

    /// - Throws: What a read makes no sense for.
    package func checkReading() throws(SyncError) {
        try checkRunning()
        if mutations.isEmpty { return }
        throw .invalidArgument("Read all documents of a transaction before the first write.")
    }

    /// Takes in what was read.
    ///
    /// - Throws: `aborted` when it was read before in another version; the error of a commit in doubt
    ///   when it cannot be told any more whether that was applied.
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

    /// - Parameter isUpdate: Whether the document must exist.
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

    /// That the document is as it was read; nil for what the write says of itself.
    private func precondition(
        of path: DocumentPath, isUpdate: Bool
    ) throws(SyncError) -> Precondition? {
        // What comes after the first write of a document finds what that one made of it.
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

    /// What is to be committed: the writes, and that what was read and not written is unchanged. Empty
    /// when nothing was written.
    ///
    /// - Throws: The error of a commit in doubt, unless this one and that one exclude each other.
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

    /// The documents that the commit surely changes if they are as they were read, and their versions.
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
    /// Whether the document has another version afterwards: a write that changes nothing leaves the old
    /// one. Source: server-production-facts, "no-op writes".
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
