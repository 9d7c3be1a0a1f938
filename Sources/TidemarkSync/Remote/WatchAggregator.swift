import TidemarkModel

/// Combines the messages of a listen stream into one ``RemoteEvent`` per consistent snapshot.
///
/// Targets have wire ids. Each listen on a stream has a new id, so a late answer to an earlier
/// listen matches no target. Each stream has a new aggregator.
struct WatchAggregator: Equatable, Sendable {
    enum Event: Equatable, Sendable {
        /// A target is being added under this wire id. If it starts from scratch, the server sends
        /// all its documents, but does not name the documents that have left.
        case listening(
            wireID: Int32, targetID: Int32, ListenTarget.Kind, isFromScratch: Bool = true)
        case stoppedListening(wireID: Int32)
        case received(ListenResponse)
    }

    enum Effect: Equatable, Sendable {
        case raise(RemoteEvent)
        /// The server removed the target.
        case rejected(targetID: Int32, RPCStatus)
    }

    /// Returns the rows of a target as of the last raised snapshot.
    typealias RemoteKeys = (_ targetID: Int32) -> Set<DocumentPath>

    struct Target: Equatable, Sendable {
        let targetID: Int32
        let kind: ListenTarget.Kind
        var isFromScratch = true
        /// The number of requests without an answer from the server.
        var pending = 1
        var isCurrent = false
        var resumeToken: [UInt8] = []
        /// True if the next event includes the target. A new target appears in it with or without
        /// changes.
        var hasChanges = true
        var changes: [DocumentPath: Change] = [:]
        /// The documents of this target in updates since the last event.
        var updated: Set<DocumentPath> = []

        var onlyDocument: DocumentPath? {
            if case .documents(let paths) = kind, paths.count == 1 { paths[0] } else { nil }
        }

        /// Adds a document in place. A second copy of the target would make every change copy all
        /// earlier changes.
        ///
        /// - Returns: False if the server has not answered the last request.
        fileprivate mutating func add(_ path: DocumentPath, _ remoteKeys: RemoteKeys) -> Bool {
            guard pending == 0 else { return false }
            changes[path] = remoteKeys(targetID).contains(path) ? .modified : .added
            updated.insert(path)
            hasChanges = true
            return true
        }

        /// Empties the changes after an event took them. Their memory is kept for the next event,
        /// up to a limit.
        fileprivate mutating func forget() {
            let keepsRoom = changes.count <= mostReserved
            changes.removeAll(keepingCapacity: keepsRoom)
            updated.removeAll(keepingCapacity: keepsRoom)
        }
    }

    /// The maximum number of documents of an event for which memory is kept.
    fileprivate static let mostReserved = 1_000

    enum Change: Equatable, Sendable { case added, modified, removed }

    let database: DatabaseID
    var targets: [Int32: Target] = [:]
    private(set) var documents: [DocumentPath: RemoteDocument] = [:]
    /// The number of documents of the last event, up to a limit; the next event probably has as
    /// many.
    private var lastCount = 0
    var mismatches: [Int32: ListenPurpose] = [:]

    init(database: DatabaseID) { self.database = database }

    mutating func step(_ event: Event, remoteKeys: RemoteKeys) -> [Effect] {
        switch event {
        case .listening(let wireID, let targetID, let kind, let isFromScratch):
            precondition(targets[wireID] == nil, "a wire id is used once")
            targets[wireID] = Target(
                targetID: targetID, kind: kind, isFromScratch: isFromScratch)
            return []
        case .stoppedListening(let wireID):
            targets[wireID] = nil
            return []
        case .received(.targetChange(let change)): return receive(change, remoteKeys)
        case .received(.documentChange(let change)):
            let document = RemoteDocument.found(change.document)
            for id in change.targetIDs { add(document, to: id, remoteKeys) }
            for id in change.removedTargetIDs {
                remove(change.document.path, from: id, updated: document, remoteKeys)
            }
            return []
        case .received(.documentDelete(let removal)):
            let document = removal.readTime.map { RemoteDocument.missing(removal.path, $0) }
            for id in removal.removedTargetIDs {
                remove(removal.path, from: id, updated: document, remoteKeys)
            }
            return []
        case .received(.documentRemove(let removal)):
            for id in removal.removedTargetIDs {
                remove(removal.path, from: id, updated: nil, remoteKeys)
            }
            return []
        case .received(.existenceFilter(let filter)):
            receive(filter, remoteKeys)
            return []
        }
    }

    /// Returns true if the target received this version since the last snapshot.
    func hasTold(_ wireID: Int32, of document: Document) -> Bool {
        guard documents[document.path]?.version == document.updateTime else { return false }
        return targets[wireID]?.updated.contains(document.path) ?? false
    }

    func isActive(_ wireID: Int32) -> Bool { targets[wireID]?.pending == 0 }
}

// MARK: - Documents

extension WatchAggregator {
    private mutating func add(
        _ document: RemoteDocument, to wireID: Int32, _ remoteKeys: RemoteKeys
    ) {
        guard let index = targets.index(forKey: wireID),
            targets.values[index].add(document.path, remoteKeys)
        else { return }
        keep(document)
    }

