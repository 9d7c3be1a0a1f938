import TidemarkModel
import TidemarkRules
import TidemarkStore

/// Checks the rules for targets: when they begin, and again before a change is sent that can alter
/// the decision.
///
/// The decision for single documents depends on these documents. Every decision also depends on the
/// documents that the rules have read, with `get()` for example. A query is allowed for all
/// documents that it can return, so changes of its own documents have no effect on the decision.
struct ListenReview {
    let listens: Listens
    let rules: RulesChecks

    // MARK: Targets that a change affects

    /// Returns true if the decision for a target can change with documents.
    func depends(_ target: LiveTarget) -> Bool {
        if case .documents = target.kind { return true }
        return !target.rulesReads.isEmpty
    }

    /// Returns true if the rules must be checked again because of a commit.
    func concerns(_ commit: Commit) -> Bool { !targets(of: commit).isEmpty }

    /// Returns the targets that a commit affects. Targets of lagging streams are excluded; they are
    /// checked when the stream catches up.
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

    /// Returns true if a document on which the decision depends has changed since a time.
    func concerns(
        _ target: LiveTarget, since time: Timestamp, _ scope: ReadScope
    ) throws -> Bool {
        guard rules.areInForce(in: scope.database), let log = scope.log else { return false }
        var paths = target.rulesReads
        if case .documents(let own) = target.kind { paths.formUnion(own) }
        return try paths.contains { try log.undo(of: $0, after: time) != nil }
    }

    // MARK: Checks

    /// Checks the rules for a target, and records the documents that they have read. The meter
    /// counts these reads, whatever the decision is.
    ///
    /// - Returns: The reason for a refusal; nil if the target is allowed.
    func judge(
        _ target: LiveTarget, context: CallContext, documents: any RulesDatabase
    ) -> RPCStatus? {
        do {
            let reads = try rules.check(target.kind, context: context, documents: documents) {
                listens.noteReads($0, of: target.streamID)
            }
            listens.setRulesReads(reads, of: target)
            return nil
        } catch { return RPCStatus(storeFailure: error) }
    }

    /// Checks the rules for an active target, and ends the target if they refuse it.
    ///
    /// - Returns: True if the target stays active.
    @discardableResult
    func judgeAgain(
        _ target: LiveTarget, context: CallContext, documents: any RulesDatabase,
        outputs: inout [Output]
    ) -> Bool {
        guard let refusal = judge(target, context: context, documents: documents) else {
            return true
        }
        end(target, cause: refusal, outputs: &outputs)
        return false
    }

    func judgeAgain(
        _ targets: [LiveTarget], documents: any RulesDatabase, outputs: inout [Output]
    ) {
        for target in targets {
            guard let stream = listens[target.streamID] else { continue }
            judgeAgain(target, context: stream.context, documents: documents, outputs: &outputs)
        }
    }

    /// Ends a target with a reason. Its stream stays open.
    func end(_ target: LiveTarget, cause: RPCStatus, outputs: inout [Output]) {
        listens.remove(target.id, of: target.streamID)
        outputs.append(
            target.streamID,
            .targetChange(TargetChange(.remove, targetIDs: [target.id], cause: cause)))
    }
}

/// The changes of a turn's commits. They show the documents as each commit has left them.
struct TurnHistory {
    private struct Key: Hashable {
        let database: DatabaseID
        let path: DocumentPath
    }

    /// The document before each of its changes, with the commit's index, in the order of the
    /// commits.
    private var changes: [Key: [(commit: Int, before: MapValue?)]] = [:]

    init(_ commits: [Commit]) {
        for (index, commit) in commits.enumerated() {
            for change in commit.changes {
                changes[Key(database: commit.database, path: change.path), default: []]
                    .append((index, change.before?.fields))
            }
        }
    }

    /// Returns a document's fields before a later commit of the turn has changed it; nil if no
    /// later commit has changed it.
    fileprivate func fields(
        of path: DocumentPath, in database: DatabaseID, after commit: Int
    ) -> MapValue?? {
        let changes = changes[Key(database: database, path: path)]
        guard let change = changes?.first(where: { $0.commit > commit }) else { return nil }
        return .some(change.before)
    }
}

/// The documents of a database as a commit of the turn has left them.
struct CommittedDocuments: RulesDatabase {
    private let table: DocumentTable
    private let database: DatabaseID
    private let history: TurnHistory
    private let commit: Int

    /// - Parameter commit: The commit's index in the turn.
    init(_ table: DocumentTable, database: DatabaseID, history: TurnHistory, commit: Int) {
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
