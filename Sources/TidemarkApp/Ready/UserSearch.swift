import Synchronization
public import Tidemark
import TidemarkResilience

/// Finds users, or other documents with a name, by the begin of the name, while the user types, and
/// without repeated requests.
///
/// Documents need a field of ``SearchText/normalized(_:)`` text, or of an app's own normalisation.
/// Results are kept for five minutes by prefix; a shorter prefix with complete results answers a
/// longer prefix. Results are also on disk, for the next launch. Costs a read for each row that the
/// server sends, and one if there is none; known results cost nothing.
///
/// Without a server, the device's data answer: earlier results of any age, otherwise the cached
/// documents (``Results/error`` has the reason).
///
/// ```swift
/// let search = try UserSearch(
///     firestore.collection("users"), field: "user_name_lowercase"
/// ) {
///     $0.lowercased()
/// }
/// ```
public final class UserSearch: Sendable {
    public struct Options: Hashable, Sendable {
        /// The maximum number of rows of a search: 1 to 300.
        public var limit = 20
        /// The duration for which results are valid.
        public var lifetime = Duration.seconds(300)
        /// The maximum number of prefixes with kept results; the least recently used is removed
        /// first.
        public var capacity = 200
        /// The minimum length of a prefix. Shorter prefixes find nothing, and cause no request.
        public var minimumLength = 1
        /// The maximum time for the server before the device answers; nil for the client's
        /// `readDeadline`.
        public var deadline: Duration?

        public init() {}
    }

    /// The results of a search.
    public struct Results: Hashable, Sendable {
        /// The documents, in the order of the searched field.
        public var documents: [QueryDocumentSnapshot]
        /// True if there are no further documents.
        public var isComplete: Bool
        /// The time since the server was asked; nil if it never was, and the documents are those in
        /// the cache.
        public var age: Duration?
        /// True if no server was asked for this call, or none answered.
        public var isFromCache: Bool
        /// The reason why the server did not answer; nil if it answered, or was not needed.
        public var error: FirestoreError?

        static let none = Results(documents: [], isComplete: true, age: .zero, isFromCache: true)
    }

    private struct Row: Sendable {
        let document: QueryDocumentSnapshot
        let text: String
    }

    private struct Found: Sendable {
        var rows: [Row]
        var isComplete: Bool
        var age: Duration? = .zero
        var error: FirestoreError?
    }

    /// The maximum number of rows on disk for all prefixes; above it, the rows of the least
    /// recently used prefix are removed.
    private static let storedRows = 2_000

    public let options: Options
    private let query: Query
    private let field: FieldPath
    private let normalize: @Sendable (String) -> String
    private let now: @Sendable () -> Duration
    private let engine: UserSession
    private let key: String
    private let cache: Mutex<SearchCache<Row>>
    private let opening = Mutex<Task<Void, Never>?>(nil)
    private let flights = SingleFlight<String, Found>()

    /// - Parameters:
    ///   - query: The collection, and filters if needed, without an order, a limit or a cursor.
    ///   - field: The field with the normalised text.
    ///   - options: The bounds, and the lifetime of results.
    ///   - clock: The clock for the age of results.
    ///   - normalize: The function that produced the field's text from a name; it is also applied
    ///     to the user's input. Nil for ``SearchText``. Texts are then compared by bytes.
    /// - Throws: `invalidArgument` if the arguments do not fit together.
    public init(
        _ query: Query, field: some FieldName = "searchName", options: Options = Options(),
        clock: any Clock<Duration> = ContinuousClock(),
        normalizing normalize: (@Sendable (String) -> String)? = nil
    ) throws(FirestoreError) {
        guard (1...300).contains(options.limit), options.capacity > 0,
            options.lifetime >= .zero, options.minimumLength >= 1,
            options.deadline.map({ $0 >= .zero }) ?? true
        else { throw .invalidArgument("These search options are not valid: \(options).") }
        try query.checkIsPlain(for: "A search")
        self.query = query
        self.field = try field.resolved()
        self.options = options
        self.normalize = normalize ?? SearchText.prefix
        now = elapsed(on: clock)
        engine = query.firestore.engine.session
        key = "search/\(try query.runnable().canonicalID)/\(self.field.encoded)"
        cache = Mutex(
            SearchCache(lifetime: options.lifetime, capacity: options.capacity, text: \.text))
    }