    mutating func remove(
        _ path: DocumentPath, from wireID: Int32, updated document: RemoteDocument?,
        _ remoteKeys: RemoteKeys
    ) {
        guard isActive(wireID), let targetID = targets[wireID]?.targetID else { return }
        // A document that was added and removed within one event is not a change.
        let isHeld = remoteKeys(targetID).contains(path)
        targets[wireID]!.changes[path] = isHeld ? .removed : nil
        targets[wireID]!.hasChanges = true
        guard let document else { return }
        targets[wireID]!.updated.insert(path)
        keep(document)
    }

    /// Keeps the newer version if two targets report one document before a snapshot, in any order.
    private mutating func keep(_ document: RemoteDocument) {
        if documents.isEmpty { documents.reserveCapacity(lastCount) }
        guard let old = documents.updateValue(document, forKey: document.path),
            old.version > document.version, document.version != .min
        else { return }
        documents[document.path] = old
    }

    /// Forgets the reported documents of a target; its earlier documents count as removed.
    mutating func reset(_ wireID: Int32, _ remoteKeys: RemoteKeys) {
        guard let old = targets[wireID] else { return }
        var target = Target(targetID: old.targetID, kind: old.kind)
        target.pending = old.pending
        for path in remoteKeys(old.targetID) { target.changes[path] = .removed }
        targets[wireID] = target
    }
}

// MARK: - Targets and snapshots

extension WatchAggregator {
    private mutating func receive(
        _ change: TargetChange, _ remoteKeys: RemoteKeys
    ) -> [Effect] {
        if change.kind == .remove, let cause = change.cause, cause.code != .ok {
            return change.targetIDs.compactMap { wireID in
                targets.removeValue(forKey: wireID).map { .rejected(targetID: $0.targetID, cause) }
            }
        }
        for wireID in change.targetIDs.isEmpty ? Array(targets.keys) : change.targetIDs {
            apply(change, to: wireID, remoteKeys)
        }
        guard change.targetIDs.isEmpty, let time = change.readTime else { return [] }
        return [.raise(takeEvent(time, remoteKeys))]
    }

    private mutating func apply(
        _ change: TargetChange, to wireID: Int32, _ remoteKeys: RemoteKeys
    ) {
        guard targets[wireID] != nil else { return }
        switch change.kind {
        case .add:
            if targets[wireID]!.pending > 0 { targets[wireID]!.pending -= 1 }
            guard isActive(wireID) else { return }
            targets[wireID]!.changes = [:]
            targets[wireID]!.updated = []
            // A document that the target had and that the server does not send again has left.
            if targets[wireID]!.isFromScratch {
                for path in remoteKeys(targets[wireID]!.targetID) {
                    targets[wireID]!.changes[path] = .removed
                }
            }
        case .remove:
            targets[wireID] = nil
            return
        case .current:
            guard isActive(wireID) else { return }
            targets[wireID]!.isCurrent = true
            targets[wireID]!.hasChanges = true
        case .reset:
            guard isActive(wireID) else { return }
            reset(wireID, remoteKeys)
        case .noChange:
            guard isActive(wireID) else { return }
        }
        guard !change.resumeToken.isEmpty else { return }
        targets[wireID]!.resumeToken = change.resumeToken
        targets[wireID]!.hasChanges = true
    }

    private mutating func takeEvent(
        _ version: Timestamp, _ remoteKeys: RemoteKeys
    ) -> RemoteEvent {
        var event = RemoteEvent(version: version, mismatches: mismatches)
        for wireID in Array(targets.keys) where isActive(wireID) {
            synthesizeMissing(wireID, version: version, remoteKeys: remoteKeys)
            guard let target = targets[wireID] else { continue }
            if target.isCurrent { event.confirmed.insert(target.targetID) }
            guard target.hasChanges else { continue }
            event.targets[target.targetID] = delta(of: target)
            targets[wireID]!.hasChanges = false
            targets[wireID]!.forget()
        }
        event.documents = documents
        lastCount = min(documents.count, Self.mostReserved)
        documents = [:]
        mismatches = [:]
        return event
    }

    /// Adds a missing document. A server sends no message about a document that does not exist; the
    /// current state of its target implies it.
    private mutating func synthesizeMissing(
        _ wireID: Int32, version: Timestamp, remoteKeys: RemoteKeys
    ) {
        guard let target = targets[wireID], target.isCurrent, let path = target.onlyDocument,
            !target.updated.contains(path), !remoteKeys(target.targetID).contains(path)
        else { return }
        let hadChanges = target.hasChanges
        remove(path, from: wireID, updated: .missing(path, version), remoteKeys)
        targets[wireID]!.hasChanges = hadChanges
    }

    private func delta(of target: Target) -> TargetDelta {
        var delta = TargetDelta(
            isCurrent: target.isCurrent, resumeToken: target.resumeToken)
        // Usually all documents are new, or all are known.
        if target.changes.values.first == .added {
            delta.added.reserveCapacity(target.changes.count)
        }
        for (path, change) in target.changes {
            switch change {
            case .added: delta.added.insert(path)
            case .modified: delta.modified.insert(path)
            case .removed: delta.removed.insert(path)
            }
        }
        return delta
    }
}
