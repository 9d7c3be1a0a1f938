import TidemarkModel

/// A target of a listen stream.
final class LiveTarget {
    let streamID: CallID
    let id: Int32
    let kind: ListenTarget.Kind
    /// The versions of the rows of a query with a limit or an offset. In such a query, a document's
    /// membership depends on the other documents. Nil for all other targets.
    var window: [DocumentPath: Timestamp]?
    /// The documents that the rules have read for this target. If one of them changes, the rules
    /// judge the target again.
    fileprivate(set) var rulesReads: Set<DocumentPath> = []
    /// The target's name in the meter.
    let meterTarget: String
    /// The label under which the target's reads are counted; empty for none.
    let label: String

    /// The fields that are sent; nil for all fields. A change of other fields is also sent, because
    /// it creates a new version of the document.
    let projection: [FieldPath]?

    /// - Parameter label: The label under which the reads are counted; nil for none.
    init(streamID: CallID, id: Int32, kind: ListenTarget.Kind, label: String? = nil) {
        self.label = label ?? ""
        self.streamID = streamID
        self.id = id
        self.kind = kind
        projection = if case .query(let query) = kind { query.projection } else { nil }
        meterTarget =
            switch kind {
            case .query(let query): query.canonicalID
            // The name is the collection, because there are many single documents but few
            // collections.
            case .documents(let paths): paths.first?.parent.text ?? ""
            }
    }

    /// The object of a read, for the tally of reads; nil if the target names no document.
    func subject(_ part: ReadSubject.Part) -> ReadSubject? {
        switch kind {
        case .query(let query): .query(query, aggregations: [], part: part)
        case .documents(let paths): paths.first.map { ReadSubject(.documents($0), part) }
        }
    }

    fileprivate var isCutOff: Bool {
        if case .query(let query) = kind { query.isCutOff } else { false }
    }
}

/// A listen stream.
struct ListenStream {
    let context: CallContext
    /// The bill of the stream.
    var usage = Usage()
    var targets: [Int32: LiveTarget] = [:]
    /// The highest id that the server has chosen; 0 if it has chosen none. If it is not 0, the
    /// client must not choose ids.
    var lastAssigned: Int32 = 0
    /// The read time of the last snapshot that was sent. Read times never decrease.
    var readTime: Timestamp?
    /// The read time of the last snapshot that contained changes.
    var newsTime: Timestamp?

    /// True if the stream's reader has no room.
    var isHeld = false
    /// The state that delays the stream's next snapshot; nil if the stream receives every commit.
    var lag: StreamLag?

    var database: DatabaseID { context.database }
}

/// Stores the listens, indexed by the documents that they can contain. A commit checks only the
/// listens of its collections.
struct ListenRegistry {
    /// The maximum number of targets of a stream.
    static let maxTargets = 10_000

    /// The maximum number of documents that the targets of all streams name, beside the first of
    /// each. Clients name one document in a target; a target of 11 MB takes 60 MB while it lives.
    var maxDocuments = 500_000
    private var documents = 0

    private(set) var streams: [CallID: ListenStream] = [:]
    private var byPlace: [Place: [LiveTarget]] = [:]
    /// The number of targets with windows.
    private var cutOffTargets = 0

    /// The place of the documents that a target can contain.
    private enum Place: Hashable {
        case document(DatabaseID, DocumentPath)
        case collection(DatabaseID, CollectionPath)
        /// The id of the collections alone, as a path with a single segment, because paths are
        /// compared by bytes.
        case group(DatabaseID, CollectionPath)
        case everywhere(DatabaseID)
        /// A document that the rules have read for the target. It can be outside of the target's
        /// own places.
        case judgedBy(DatabaseID, DocumentPath)
    }

    var streamIDs: [CallID] { Array(streams.keys) }

    mutating func open(_ id: CallID, _ context: CallContext) {
        streams[id] = ListenStream(context: context)
    }

    /// - Returns: True if the stream existed.
    mutating func close(_ id: CallID) -> Bool {
        guard let stream = streams.removeValue(forKey: id) else { return false }
        for target in stream.targets.values { forget(target, stream.database) }
        return true
    }

    mutating func update(_ id: CallID, _ change: (inout ListenStream) -> Void) {
        if streams[id] != nil { change(&streams[id]!) }
    }

    /// Returns false if the targets of all streams would name too many documents.
    func hasRoom(for kind: ListenTarget.Kind) -> Bool {
        let more = Self.furtherDocuments(of: kind)
        return more == 0 || documents + more <= maxDocuments
    }

    private static func furtherDocuments(of kind: ListenTarget.Kind) -> Int {
        if case .documents(let paths) = kind { max(0, paths.count - 1) } else { 0 }
    }

