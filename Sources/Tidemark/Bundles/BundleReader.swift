/// Reads a bundle from its bytes as they arrive. A bundle is a sequence of JSON objects, each after
/// the number of its bytes. The first object is the bundle's description. Keeps at most one element
/// and the bytes that arrived with it.
///
/// Source for the format: client-engine 2.13.
struct BundleReader {
    enum Event {
        case began(id: String, createTime: Timestamp)
        case document(BundledDocument)
        case query(NamedQuery)
    }

    /// The maximum size of an element in bytes: sixteen times the largest document.
    static let longestElement = 16 << 20

    private let database: DatabaseID
    private var buffer: [UInt8] = []
    /// The position in the bundle of the buffer's first byte.
    private var offset = 0
    /// The position of the next byte in the buffer.
    private var next = 0
    private var hasBegun = false
    /// The document whose contents the next element must hold.
    private var awaited: BundledDocument?
    private(set) var progress = LoadBundleTaskProgress()

    init(_ database: DatabaseID) { self.database = database }

    /// The number of kept bytes.
    var buffered: Int { buffer.count }

    mutating func append(_ bytes: [UInt8]) {
        buffer.removeFirst(next)
        offset += next
        next = 0
        buffer += bytes
    }

    /// - Parameter isEnd: True if all bytes were appended.
    /// - Returns: The next event; nil if more bytes are needed, or if the bundle ends here.
    mutating func nextEvent(isEnd: Bool) throws(FirestoreError) -> Event? {
        while let source = try element(isEnd: isEnd) {
            if let event = try event(of: source) { return event }
        }
        if isEnd, awaited != nil { throw fault("ends before a document") }
        if isEnd, !hasBegun { throw fault("does not begin with its metadata") }
        return nil
    }

    // MARK: Elements

    private mutating func event(of source: [UInt8]) throws(FirestoreError) -> Event? {
        let json: BundleElementJSON
        do { json = try JSONValueDecoder().decode(BundleElementJSON.self, from: source) } catch {
            throw fault("has an element that cannot be read: \(error)")
        }
        guard hasBegun else { return try begin(json) }
        if let awaited {
            guard let document = json.document, document.name == awaited.path.name(in: database)
            else { throw fault("lacks the document \(awaited.path)") }
            self.awaited = nil
            return .document(whole(document, awaited))
        }
        if let query = json.namedQuery {
            return .query(
                NamedQuery(
                    name: query.name, query: try query.bundledQuery.query(of: database),
                    readTime: query.readTime.time, source: source))
        }
        guard let metadata = json.documentMetadata else {
            throw fault("has an element that cannot be read")
        }
        let document = BundledDocument(
            path: try path(metadata.name), document: nil, readTime: metadata.readTime.time,
            queries: metadata.queries ?? [])
        if metadata.exists ?? false {
            awaited = document
            return nil
        }
        progress.documentsLoaded += 1
        return .document(document)
    }

    private mutating func begin(_ json: BundleElementJSON) throws(FirestoreError) -> Event {
        guard let metadata = json.metadata else {
            throw fault("does not begin with its metadata")
        }
        guard metadata.version == 1 else { throw fault("has an unknown version") }
        hasBegun = true
        progress.bytesLoaded = 0
        progress.totalDocuments = metadata.totalDocuments ?? 0
        progress.totalBytes = Int(clamping: metadata.totalBytes?.value ?? 0)
        return .began(id: metadata.id, createTime: metadata.createTime.time)
    }

    private mutating func whole(
        _ document: BundledDocumentJSON, _ awaited: BundledDocument
    ) -> BundledDocument {
        var whole = awaited
        whole.document = Document(
            path: awaited.path, fields: document.fields?.fields ?? MapValue(),
            createTime: document.createTime.time, updateTime: document.updateTime.time)
        progress.documentsLoaded += 1
        return whole
    }

    private func path(_ name: String) throws(FirestoreError) -> DocumentPath {
        guard let reference = try? ReferenceValue(name: name), reference.database == database
        else { throw fault("has \(name), which is not a document of this database") }
        return reference.path
    }

    /// Returns the bytes of the next element; nil if they have not all arrived.
    private mutating func element(isEnd: Bool) throws(FirestoreError) -> [UInt8]? {
        var end = next
        var length = 0
        while end < buffer.count, case let digit = buffer[end], (0x30...0x39).contains(digit) {
            length = length * 10 + Int(digit - 0x30)
            guard length <= Self.longestElement else {
                throw fault("names a length that is too large")
            }
            end += 1
        }
        if end == buffer.count, !isEnd { return nil }
        if next == buffer.count { return nil }
        guard end > next, length > 0 else { throw fault("is incomplete, or not a bundle") }
        guard length <= buffer.count - end else {
            if isEnd { throw fault("is incomplete, or not a bundle") }
            return nil
        }
        progress.bytesLoaded += end + length - next
        next = end + length
        return Array(buffer[end..<next])
    }

    private func fault(_ what: String) -> FirestoreError {
        .invalidArgument("The bundle \(what) (byte \(offset + next)).")
    }
}
