import TidemarkModel

/// What one stream is told of one step from a consistent state to the next: each document once, with
/// the targets it joined or changed in and those it left.
struct StreamSnapshot {
    enum State {
        /// It exists, and this is it.
        case present(Document)
        case deleted
        /// It has left a target without changing, and may exist or not.
        case unknown
    }

    private struct Row {
        let path: DocumentPath
        var state: State
        var added: [Int32] = []
        var removed: [Int32] = []
    }

    private var rows: [Row] = []
    private var indices: [DocumentPath: Int] = [:]
    /// What Firestore bills for them, by target.
    private(set) var readsByTarget: [Int32: Int] = [:]

    var isEmpty: Bool { rows.isEmpty }

    /// The document is new in the target, or has changed in it. One read.
    mutating func add(_ document: Document, to target: Int32) {
        let index = index(of: document.path, .present(document))
        rows[index].added.append(target)
        readsByTarget[target, default: 0] += 1
    }

    /// The document has changed and is no longer in the target. One read, when it still exists.
    mutating func remove(_ path: DocumentPath, changedTo document: Document?, from target: Int32) {
        let index = index(of: path, document.map { .present($0) } ?? .deleted)
        rows[index].removed.append(target)
        if document != nil { readsByTarget[target, default: 0] += 1 }
    }

    /// Another document has pushed this one out of the target. Free: it has not changed.
    mutating func pushOut(_ path: DocumentPath, of target: Int32) {
        let index = index(of: path, .unknown)
        rows[index].removed.append(target)
    }

    private mutating func index(of path: DocumentPath, _ state: State) -> Int {
        if let index = indices[path] {
            if case .unknown = rows[index].state { rows[index].state = state }
            return index
        }
        rows.append(Row(path: path, state: state))
        indices[path] = rows.count - 1
        return rows.count - 1
    }

    /// The messages, in the order in which the documents came up.
    func responses(readTime: Timestamp) -> [ListenResponse] {
        rows.map { row in
            switch row.state {
            case .present(let document):
                .documentChange(
                    DocumentChange(document, targetIDs: row.added, removedTargetIDs: row.removed))
            case .deleted:
                .documentDelete(
                    DocumentRemoval(row.path, removedTargetIDs: row.removed, readTime: readTime))
            case .unknown:
                .documentRemove(
                    DocumentRemoval(row.path, removedTargetIDs: row.removed, readTime: readTime))
            }
        }
    }
}
