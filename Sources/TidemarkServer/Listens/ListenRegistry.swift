import TidemarkModel

/// What one stream listens to, while it does.
final class LiveTarget {
    let streamID: CallID
    let id: Int32
    let kind: ListenTarget.Kind
    /// The versions of its rows, for a query whose rows are cut off by a limit or an offset: whether a
    /// document is among them depends on the others. Nil for all other targets.
    var window: [DocumentPath: Timestamp]?
    /// The documents that the rules have read to allow it: when one changes, they are asked again.
    fileprivate(set) var rulesReads: Set<DocumentPath> = []
    /// What the meter counts it under.
    let meterTarget: String

    /// The fields of its documents that are sent; nil for all. A change of others is sent all the
    /// same: a document is new by its version.
    let projection: [FieldPath]?

    init(streamID: CallID, id: Int32, kind: ListenTarget.Kind) {
        self.streamID = streamID
        self.id = id
        self.kind = kind
        projection = if case .query(let query) = kind { query.projection } else { nil }
        meterTarget =
            switch kind {
            case .query(let query): query.canonicalID
            // Single documents are many; their collections are few.
            case .documents(let paths): paths.first?.parent.text ?? ""
            }
    }

    fileprivate var isCutOff: Bool {
        if case .query(let query) = kind { query.isCutOff } else { false }
    }
}

/// One listen stream.
struct ListenStream {
    let context: CallContext
    /// What was billed on it.
    var usage = Usage()
    var targets: [Int32: LiveTarget] = [:]
    /// The highest id that the server has chosen, or 0: after that, clients must not choose.
    var lastAssigned: Int32 = 0
    /// The read time of the last snapshot it was told: they never go back.
    var readTime: Timestamp?
    /// That of the last one in which something had changed.
    var newsTime: Timestamp?

    /// Whether its reader has no room.
    var isHeld = false
    /// What keeps it from its next snapshot; nil when it is told of every commit.
    var lag: StreamLag?

    var database: DatabaseID { context.database }
}

/// All listens, found by what they may see: a commit asks only those of its collections.
struct ListenRegistry {
    /// Targets that one stream may have.
    static let maxTargets = 10_000

    private(set) var streams: [CallID: ListenStream] = [:]
    private var byPlace: [Place: [LiveTarget]] = [:]
    /// How many of them have windows.
    private var cutOffTargets = 0

    /// Where the documents lie that a target may see.
    private enum Place: Hashable {
        case document(DatabaseID, DocumentPath)
        case collection(DatabaseID, CollectionPath)
        /// By the collections' id alone; a path of one segment, because those are compared by bytes.
        case group(DatabaseID, CollectionPath)
        case everywhere(DatabaseID)
        /// A document that the rules have read for the target, wherever its own documents lie.
        case judgedBy(DatabaseID, DocumentPath)
    }

    var streamIDs: [CallID] { Array(streams.keys) }

    mutating func open(_ id: CallID, _ context: CallContext) {
        streams[id] = ListenStream(context: context)
    }

    /// - Returns: Whether there was such a stream.
    mutating func close(_ id: CallID) -> Bool {
        guard let stream = streams.removeValue(forKey: id) else { return false }
        for target in stream.targets.values { forget(target, stream.database) }
        return true
    }

    mutating func update(_ id: CallID, _ change: (inout ListenStream) -> Void) {
        if streams[id] != nil { change(&streams[id]!) }
    }

    mutating func add(_ target: LiveTarget) {
        guard let database = streams[target.streamID]?.database else { return }
        streams[target.streamID]?.targets[target.id] = target
        if target.isCutOff { cutOffTargets += 1 }
        for place in Self.places(of: target, database) {
            byPlace[place, default: []].append(target)
        }
    }

    /// True while the target is listened to.
    func contains(_ target: LiveTarget) -> Bool {
        streams[target.streamID]?.targets[target.id] === target
    }

    /// Notes what the rules have read for a target, listened to or about to be.
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

    /// Where the target's own documents lie.
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

    /// All targets of a database, by stream and id.
    func targets(in database: DatabaseID) -> [LiveTarget] {
        streams.sorted { $0.key < $1.key }.filter { $0.value.database == database }.flatMap {
            $0.value.targets.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    /// The targets that may see the document, of one place after the other and of each in the order
    /// they were added.
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

    /// The targets for which the rules have read the document.
    func targets(judgedBy path: DocumentPath, in database: DatabaseID) -> [LiveTarget] {
        byPlace[.judgedBy(database, path)] ?? []
    }

    /// The targets whose windows the changes may have moved: those that would have a changed document
    /// among their rows, before or after, if nothing were cut off.
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
                    matches(query, change.path, change.fieldsAfter, database)
                    || matches(query, change.path, change.before?.fields, database)
                if isTouched, seen.insert(ObjectIdentifier(target)).inserted {
                    result.append(target)
                }
            }
        }
        return result
    }
}

/// Whether a document of these fields, nil for none, would be among a query's rows.
func matches(
    _ query: Query, _ path: DocumentPath, _ fields: MapValue?, _ database: DatabaseID
) -> Bool {
    guard let fields else { return false }
    return query.matches(path, fields, in: database)
}

extension Query {
    /// Whether a row's place among the others decides if it is returned.
    var isCutOff: Bool { limit != nil || offset > 0 }
}
