import TidemarkModel
import TidemarkStore

/// A commit that may be stored.
struct PreparedCommit {
    let draft: CommitDraft
    /// One for each mutation.
    let results: [MutationResult]
}

/// The documents of one commit while its mutations are applied to them in turn.
struct CommitDraft {
    let database: DatabaseID
    let time: Timestamp
    /// What a server timestamp becomes: the same everywhere in the commit, in whole milliseconds.
    let requestTime: Timestamp

    private(set) var entries: [Entry] = []
    private var indices: [DocumentPath: Int] = [:]

    struct Entry {
        let path: DocumentPath
        /// The document before the commit; nil where it did not exist.
        let before: DocumentVersion?
        var fields: MapValue?
        /// Whether a delete in this commit came before what it holds now.
        var isRecreated = false
        var isTouched = false
    }

    init(database: DatabaseID, time: Timestamp) {
        self.database = database
        self.time = time
        requestTime = Self.requestTime(of: time)
    }

    static func requestTime(of time: Timestamp) -> Timestamp {
        Timestamp(milliseconds: time.milliseconds)
    }

    /// Applies a mutation, already validated.
    ///
    /// - Parameter load: The document as it is in the store; asked once a path.
    /// - Returns: Which of ``entries`` it is about, and the results of its transforms.
    mutating func apply(
        _ mutation: Mutation, load: (DocumentPath) throws -> StoredRow?
    ) throws -> (entry: Int, transformResults: [Value]) {
        let index = try index(of: mutation.path, load)
        try check(mutation.precondition, entries[index])
        let outcome = mutation.applied(to: entries[index].fields) { _ in .timestamp(requestTime) }
        if case .verify = mutation.operation { return (index, outcome.transformResults) }
        if let fields = outcome.fields {
            try Document.validateSize(of: fields, at: mutation.path, in: database)
        } else {
            entries[index].isRecreated = true
        }
        entries[index].fields = outcome.fields
        entries[index].isTouched = true
        return (index, outcome.transformResults)
    }

    private mutating func index(
        of path: DocumentPath, _ load: (DocumentPath) throws -> StoredRow?
    ) throws -> Int {
        if let index = indices[path] { return index }
        let before = try load(path).flatMap(DocumentVersion.init)
        entries.append(Entry(path: path, before: before, fields: before?.fields))
        indices[path] = entries.count - 1
        return entries.count - 1
    }

    private func check(_ precondition: Precondition, _ entry: Entry) throws(RPCStatus) {
        func name() -> String { entry.path.name(in: database) }
        switch precondition {
        case .none: return
        case .exists(true):
            if entry.fields == nil {
                throw RPCStatus(.notFound, "No document to update: \(name())")
            }
        case .exists(false):
            if entry.fields != nil {
                throw RPCStatus(.alreadyExists, "Document already exists: \(name())")
            }
        case .updateTime(let required):
            if required > time {
                throw .invalidArgument("The required update_time lies in the future.")
            }
            let version = version(entry)
            if version != required {
                throw RPCStatus(
                    .failedPrecondition,
                    "the stored version (\(version?.microseconds ?? 0)) does not match the required "
                        + "base version (\(required.microseconds))")
            }
        }
    }

    /// The version that an entry stands for so far; nil where it does not exist.
    private func version(_ entry: Entry) -> Timestamp? {
        if entry.fields == nil { return nil }
        return isUnchanged(entry) ? entry.before?.document.updateTime : time
    }

    private func isUnchanged(_ entry: Entry) -> Bool {
        if !entry.isTouched { return true }
        guard let before = entry.before, !entry.isRecreated else { return false }
        return entry.fields == before.fields
    }

    /// Each document that the commit changes. A write that makes what is there already is none.
    var differences: [DocumentDifference] {
        entries.compactMap { entry in
            if isUnchanged(entry) || (entry.before == nil && entry.fields == nil) { return nil }
            let created = entry.isRecreated ? nil : entry.before?.document.createTime
            let after = entry.fields.map { fields in
                Document(
                    path: entry.path, fields: fields, createTime: created ?? time, updateTime: time)
            }
            return DocumentDifference(
                path: entry.path, before: entry.before, after: after, fieldsAfter: entry.fields)
        }
    }

    /// What the commit writes, for those who have locked it; no-op writes too, `verify` not.
    var lockedChanges: [LockedChange] {
        entries.filter(\.isTouched).map {
            LockedChange(path: $0.path, before: $0.before?.fields, after: $0.fields)
        }
    }

    /// The version that one of ``entries`` has after the commit; nil where there is none.
    func version(ofEntry index: Int) -> Timestamp? { version(entries[index]) }
}
