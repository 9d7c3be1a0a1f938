public import Tidemark

/// Documents that other documents refer to by id, such as the users of a list. They are read in
/// batches, kept on the device, and read again only when they are old.
///
/// Costs a read for each document that is missing on the device or too old, thirty in a call, and
/// one read for a call in which no document exists. Other documents cost nothing. Missing documents
/// are remembered too.
public actor UserDetails {
    /// A document, as the device knows it.
    public struct Detail: Hashable, Sendable {
        /// The document; nil if it does not exist.
        public var document: QueryDocumentSnapshot?
        /// The time since the server was asked, by the device's clock; never negative.
        public var age: Duration
    }

    public struct Details: Hashable, Sendable {
        fileprivate var details: [ByteString: Detail] = [:]
        /// The reason why some details are old or missing; nil if all are up to date.
        public fileprivate(set) var error: FirestoreError?

        public var count: Int { details.count }

        /// Returns the detail of a document id; nil if it is unknown because no server answered.
        public subscript(id: String) -> Detail? { details[ByteString(id)] }
    }

    /// The maximum number of ids in a call. Source: the bound of `in`, server-protocol 2.1.
    static let batch = 30
    /// The maximum number of documents whose age is remembered; above it, the oldest ages are
    /// forgotten, and those documents are read again.
    static let capacity = 10_000

    private struct Known: Sendable {
        var time: Timestamp
        var exists: Bool
    }

    private let collection: CollectionReference
    private let path: CollectionPath
    private let engine: UserSession
    private let maxAge: Duration
    private var known: [ByteString: Known]?
    private var reading: [ByteString: Task<FirestoreError?, Never>] = [:]

    /// - Parameters:
    ///   - collection: The collection of the documents.
    ///   - maxAge: The age from which a document is read again; zero to read it every time.
    /// - Throws: `invalidArgument` if the collection or the age is invalid.
    public init(
        _ collection: CollectionReference, maxAge: Duration = .seconds(86_400)
    ) throws(FirestoreError) {
        guard let path = try collection.runnable().collection, maxAge >= .zero else {
            throw .invalidArgument("Details are of one collection, and grow old.")
        }
        self.collection = collection
        self.path = path
        self.maxAge = maxAge
        engine = collection.firestore.engine.session
    }

    /// Returns the documents of these ids. Uses the device's documents if they are fresh. Asks for
    /// each other document once, even for several concurrent callers.
    ///
    /// - Throws: The error of the disk. The server's error is in ``Details/error``.
    public func details(of ids: [String]) async throws(FirestoreError) -> Details {
        try await load()
        let ids = Set(ids.map(ByteString.init)).filter { (try? path.document($0.text)) != nil }
        let wanted = ids.filter { !isFresh($0) }
        let error = wanted.isEmpty ? nil : await read(wanted)
        return try await stored(ids, error)
    }

    /// Makes the next ``details(of:)`` read these documents again.
    public func refresh(_ ids: [String]) async throws(FirestoreError) {
        try await load()
        for id in ids { known?[ByteString(id)] = nil }
    }

    private func isFresh(_ id: ByteString) -> Bool {
        guard let time = known?[id]?.time else { return false }
        let age = collection.firestore.environment.now().duration(since: time)
        // After the clock was set back, times can be in the future: the age of such an entry is
        // unknown.
        return age >= .zero && age < maxAge
    }

    // MARK: The server

    private func read(_ ids: Set<ByteString>) async -> FirestoreError? {
        let new = ids.filter { reading[$0] == nil }.sorted { $0.text.precedesInBytes($1.text) }
        for start in stride(from: 0, to: new.count, by: Self.batch) {
            let batch = Array(new[start..<min(start + Self.batch, new.count)])
            let task = Task { await self.ask(batch) }
            for id in batch { reading[id] = task }
        }
        var error: FirestoreError?
        for task in Set(ids.compactMap { reading[$0] }) {
            error = await task.value ?? error
        }
        return error
    }

    private func ask(_ ids: [ByteString]) async -> FirestoreError? {
        defer { for id in ids { reading[id] = nil } }
        // tidemark:ignore too-many-values the callers ask for at most 30
        let query = collection.whereField(FieldPath.documentID, in: ids.map(\.text))
            .limit(to: ids.count)
        do throws(FirestoreError) {
            let snapshot = try await query.getDocuments(source: .server)
            let found = Set(snapshot.documents.map { ByteString($0.documentID) })
            let now = collection.firestore.environment.now()
            for id in ids { known?[id] = Known(time: now, exists: found.contains(id)) }
            try await save()
            return nil
        } catch { return error }
    }

    // MARK: The device

    private func stored(
        _ ids: Set<ByteString>, _ error: FirestoreError?
    ) async throws(FirestoreError) -> Details {
        let paths = ids.compactMap { try? path.document($0.text) }
        let query = try collection.runnable()
        let documents: [DocumentPath: ViewDocument?] = try await answer { finish in
            engine.cachedDocuments(at: paths, andWrittenIn: query, completion: finish)
        }
        let now = collection.firestore.environment.now()
        var result = Details(error: error)
        for path in paths {
            let id = ByteString(path.id)
            let view = documents[path] ?? nil
            guard let known = known?[id], view != nil || !known.exists else {
                // The cache has removed the document, or has received it elsewhere.
                known?[id] = nil
                continue
            }
            result.details[id] = Detail(
                document: view.map(collection.firestore.cachedSnapshot(of:)),
                age: max(.zero, now.duration(since: known.time)))
        }
        return result
    }

    private var key: String { "details/\(path.text)" }

    private func load() async throws(FirestoreError) {
        if known != nil { return }
        let bytes: [UInt8]? = try await answer { finish in
            engine.record(forKey: key, completion: finish)
        }
        if known == nil { known = bytes.map(Self.decode) ?? [:] }
    }

    private func save() async throws(FirestoreError) {
        guard var all = known else { return }
        if all.count > Self.capacity {
            let newest = all.sorted { $0.value.time > $1.value.time }.prefix(Self.capacity)
            all = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
            known = all
        }
        let bytes = Self.encode(all)
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.setRecord(bytes, forKey: key) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    private static func encode(_ known: [ByteString: Known]) -> [UInt8] {
        var fields = MapValue()
        for (id, known) in known {
            fields[id.text] = .array([.timestamp(known.time), .boolean(known.exists)])
        }
        return FieldsCodec.encode(fields)
    }

    /// Decodes the stored ages. Documents with unreadable entries are read from the server again.
    private static func decode(_ bytes: [UInt8]) -> [ByteString: Known] {
        guard let fields = try? FieldsCodec.decode(bytes) else { return [:] }
        var result: [ByteString: Known] = [:]
        for entry in fields {
            guard case .array(let parts) = entry.value, parts.count == 2,
                case .timestamp(let time) = parts[0], case .boolean(let exists) = parts[1]
            else { continue }
            result[ByteString(entry.key)] = Known(time: time, exists: exists)
        }
        return result
    }
}
