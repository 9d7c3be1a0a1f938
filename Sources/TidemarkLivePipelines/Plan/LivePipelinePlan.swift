public import Tidemark

/// The bill of a live pipeline before it is paid: its listeners, with the rows of their answers, in
/// reads and in the units of the Enterprise edition.
///
/// `plan(of:at:lastUse:isIndexed:)` of a pipeline makes it, as of the moment at which `snapshots()`
/// has its first fresh rows. Then play the use: the plan sends nothing.
///
/// The bill is exact if the documents are those of the server, and
/// - each answer has arrived before the next change, and none is lost, because a lost answer is
///   billed again;
/// - no write of the device waits when the plan is made, and its stream of writes is open before
///   it writes: a write that first opens the stream may cost look-ups of further rows of a limit;
/// - no other listener of the app has a query of the pipeline;
/// - the conditions are ranges of at most one field, because the index entries of others are billed
///   in the Standard edition too: the bill is then the least;
/// - the server forgets a listener after 30 minutes, and then sends the names of a result as a
///   bloom filter of our server's size.
///
/// Reads of security rules are not part of it.
public struct LivePipelinePlan: Sendable {
    /// A listener that the pipeline starts. Two equal ones are one.
    public struct Listener: Hashable, Sendable {
        public enum Kind: Hashable, Sendable {
            /// The documents of a collection, by its path.
            case collection(String)
            /// The documents of all collections with an id.
            case collectionGroup(String)
            /// Every document of the database.
            case database
            /// A document by its name.
            case document(DocumentPath)
        }

        public let kind: Kind
        /// True if the listener has the pipeline's first conditions, its order or its limit; false
        /// if it listens to everything.
        public let isSelecting: Bool
        /// True if the listener continues an earlier one, and is billed only for changes.
        public let resumes: Bool
        /// The number of documents of the first answer.
        public let rows: Int
        /// The bill of the first answer, in both editions.
        public let bill: PlannedBill
    }

    /// A request, or the changes that a listener receives.
    public struct Read: Hashable, Sendable {
        public enum Kind: Hashable, Sendable, CaseIterable {
            /// The first answer of a listener, as a whole.
            case first
            /// The first answer of a listener that resumes: the changes since its end.
            case resume
            /// The whole answer once more, because a filter of names misled the client.
            case again
            /// A document that the device holds and the server no longer has in the result.
            case lookup
            /// The changes that an open listener receives.
            case live
        }

        public let kind: Kind
        /// The number of documents.
        public let rows: Int
        /// The bill in both editions.
        public let bill: PlannedBill
    }

    /// The server's time of the next request. Move it on as time passes in the planned use.
    public var now: Timestamp
    /// The listeners of the last opening, in the order in which they start.
    public private(set) var listeners: [Listener] = []
    /// The requests so far, in order.
    public private(set) var reads: [Read] = []
    public private(set) var isOpen = false

    private var targets: [PlannedTarget]
    private var server: [DocumentPath: ExpectedSourceDocument]
    /// The fields of the documents on the server, and in the cache.
    private var onServer: [DocumentPath: MapValue]
    private var device: [DocumentPath: MapValue]
    /// The times of the device's writes that no listener has sent back.
    private var own: [DocumentPath: Timestamp] = [:]
    /// The time of the last change on the server; nil if there was none.
    private var lastChange: Timestamp?
    /// The time up to which the open listeners are complete.
    private var heardAt = Timestamp.min
    private let lastUse: ClosedRange<Timestamp>?
    private let isIndexed: Bool

    /// Makes the plan of a pipeline that is not open.
    init(
        _ targets: [PlannedTarget], of documents: [ExpectedSourceDocument],
        device: [DocumentPath: MapValue], at now: Timestamp, lastUse: ClosedRange<Timestamp>?,
        isIndexed: Bool
    ) {
        self.targets = targets
        self.device = device
        self.now = now
        self.lastUse = lastUse
        self.isIndexed = isIndexed
        (server, onServer) = ([:], [:])
        apply(documents, deleting: [])
    }

    /// The bill of all ``reads``.
    public var bill: PlannedBill { reads.reduce(into: PlannedBill()) { $0 += $1.bill } }

    // MARK: A use

    /// Plays the begin of another use, after ``close()``. Does nothing while the pipeline is open.
    public mutating func open() {
        if isOpen { return }
        isOpen = true
        listeners = []
        // The client asks again at the end of a first answer, behind the other listeners' requests.
        let misled = targets.indices.filter { begin($0) }
        for index in misled { lookUp(index) }
    }

    /// Plays the end of the use.
    public mutating func close() {
        for index in targets.indices { targets[index].close(heardAt: present) }
        isOpen = false
    }

    /// Plays a commit, which an open pipeline receives.
    ///
    /// - Parameters:
    ///   - changed: The documents that are new or have changed, in their new state.
    ///   - deleted: The documents that are deleted.
    ///   - isOwn: True for a write of this device. A listener is billed for it as for another's.
    public mutating func commit(
        _ changed: [ExpectedSourceDocument], deleting deleted: [DocumentPath] = [],
        isOwn: Bool = false
    ) {
        let paths = Set(changed.map(\.path)).union(deleted)
        if isOwn {
            for path in deleted { device[path] = nil }
            for document in changed { device[document.path] = document.fields }
            showOwn(paths)
            for document in changed { own[document.path] = document.changedAt }
        }
        apply(changed, deleting: deleted)
        guard isOpen else { return }
        var touched: [Int] = []
        for index in targets.indices {
            guard let rows = targets[index].rows(after: paths, in: onServer) else { continue }
            receive(rows, .live, in: index, from: targets[index].rows ?? []) {
                paths.contains($0.path)
            }
            targets[index].open(rows)
            touched.append(index)
        }
        for index in touched { lookUp(index) }
    }

