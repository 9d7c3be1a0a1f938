import TidemarkModel
import TidemarkRules
import TidemarkStore

/// Asks the rules about targets: when they begin, and again when a change may have made the answer
/// another, before the change is sent.
///
/// The answer for single documents depends on these documents, and every answer on what the rules have
/// read by `get()` and the like. A query is proven for whatever documents there are: its own may change.
struct ListenReview {
    let listens: Listens
    let rules: RulesChecks

    // MARK: Whom a change concerns

    /// True if the answer for a target may be another when documents change.
    func depends(_ target: LiveTarget) -> Bool {
        if case .documents = target.kind { return true }
        return !target.rulesReads.isEmpty
    }

    /// True if the rules have to be asked again because of a commit.
    func concerns(_ commit: Commit) -> Bool { !targets(of: commit).isEmpty }

    /// The targets that a commit concerns. What lags is asked about when it catches up.
    func targets(of commit: Commit) -> [LiveTarget] {
        guard rules.areInForce(in: commit.database) else { return [] }
        var result: [LiveTarget] = []
        var seen: Set<ObjectIdentifier> = []
        for change in commit.changes {
            let near = listens.targets(near: change.path, in: commit.database).filter { target in
                if case .documents = target.kind { true } else { false }
            }
            for target in near + listens.targets(judgedBy: change.path, in: commit.database) {
                guard let stream = listens[target.streamID], !stream.isHeld, stream.lag == nil,
                    seen.insert(ObjectIdentifier(target)).inserted
                else { continue }
                result.append(target)
            }
        }
        return result
    }

    /// True if what the answer for a target depends on has changed since a time.
    func concerns(
        _ target: LiveTarget, since time: Timestamp, _ scope: ReadScope
    ) throws -> Bool {
        guard rules.areInForce(in: scope.database), let log = scope.log else { return false }
        var paths = target.rulesReads
        if case .documents(let own) = target.kind { paths.formUnion(own) }
        return try paths.contains { try log.undo(of: $0, after: time) != nil }
    }

    // MARK: Asking

    /// Asks the rules about a target, and notes what they have read. The cost is in the meter, whatever
    /// the answer.
    ///
    /// - Returns: Why the target is refused; nil where it is allowed.
    func judge(
        _ target: LiveTarget, _ context: CallContext, _ documents: any RulesDatabase
    ) -> RPCStatus? {
        do {
            let reads = try rules.check(target.kind, context, documents) {
                listens.noteReads($0, of: target.streamID)
            }
            listens.setRulesReads(reads, of: target)
            return nil
        } catch { return RPCStatus(storeFailure: error) }
    }

    /// Asks the rules about a target that is listened to, and ends it where they refuse.
    ///
    /// - Returns: True where it goes on.
    @discardableResult
    func judgeAgain(
        _ target: LiveTarget, _ context: CallContext, _ documents: any RulesDatabase,
        _ outputs: inout [Output]
    ) -> Bool {
        guard let refusal = judge(target, context, documents) else { return true }
        end(target, refusal, &outputs)
        return false
    }

    func judgeAgain(
        _ targets: [LiveTarget], _ documents: any RulesDatabase, _ outputs: inout [Output]
    ) {
        for target in targets {
            guard let stream = listens[target.streamID] else { continue }
            judgeAgain(target, stream.context, documents, &outputs)
        }
    }

    /// Ends a target, and says why. Its stream lives on.
    func end(_ target: LiveTarget, _ cause: RPCStatus, _ outputs: inout [Output]) {
        listens.remove(target.id, of: target.streamID)
        outputs.append(
            target.streamID,
            .targetChange(TargetChange(.remove, targetIDs: [target.id], cause: cause)))
    }
}

/// What the commits of one turn have changed, to see the documents as each has left them.
struct TurnHistory {
    private struct Key: Hashable {
        let database: DatabaseID
        let path: DocumentPath
    }

    /// What each document was before it was changed, by commit, in their order.
    private var changes: [Key: [(commit: Int, before: MapValue?)]] = [:]

    init(_ commits: [Commit]) {
        for (index, commit) in commits.enumerated() {
            for change in commit.changes {
                changes[Key(database: commit.database, path: change.path), default: []]
                    .append((index, change.before?.fields))
            }
        }
    }

    /// A document's fields before a later commit of the turn has changed it; nil where none has.
    fileprivate func fields(
        of path: DocumentPath, in database: DatabaseID, after commit: Int
    ) -> MapValue?? {
        let changes = changes[Key(database: database, path: path)]
        guard let change = changes?.first(where: { $0.commit > commit }) else { return nil }
        return .some(change.before)
    }
}

/// The documents of a database as one commit of a turn has left them.
struct CommittedDocuments: RulesDatabase {
    private let table: DocumentTable
    private let database: DatabaseID
    private let history: TurnHistory
    private let commit: Int

    /// - Parameter commit: Its place in the turn.
    init(_ table: DocumentTable, _ database: DatabaseID, _ history: TurnHistory, _ commit: Int) {
        self.table = table
        self.database = database
        self.history = history
        self.commit = commit
    }

    func fields(of document: DocumentPath) throws -> MapValue? {
        if let earlier = history.fields(of: document, in: database, after: commit) {
            return earlier
        }
        return try table.document(at: document)?.document?.fields
    }
}