    /// Reads the results of earlier launches, once. A search calls this method automatically. Costs
    /// no reads.
    public func open() async {
        let task = opening.withLock { opening in
            let task = opening ?? Task { await self.load() }
            opening = task
            return task
        }
        await task.value
    }

    /// Returns the known results for a text, without a server; nil if the server must be asked.
    /// Results of earlier launches are known after ``open()``.
    public func known(_ text: String) -> Results? {
        let prefix = normalize(text)
        guard prefix.count >= options.minimumLength else { return Results.none }
        return kept(prefix)
    }

    private func kept(_ prefix: String, isAnyAge: Bool = false) -> Results? {
        let now = now()
        let answer = cache.withLock {
            $0.answer(prefix, limit: options.limit, at: now, isAnyAge: isAnyAge)
        }
        return answer.map { answer in
            Results(
                documents: answer.rows.map(\.document), isComplete: answer.isComplete,
                age: answer.age, isFromCache: true)
        }
    }

    /// Returns the documents that begin with a text. Concurrent searches for the same text share a
    /// request.
    ///
    /// - Throws: The server's error, or `cancelled` with the task. If the server is unreachable,
    ///   throws only if the device has nothing to show.
    public func results(for text: String) async throws(FirestoreError) -> Results {
        await open()
        if let known = known(text) { return known }
        let prefix = normalize(text)
        let found: Found
        do {
            found = try await flights.value(for: prefix) { [self] in try await find(prefix) }
        } catch {
            throw error as? FirestoreError
                ?? FirestoreError(.cancelled, "The search was cancelled.")
        }
        return Results(
            documents: found.rows.map(\.document), isComplete: found.isComplete, age: found.age,
            isFromCache: found.error != nil, error: found.error)
    }

    /// Forgets all results, also on disk, for example after a sign-out or a change that must be
    /// visible immediately.
    public func forget() {
        cache.withLock { $0.removeAll() }
        engine.setRecord(nil, forKey: key) { _ in }
    }

    // MARK: The server, or what the device has

    private func find(_ prefix: String) async throws(FirestoreError) -> Found {
        do throws(FirestoreError) { return try await ask(prefix) } catch {
            guard error.code == .unavailable || error.code == .deadlineExceeded else { throw error }
            let error = error
            if let found = try await held(prefix, error) { return found }
            throw error
        }
    }

    private func page(_ prefix: String) -> Query {
        query.whereField(field, isGreaterThanOrEqualTo: prefix)
            .whereField(field, isLessThan: SearchText.end(of: prefix))
            .order(by: field).limit(to: options.limit)
    }

    private func ask(_ prefix: String) async throws(FirestoreError) -> Found {
        let asked = now()
        let snapshot = try await page(prefix)
            .getDocuments(source: .server, within: options.deadline)
        let found = Found(
            rows: snapshot.documents.compactMap(row), isComplete: snapshot.count < options.limit)
        cache.withLock { $0.store(prefix, found.rows, isComplete: found.isComplete, at: asked) }
        await save()
        return found
    }

    /// Returns results without a server; nil if the device has none.
    private func held(
        _ prefix: String, _ error: FirestoreError
    ) async throws(FirestoreError) -> Found? {
        let now = now()
        let known = cache.withLock {
            $0.answer(prefix, limit: options.limit, at: now, isAnyAge: true)
        }
        if let known {
            return Found(
                rows: known.rows, isComplete: known.isComplete, age: known.age, error: error)
        }
        let rows = try await page(prefix).getDocuments(source: .cache).documents.compactMap(row)
        return rows.isEmpty ? nil : Found(rows: rows, isComplete: false, age: nil, error: error)
    }

