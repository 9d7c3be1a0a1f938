import Synchronization
public import Tidemark
import TidemarkResilience

/// Finds users, or whatever has a name, by how it begins: as it is typed, and without asking for the
/// same twice.
///
/// Documents need a field of ``SearchText/normalized(_:)`` text, or of an app's own normalisation. Results
/// are kept for five minutes by prefix; a longer prefix is answered from a shorter one all of whose results
/// are known. They are on disk too, for the next launch. Costs a read for each row that the server sends,
/// and one where there is none; nothing for what is known.
///
/// Without a server it answers with what the device has: earlier results of any age, else the documents
/// that it happens to hold (``Results/error`` says why).
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
        /// Rows of one search: 1 to 300.
        public var limit = 20
        /// How long results are good for.
        public var lifetime = Duration.seconds(300)
        /// Prefixes whose results are kept; the one used the longest ago goes first.
        public var capacity = 200
        /// Shorter prefixes find nothing, and ask nothing.
        public var minimumLength = 1
        /// How long the server may take before the device answers; nil for the client's `readDeadline`.
        public var deadline: Duration?

        public init() {}
    }

    /// What a search has found.
    public struct Results: Hashable, Sendable {
        /// By the field that was searched.
        public var documents: [QueryDocumentSnapshot]
        /// Whether there are no more than these.
        public var isComplete: Bool
        /// Since the server was asked; nil where it never was, and these are what the device happens to
        /// hold.
        public var age: Duration?
        /// Whether no server was asked for it now, or none answered.
        public var isFromCache: Bool
        /// Why the server did not answer; nil where it did, or was not needed.
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

    /// Rows on disk of all prefixes together; of more, those of the prefix used the longest ago go.
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
    ///   - query: The collection, and filters if any; without an order, a limit or a cursor.
    ///   - field: The field with the normalised text.
    ///   - options: Bounds, and how long results count.
    ///   - clock: By which results grow old.
    ///   - normalize: How the field's text was made of a name, applied to what is typed; nil for
    ///     ``SearchText``. Text is then compared by bytes.
    /// - Throws: `invalidArgument` when that makes no sense.
    public init(
        _ query: Query, field: some FieldName = "searchName", options: Options = Options(),
        clock: any Clock<Duration> = ContinuousClock(),
        normalizing normalize: (@Sendable (String) -> String)? = nil
    ) throws(FirestoreError) {
        guard (1...300).contains(options.limit), options.capacity > 0,
            options.lifetime >= .zero, options.minimumLength >= 1,
            options.deadline.map({ $0 >= .zero }) ?? true
        else { throw .invalidArgument("These are no options of a search: \(options).") }
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

    /// Reads what earlier launches have found, once. A search does it by itself. Costs no reads.
    public func open() async {
        let task = opening.withLock { opening in
            let task = opening ?? Task { await self.load() }
            opening = task
            return task
        }
        await task.value
    }

    /// What is known of a text without asking the server; nil when that has to be asked. What earlier
    /// launches have found is known after ``open()``.
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

    /// What begins with a text. Searches for the same at the same time share one question.
    ///
    /// - Throws: What the server answered, or `cancelled` with the task. Where it is out of reach, only
    ///   when the device has nothing to show.
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

    /// Forgets all results, on disk too, as after a sign-out or a change that must be seen at once.
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

    /// Without a server; nil where the device has nothing.
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

    /// What cannot be stored is asked for again by the next launch.
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

    /// What cannot be read, or has lost a document, is asked for again.
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
        // The newest is used last, so that it is kept the longest.
        for entry in entries.sorted(by: { $0.time < $1.time }) {
            let found = entry.paths.compactMap { rows[$0] }
            guard found.count == entry.paths.count else { continue }
            let age = wall.duration(since: entry.time)
            // A clock that was set back makes things that are from the future: they may be any age.
            let time = now - (age < .zero ? options.lifetime : age)
            cache.withLock { cache in
                cache.store(entry.prefix, found, isComplete: entry.isComplete, at: time)
            }
        }
    }
}

/// The results of one prefix, as they are on disk.
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

/// The time since now, on a clock of any kind.
func elapsed(on clock: some Clock<Duration>) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
}

extension Query {
    /// - Throws: `invalidArgument` for one with an order, a limit or a cursor.
    func checkIsPlain(for user: String) throws(FirestoreError) {
        let value = try runnable()
        guard value.orders.isEmpty, value.limit == nil, value.start == nil, value.end == nil else {
            throw .invalidArgument("\(user) sets the order, the limit and the cursors by itself.")
        }
    }
}