    /// The time of a message of the server. Commits of one moment have later times than the clock.
    private var present: Timestamp { max(now, lastChange ?? now) }

    /// Stores the present state of a document on the device.
    private mutating func store(_ path: DocumentPath) {
        device[path] = onServer[path]
        own[path] = nil
    }

    private mutating func apply(
        _ changed: [ExpectedSourceDocument], deleting deleted: [DocumentPath]
    ) {
        for path in deleted { (server[path], onServer[path]) = (nil, nil) }
        for document in changed {
            server[document.path] = document
            onServer[document.path] = document.fields
            lastChange = max(lastChange ?? document.changedAt, document.changedAt)
        }
    }

    // MARK: Listeners

    /// - Returns: True if a filter misled the client. Documents are looked up after its second
    ///   answer.
    private mutating func begin(_ index: Int) -> Bool {
        let target = targets[index]
        let rows = target.result(in: onServer)
        let before = reads.count
        var resumes = false
        if let held = target.held, isRecent(held) {
            resumes = true
            receive(rows, .resume, in: index, from: held.paths) { $0.changedAt > held.heardAt }
        } else {
            let documents = rows.compactMap { server[$0] }
            let bill = target.firstBill(documents, among: server.values, isIndexed: isIndexed)
            reads.append(Read(kind: .first, rows: rows.count, bill: bill))
            if let held = target.held, target.source.document == nil,
                held.areMisled(by: rows, in: target.database)
            {
                reads.append(Read(kind: .again, rows: rows.count, bill: bill))
            }
            for path in rows { store(path) }
            // The answer says that the document does not exist.
            if let path = target.source.document { store(path) }
        }
        heardAt = present
        targets[index].open(rows)
        let answer = reads[before...]
        listeners.append(
            Listener(
                target.source, resumes: resumes, rows: answer.first?.rows ?? 0,
                bill: answer.reduce(into: PlannedBill()) { $0 += $1.bill }))
        let isMisled = answer.last?.kind == .again
        if !isMisled { lookUp(index) }
        return isMisled
    }

    private func isRecent(_ held: ListenedResults.Rows) -> Bool {
        #if TIDEMARK_DEFECTS
            if BillDefect.planted == .resumesAlways { return true }
        #endif
        return held.isRecent(at: now, lastUse: lastUse)
    }

    /// Plays the changes of a result, which the device stores.
    private mutating func receive(
        _ rows: [DocumentPath], _ kind: Read.Kind, in index: Int, from old: [DocumentPath],
        isChanged: (ExpectedSourceDocument) -> Bool
    ) {
        let read = PlannedBill.changes(
            from: old, to: rows.map { ($0, server[$0]?.bytes ?? 0) },
            isChanged: { server[$0].map(isChanged) ?? false })
        if kind == .resume || read.rows > 0 {
            reads.append(Read(kind: kind, rows: read.rows, bill: read.bill))
        }
        for path in rows { store(path) }
        // A row that another one has pushed out of a limit is not sent.
        for path in old where server[path].map(isChanged) ?? true { store(path) }
        heardAt = present
    }

    /// Looks up the documents that the device shows and the server does not, each with a read.
    private mutating func lookUp(_ index: Int) {
        #if TIDEMARK_DEFECTS
            if BillDefect.planted == .lookUpsForgotten { return }
        #endif
        for path in targets[index].unconfirmed(on: device, server: onServer) { lookUp(path) }
    }

    private mutating func lookUp(_ path: DocumentPath) {
        let bytes = server[path]?.bytes ?? 0
        reads.append(Read(kind: .lookup, rows: 1, bill: .document(bytes: bytes)))
        store(path)
    }

    /// Shows a write of the device before the server has it. Rows of the cache that fill a limit
    /// again are looked up, except own writes after the last message.
    private mutating func showOwn(_ paths: Set<DocumentPath>) {
        #if TIDEMARK_DEFECTS
            if BillDefect.planted == .ownWritesAlone { return }
        #endif
        var unknown: Set<DocumentPath> = []
        for target in targets where target.isLimited {
            guard let rows = target.rows else { continue }
            unknown.formUnion(Set(target.result(in: device)).subtracting(rows))
        }
        for path in unknown.subtracting(paths).sorted() where own[path] ?? .min <= heardAt {
            lookUp(path)
        }
    }
}

extension LivePipelinePlan.Listener {
    fileprivate init(_ source: ListenedSource, resumes: Bool, rows: Int, bill: PlannedBill) {
        let query = source.query
        if let document = source.document {
            kind = .document(document)
        } else if let collection = query.collection {
            kind = .collection(collection.text)
        } else if let id = query.collectionID {
            kind = .collectionGroup(id)
        } else {
            kind = .database
        }
        isSelecting = source.isSelecting
        self.resumes = resumes
        self.rows = rows
        self.bill = bill
    }
}