    private func row(_ document: QueryDocumentSnapshot) -> Row? {
        guard case .string(let text)? = document.fields?[field] else { return nil }
        return Row(document: document, text: text)
    }

    // MARK: The disk

    /// Saves the results. The next launch asks again for results that could not be stored.
    private func save() async {
        let (now, wall) = (now(), query.firestore.environment.now())
        let entries = cache.withLock { $0.newest(rows: Self.storedRows) }
        let stored = MapValue(
            entries.map { prefix, entry in
                let ids = entry.rows.map { Value.string($0.document.reference.path) }
                let time = wall.advanced(by: entry.time - now)
                return (prefix, .array([.timestamp(time), .boolean(entry.isComplete)] + ids))
            })
        let bytes = FieldsCodec.encode(stored)
        let _: Void? = try? await answer { finish in
            engine.setRecord(bytes, forKey: key) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Loads the stored results. Unreadable results, and results with a missing document, are
    /// requested again.
    private func load() async {
        let record: [UInt8]?? = try? await answer { engine.record(forKey: key, completion: $0) }
        guard let bytes = record ?? nil, let stored = try? FieldsCodec.decode(bytes),
            let plain = try? query.runnable()
        else { return }
        var paths: Set<DocumentPath> = []
        let entries = stored.compactMap { StoredSearch($0) }
        for entry in entries { paths.formUnion(entry.paths) }
        let all = Array(paths)
        let views: [DocumentPath: ViewDocument?]? = try? await answer { finish in
            engine.cachedDocuments(at: all, andWrittenIn: plain, completion: finish)
        }
        let rows = (views ?? [:]).compactMapValues { view in
            view.flatMap { row(query.firestore.cachedSnapshot(of: $0)) }
        }
        let (now, wall) = (now(), query.firestore.environment.now())
        // The newest result is used last, so it is kept the longest.
        for entry in entries.sorted(by: { $0.time < $1.time }) {
            let found = entry.paths.compactMap { rows[$0] }
            guard found.count == entry.paths.count else { continue }
            let age = wall.duration(since: entry.time)
            // After the clock was set back, times can be in the future: the age of such a result is
            // unknown.
            let time = now - (age < .zero ? options.lifetime : age)
            cache.withLock { cache in
                cache.store(entry.prefix, found, isComplete: entry.isComplete, at: time)
            }
        }
    }
}

/// The results of a prefix, in the form on disk.
private struct StoredSearch {
    let prefix: String
    let time: Timestamp
    let isComplete: Bool
    let paths: [DocumentPath]

    init?(_ entry: MapValue.Entry) {
        guard case .array(let parts) = entry.value, parts.count >= 2,
            case .timestamp(let time) = parts[0], case .boolean(let isComplete) = parts[1]
        else { return nil }
        let paths = parts.dropFirst(2).compactMap { part -> DocumentPath? in
            if case .string(let text) = part { try? DocumentPath(text) } else { nil }
        }
        guard paths.count == parts.count - 2 else { return nil }
        (prefix, self.time, self.isComplete, self.paths) = (entry.key, time, isComplete, paths)
    }
}

/// Returns a function for the time since now, on a clock of any kind.
func elapsed(on clock: some Clock<Duration>) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
}

extension Query {
    /// - Throws: `invalidArgument` for a query with an order, a limit or a cursor.
    func checkIsPlain(for user: String) throws(FirestoreError) {
        let value = try runnable()
        guard value.orders.isEmpty, value.limit == nil, value.start == nil, value.end == nil else {
            throw .invalidArgument("The query of \(user) must have no order, limit or cursor.")
        }
    }
}
