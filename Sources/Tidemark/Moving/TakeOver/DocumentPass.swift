/// Reads all documents of a cache, each with the targets that hold it, in slices. The tables of
/// documents and of their targets have the same order, so the pass reads both once.
struct DocumentPass {
    /// The maximum number of documents of a slice.
    static let mostDocuments = 200
    /// The number of bytes at which a slice ends.
    static let fullSlice = 256 << 10

    private let cache: FirebaseCache
    private let accepts: (@Sendable (DocumentPath) -> Bool)?
    /// The targets that are taken already.
    private let taken: Set<Int>
    private var documents: StoreCursor
    private var rows: StoreCursor
    private var nextDocument: (key: [UInt8], value: [UInt8])?
    private var nextRow: (path: [UInt8], target: Int32)?
    private var isStarted = false
    private var isAtEnd = false
    /// The path of the last document, as in its key.
    private var position: [UInt8]
    /// The number of documents that were looked at.
    private(set) var count = 0

    /// - Parameter position: The position of the last slice; empty for the start.
    init(
        _ cache: FirebaseCache, after position: [UInt8], taken: Set<Int>,
        accepts: (@Sendable (DocumentPath) -> Bool)?
    ) {
        self.cache = cache
        self.taken = taken
        self.accepts = accepts
        self.position = position
        documents = cache.reader.cursor(
            under: StoreKey.documents, from: StoreKey.firstDocument(after: position))
        rows = cache.reader.cursor(
            under: StoreKey.documentTargets, from: StoreKey.firstDocumentTarget(after: position))
    }

    /// Returns the next slice, or nil at the end.
    mutating func next() throws(FirebaseStoreError) -> TakeOverPart? {
        if isAtEnd { return nil }
        if !isStarted {
            isStarted = true
            try readDocument()
            try readRow()
        }
        var part = TakeOverPart()
        var bytes = 0
        while let (key, value) = nextDocument, part.documents.count < Self.mostDocuments,
            bytes < Self.fullSlice
        {
            // The last byte of a key is its end, and not part of the path.
            let path = Array(key.dropFirst(StoreKey.documents.count).dropLast())
            try spoilRows(before: path, &part)
            let targets = try targets(of: path)
            add(key, value: value, targets: targets, to: &part)
            position = path
            bytes += value.count
            count += 1
            try readDocument()
        }
        if nextDocument == nil {
            isAtEnd = true
            try spoilRows(before: nil, &part)
        }
        if !cache.hasWholeTargets { part.spoiled.formUnion(cache.targets.indices) }
        part.position = position
        return part
    }

    private mutating func readDocument() throws(FirebaseStoreError) {
        nextDocument = try documents.next()
    }

    private mutating func readRow() throws(FirebaseStoreError) {
        nextRow = nil
        while let (key, _) = try rows.next() {
            guard let row = StoreKey.documentTarget(key) else { continue }
            nextRow = (StoreKey.encoded(row.path), row.target)
            return
        }
    }

    /// Notes the rows whose documents are missing: their results are not complete.
    private mutating func spoilRows(
        before path: [UInt8]?, _ part: inout TakeOverPart
    ) throws(FirebaseStoreError) {
        while let row = nextRow {
            if let path, Comparison.bytes(row.path, path) != .ascending { return }
            if let number = cache.numbers[row.target] { part.spoiled.insert(number) }
            try readRow()
        }
    }

    private mutating func targets(of path: [UInt8]) throws(FirebaseStoreError) -> [Int] {
        var targets: [Int] = []
        while let row = nextRow, row.path == path {
            if let number = cache.numbers[row.target], !taken.contains(number) {
                targets.append(number)
            }
            try readRow()
        }
        return targets
    }

    private func add(
        _ key: [UInt8], value: [UInt8], targets: [Int], to part: inout TakeOverPart
    ) {
        let found = CachedDocument(
            key, value: value, targets: targets, cache: cache, accepts: accepts)
        part.spoiled.formUnion(found.spoiled)
        if let reason = found.reason { cache.leave(reason) }
        if let document = found.document { part.documents.append(document) }
    }
}

/// A document of the store in the form of this client's cache, or the reason why there is none.
struct CachedDocument {
    private(set) var document: TakenDocument?
    private(set) var reason: CacheTakeOver.Reason?
    /// The targets of which this row cannot be taken.
    private(set) var spoiled: [Int] = []

    /// - Parameter targets: The places of the targets that have the document.
    init(
        _ key: [UInt8], value: [UInt8], targets: [Int], cache: FirebaseCache,
        accepts: ((DocumentPath) -> Bool)?
    ) {
        spoiled = targets
        guard let text = StoreKey.document(key), let path = try? DocumentPath(text),
            let row = try? CachedRow(value)
        else {
            reason = .unreadable
            return
        }
        guard row.name.hasSameBytes(as: path.name(in: cache.database)) else {
            reason = .otherDatabase
            return
        }
        if let accepts, !accepts(path) {
            reason = .notAccepted
            return
        }
        let isUncertain = cache.reader.damage.mayHide(key)
        let isFound: Bool
        let kind: TakenDocument.Kind
        var contents = EncodedFields.empty
        switch row.contents {
        case .found(let fields): (isFound, kind, contents) = (true, .found, fields)
        case .missing: (isFound, kind) = (false, .missing)
        case .unknown: (isFound, kind) = (false, .unknown)
        }
        // These targets have a row for the document, but no document as new as their result.
        spoiled =
            isUncertain
            ? targets : isFound ? [] : targets.filter { cache.targets[$0].version >= row.version }
        // No target needs this document, and an uncertain document may be an older version.
        if targets.isEmpty, !isFound || isUncertain { return }
        let readTime = targets.map { cache.targets[$0].version }.max() ?? row.version
        document = TakenDocument(
            path: path, kind: kind, contents: contents, version: row.version,
            readTime: isUncertain ? row.version : readTime, isCommitted: row.isCommitted,
            targets: targets)
    }
}
