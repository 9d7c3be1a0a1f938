import Foundation

/// Reads a bundle: JSON objects, each after the number of its bytes, the first one saying of what and
/// when the bundle is.
///
/// Source for the format: client-engine 2.13.
struct BundleReader {
    private let bytes: [UInt8]
    private let database: DatabaseID
    private var next = 0
    private var bundle: DocumentBundle
    /// Of the document that the next element has to be.
    private var awaited: BundledDocument?
    private(set) var progress: LoadBundleTaskProgress

    /// Called now and then while it is read.
    typealias Observer = (LoadBundleTaskProgress) -> Void

    static func read(
        _ bytes: [UInt8], of database: DatabaseID, _ observer: Observer = { _ in }
    ) throws(FirestoreError) -> (bundle: DocumentBundle, progress: LoadBundleTaskProgress) {
        var reader = try BundleReader(bytes, database)
        observer(reader.progress)
        while try reader.readElement() { observer(reader.progress) }
        guard reader.awaited == nil else { throw reader.fault("ends before a document") }
        return (reader.bundle, reader.progress)
    }

    private init(_ bytes: [UInt8], _ database: DatabaseID) throws(FirestoreError) {
        self.bytes = bytes
        self.database = database
        bundle = DocumentBundle(id: "", createTime: .epoch)
        progress = LoadBundleTaskProgress()
        guard let first = try element(), let metadata = first.json.metadata else {
            throw fault("does not begin with its metadata")
        }
        guard metadata.version == 1 else { throw fault("is of a version that is not known") }
        bundle.id = metadata.id
        bundle.createTime = metadata.createTime.time
        progress.totalDocuments = metadata.totalDocuments ?? 0
        progress.totalBytes = metadata.totalBytes?.value ?? 0
    }

    /// - Returns: False at the end.
    private mutating func readElement() throws(FirestoreError) -> Bool {
        let start = next
        guard let (json, source) = try element() else { return false }
        progress.bytesLoaded += Int64(next - start)
        if let awaited {
            guard let document = json.document, document.name == awaited.path.name(in: database)
            else { throw fault("lacks the document \(awaited.path)") }
            try take(document, as: awaited)
        } else if let query = json.namedQuery {
            try take(query, source)
        } else if let metadata = json.documentMetadata {
            try take(metadata)
        } else {
            throw fault("has an element that cannot be read")
        }
        return true
    }

    private mutating func take(
        _ document: BundledDocumentJSON, as awaited: BundledDocument
    ) throws(FirestoreError) {
        var whole = awaited
        whole.document = Document(
            path: awaited.path, fields: document.fields?.fields ?? MapValue(),
            createTime: document.createTime.time, updateTime: document.updateTime.time)
        add(whole)
        self.awaited = nil
    }

    private mutating func take(_ metadata: DocumentMetadataJSON) throws(FirestoreError) {
        let document = BundledDocument(
            path: try path(metadata.name), document: nil, readTime: metadata.readTime.time,
            queries: metadata.queries ?? [])
        if metadata.exists ?? false { awaited = document } else { add(document) }
    }

    private mutating func add(_ document: BundledDocument) {
        bundle.documents.append(document)
        progress.documentsLoaded += 1
    }

    private mutating func take(
        _ named: NamedQueryJSON, _ source: [UInt8]
    ) throws(FirestoreError) {
        bundle.namedQueries.append(
            NamedQuery(
                name: named.name, query: try named.bundledQuery.query(of: database),
                readTime: named.readTime.time, source: source))
    }

    private func path(_ name: String) throws(FirestoreError) -> DocumentPath {
        guard let reference = try? ReferenceValue(name: name), reference.database == database
        else { throw fault("holds \(name), which is no document of this database") }
        return reference.path
    }

    // MARK: Elements

    /// The next one, and the bytes it is of.
    private mutating func element() throws(FirestoreError) -> (
        json: BundleElementJSON, source: [UInt8]
    )? {
        if next == bytes.count { return nil }
        var length = 0
        var digits = 0
        while next < bytes.count, case let digit = bytes[next], (0x30...0x39).contains(digit) {
            length = length * 10 + Int(digit - 0x30)
            digits += 1
            // More than any bundle has.
            if digits > 12 { throw fault("names a length that is too large") }
            next += 1
        }
        guard digits > 0, length > 0, length <= bytes.count - next else {
            throw fault("is cut off, or is none")
        }
        let source = Array(bytes[next..<next + length])
        next += length
        do {
            return (try JSONDecoder().decode(BundleElementJSON.self, from: Data(source)), source)
        } catch { throw fault("has an element that cannot be read: \(error)") }
    }

    private func fault(_ what: String) -> FirestoreError {
        .invalidArgument("The bundle \(what) (byte \(next)).")
    }
}
