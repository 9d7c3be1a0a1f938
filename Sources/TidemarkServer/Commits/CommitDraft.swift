import TidemarkModel
import TidemarkStore

/// A commit that is ready to be stored.
struct PreparedCommit {
    let draft: CommitDraft
    /// The results, one per mutation.
    let results: [MutationResult]
}

/// The documents of a commit while its mutations are applied in order.
struct CommitDraft {
    let database: DatabaseID
    let time: Timestamp
    /// The value of a server timestamp: the same everywhere in the commit, in whole milliseconds.
    let requestTime: Timestamp

    private let edition: DatabaseEdition
    private(set) var entries: [Entry] = []
    private var indices: [DocumentPath: Int] = [:]

    struct Entry {
        let path: DocumentPath
        /// The document before the commit; nil if it did not exist.
        let before: DocumentVersion?
        var fields: MapValue?
        /// True if a delete in this commit came before the present contents.
        var isRecreated = false
        var isTouched = false
    }

    init(database: DatabaseID, time: Timestamp, edition: DatabaseEdition = .standard) {
        self.database = database
        self.edition = edition
        self.time = time
        requestTime = Self.requestTime(of: time)
    }

    static func requestTime(of time: Timestamp) -> Timestamp {
        Timestamp(milliseconds: time.milliseconds)
    }

    /// Applies a validated mutation.
    ///
    /// - Parameter load: Returns the document in the store; called once per path.
    /// - Returns: The index in ``entries``, and the results of the transforms.
    mutating func apply(
        _ mutation: Mutation, load: (DocumentPath) throws -> StoredRow?
    ) throws -> (entry: Int, transformResults: [Value]) {
        let index = try index(of: mutation.path, load)
        try check(mutation.precondition, entries[index])
        let outcome = mutation.applied(to: entries[index].fields) { _ in .timestamp(requestTime) }
        if case .verify = mutation.operation { return (index, outcome.transformResults) }
        if let fields = outcome.fields {
            try Document.validateSize(
                of: fields, at: mutation.path, in: database, edition: edition)
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

    /// Returns the version of an entry so far; nil if the document does not exist.
    private func version(_ entry: Entry) -> Timestamp? {
        if entry.fields == nil { return nil }
        return isUnchanged(entry) ? entry.before?.document.updateTime : time
    }

    private func isUnchanged(_ entry: Entry) -> Bool {
        if !entry.isTouched { return true }
        guard let before = entry.before, !entry.isRecreated else { return false }
        return entry.fields == before.fields
    }

    /// The changed documents of the commit. A write that produces the existing contents is no
    /// change.
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

    /// The writes of the commit, for the transactions that have locked the documents. Includes
    /// no-op writes, but not `verify`.
    var lockedChanges: [LockedChange] {
        entries.filter(\.isTouched).map {
            LockedChange(path: $0.path, before: $0.before?.fields, after: $0.fields)
        }
    }

    /// Returns the write units of the commit by collection: of each written document, and of the
    /// index entries that it changes. A write that changes nothing costs one unit, and so does a
    /// delete of a document that does not exist.
    ///
    /// - Parameter sizes: Returns the indexes of a collection.
    func writeUnits(_ sizes: (CollectionPath) -> EntrySizes) -> [CollectionPath: Int] {
        var result: [CollectionPath: Int] = [:]
        for entry in entries where entry.isTouched {
            let collection = entry.path.parent
            var units = 1
            if !isUnchanged(entry), let fields = entry.fields ?? entry.before?.fields {
                let size = Document.storageSize(of: fields, at: entry.path)
                units =
                    UnitBilling.write(bytes: size)
                    + sizes(collection).units(
                        at: entry.path, from: entry.before?.fields, to: entry.fields)
            }
            result[collection, default: 0] += units
        }
        return result
    }

    /// Returns the version of an entry after the commit; nil if the document does not exist.
    func version(ofEntry index: Int) -> Timestamp? { version(entries[index]) }
}