    mutating func add(_ target: LiveTarget) {
        guard let database = streams[target.streamID]?.database else { return }
        streams[target.streamID]?.targets[target.id] = target
        documents += Self.furtherDocuments(of: target.kind)
        if target.isCutOff { cutOffTargets += 1 }
        for place in Self.places(of: target, database) {
            byPlace[place, default: []].append(target)
        }
    }

    /// Returns true if the target is active.
    func contains(_ target: LiveTarget) -> Bool {
        streams[target.streamID]?.targets[target.id] === target
    }

    /// Records the documents that the rules have read for a target, which is active or about to be.
    mutating func setRulesReads(_ reads: Set<DocumentPath>, of target: LiveTarget) {
        if reads == target.rulesReads { return }
        guard contains(target), let database = streams[target.streamID]?.database else {
            target.rulesReads = reads
            return
        }
        for path in target.rulesReads { leave(.judgedBy(database, path), target) }
        target.rulesReads = reads
        for path in reads { byPlace[.judgedBy(database, path), default: []].append(target) }
    }

    mutating func remove(_ id: Int32, of streamID: CallID) {
        guard let stream = streams[streamID],
            let target = streams[streamID]?.targets.removeValue(forKey: id)
        else { return }
        forget(target, stream.database)
    }

    private mutating func forget(_ target: LiveTarget, _ database: DatabaseID) {
        if target.isCutOff { cutOffTargets -= 1 }
        documents -= Self.furtherDocuments(of: target.kind)
        for place in Self.places(of: target, database) { leave(place, target) }
    }

    private mutating func leave(_ place: Place, _ target: LiveTarget) {
        byPlace[place]?.removeAll { $0 === target }
        if byPlace[place]?.isEmpty == true { byPlace[place] = nil }
    }

    private static func places(of target: LiveTarget, _ database: DatabaseID) -> Set<Place> {
        contents(of: target, database).union(
            target.rulesReads.map { .judgedBy(database, $0) })
    }

    /// Returns the places of the target's own documents.
    private static func contents(of target: LiveTarget, _ database: DatabaseID) -> Set<Place> {
        switch target.kind {
        case .documents(let paths): return Set(paths.map { .document(database, $0) })
        case .query(let query):
            if let collection = query.collection { return [.collection(database, collection)] }
            guard query.allDescendants, let id = query.collectionID else {
                return [.everywhere(database)]
            }
            return [.group(database, CollectionPath(unchecked: id))]
        }
    }

    /// Returns all targets of a database, by stream and id.
    func targets(in database: DatabaseID) -> [LiveTarget] {
        streams.sorted { $0.key < $1.key }.filter { $0.value.database == database }.flatMap {
            $0.value.targets.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    /// Returns the targets that can contain the document, place by place. The targets of a place
    /// are in the order in which they were added.
    func targets(near path: DocumentPath, in database: DatabaseID) -> [LiveTarget] {
        if byPlace.isEmpty { return [] }
        let collection = path.parent
        let group = CollectionPath(unchecked: collection.id)
        var result = byPlace[.collection(database, collection)] ?? []
        if let targets = byPlace[.document(database, path)] { result += targets }
        if let targets = byPlace[.group(database, group)] { result += targets }
        if let targets = byPlace[.everywhere(database)] { result += targets }
        return result
    }

    /// Returns the targets for which the rules have read the document.
    func targets(judgedBy path: DocumentPath, in database: DatabaseID) -> [LiveTarget] {
        byPlace[.judgedBy(database, path)] ?? []
    }

    /// Returns the targets whose windows the changes may have moved: without limit and offset, a
    /// changed document would be a row, before or after its change.
    func windowedTargets(
        touchedBy changes: [DocumentDifference], in database: DatabaseID
    ) -> [LiveTarget] {
        if cutOffTargets == 0 { return [] }
        var result: [LiveTarget] = []
        var seen: Set<ObjectIdentifier> = []
        for change in changes {
            for target in targets(near: change.path, in: database)
            where target.window != nil && !seen.contains(ObjectIdentifier(target)) {
                guard case .query(let query) = target.kind else { continue }
                let isTouched =
                    matches(
                        query, path: change.path, fields: change.fieldsAfter, database: database)
                    || matches(
                        query, path: change.path, fields: change.before?.fields, database: database)
                if isTouched, seen.insert(ObjectIdentifier(target)).inserted {
                    result.append(target)
                }
            }
        }
        return result
    }
}

/// Returns true if a document with these fields matches the query. Nil fields mean that the
/// document does not exist.
func matches(
    _ query: Query, path: DocumentPath, fields: MapValue?, database: DatabaseID
) -> Bool {
    guard let fields else { return false }
    return query.matches(path, fields, in: database)
}

extension Query {
    /// True if a row's position decides if the row is returned.
    var isCutOff: Bool { limit != nil || offset > 0 }
}
