import TidemarkModel

/// The changes of a stream from a consistent state to the next: each document once, with the
/// targets that it joined or changed in and the targets that it left. If targets of a stream want
/// different fields, a document occurs once for each projection.
struct StreamSnapshot {
    enum State {
        /// The document exists, with these contents.
        case present(Document)
        case deleted
        /// The document has left a target without a change, and may exist or not.
        case unknown
    }

    private struct Key: Hashable {
        let path: DocumentPath
        /// The fields that are sent; nil for all fields, and for a document that is not sent.
        let projection: [FieldPath]?
    }

    private struct Row {
        let key: Key
        var state: State
        var added: [Int32] = []
        var removed: [Int32] = []
    }

    private var rows: [Row] = []
    private var indices: [Key: Int] = [:]
    /// The number of billed reads, by target.
    private(set) var readsByTarget: [Int32: Int] = [:]
    /// The number of real-time update units, by target; empty for the Standard edition.
    private(set) var unitsByTarget: [Int32: Int] = [:]
    private let isBilledByUnits: Bool
    /// The path of the last counted document, and its units.
    private var lastCounted: (path: DocumentPath, units: Int)?

    /// - Parameter isBilledByUnits: True for a database of the Enterprise edition.
    init(isBilledByUnits: Bool) { self.isBilledByUnits = isBilledByUnits }

    var isEmpty: Bool { rows.isEmpty }

    /// Adds the units of a changed document, whose size is taken once for all targets.
    private mutating func count(_ document: Document, for target: LiveTarget) {
        guard isBilledByUnits else { return }
        if lastCounted?.path != document.path {
            let size = Document.storageSize(of: document.fields, at: document.path)
            lastCounted = (document.path, UnitBilling.update(bytes: size))
        }
        unitsByTarget[target.id, default: 0] += lastCounted?.units ?? 0
    }

    /// Adds a document that is new in the target, or has changed in it. Costs one read.
    mutating func add(_ document: Document, to target: LiveTarget) {
        let index = index(of: document.path, .present(document), target.projection)
        rows[index].added.append(target.id)
        readsByTarget[target.id, default: 0] += 1
        count(document, for: target)
    }

    /// Removes a document that has changed and is no longer in the target. Costs one read if it
    /// still exists.
    mutating func remove(
        _ path: DocumentPath, changedTo document: Document?, from target: LiveTarget
    ) {
        let index: Int
        if let document {
            index = self.index(of: path, .present(document), target.projection)
            readsByTarget[target.id, default: 0] += 1
            if isBilledByUnits { unitsByTarget[target.id, default: 0] += UnitBilling.removal }
        } else {
            index = self.index(of: path, .deleted, nil)
        }
        rows[index].removed.append(target.id)
    }

    /// Removes a document that another has pushed out of the target. Costs nothing, because the
    /// document has not changed.
    mutating func pushOut(_ path: DocumentPath, of target: LiveTarget) {
        let index = index(of: path, .unknown, nil)
        rows[index].removed.append(target.id)
    }

    private mutating func index(
        of path: DocumentPath, _ state: State, _ projection: [FieldPath]?
    ) -> Int {
        let key = Key(path: path, projection: projection)
        if let index = indices[key] {
            if case .unknown = rows[index].state { rows[index].state = state }
            return index
        }
        rows.append(Row(key: key, state: state))
        indices[key] = rows.count - 1
        return rows.count - 1
    }

    /// Returns the messages, in the order in which the documents were added.
    func responses(readTime: Timestamp) -> [ListenResponse] {
        rows.map { row in
            switch row.state {
            case .present(let document):
                .documentChange(
                    DocumentChange(
                        document.projected(to: row.key.projection), targetIDs: row.added,
                        removedTargetIDs: row.removed))
            case .deleted:
                .documentDelete(
                    DocumentRemoval(
                        row.key.path, removedTargetIDs: row.removed, readTime: readTime))
            case .unknown:
                .documentRemove(
                    DocumentRemoval(
                        row.key.path, removedTargetIDs: row.removed, readTime: readTime))
            }
        }
    }
}
