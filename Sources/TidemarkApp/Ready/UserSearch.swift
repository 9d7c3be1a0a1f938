import Synchronization
public import Tidemark
import TidemarkResilience

/// Finds users, or whatever has a name, by how it begins: as it is typed, and without asking for the
/// same twice.
///
/// Documents need a field of ``SearchText/normalized(_:)`` text. Results are kept for five minutes by
/// prefix; a longer prefix is answered from a shorter one all of whose results are known. Costs a read
/// for each row that the server sends, and one where there is none; nothing for what is known.
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

        public init() {}
    }

    /// What a search has found.
    public struct Results: Hashable, Sendable {
        /// By the field that was searched.
        public var documents: [QueryDocumentSnapshot]
        /// Whether there are no more than these.
        public var isComplete: Bool
        /// Since the server was asked.
        public var age: Duration
        /// Whether no server was asked for it now.
        public var isFromCache: Bool

        static let none = Results(documents: [], isComplete: true, age: .zero, isFromCache: true)
    }

    private struct Row: Sendable {
        let document: QueryDocumentSnapshot
        let text: String
    }

    private struct Found: Sendable {
        var rows: [Row]
        var isComplete: Bool
    }

    public let options: Options
    private let query: Query
    private let field: FieldPath
    private let now: @Sendable () -> Duration
    private let cache: Mutex<SearchCache<Row>>
    private let flights = SingleFlight<String, Found>()

    /// - Parameters:
    ///   - query: The collection, and filters if any; without an order, a limit or a cursor.
    ///   - field: The field with the normalised text.
    ///   - options: Bounds, and how long results count.
    ///   - clock: By which results grow old.
    /// - Throws: `invalidArgument` when that makes no sense.
    public init(
        _ query: Query, field: some FieldName = "searchName", options: Options = Options(),
        clock: any Clock<Duration> = ContinuousClock()
    ) throws(FirestoreError) {
        guard (1...300).contains(options.limit), options.capacity > 0,
            options.lifetime >= .zero, options.minimumLength >= 1
        else { throw .invalidArgument("These are no options of a search: \(options).") }
        try query.checkIsPlain(for: "A search")
        self.query = query
        self.field = try field.resolved()
        self.options = options
        now = elapsed(on: clock)
        cache = Mutex(
            SearchCache(lifetime: options.lifetime, capacity: options.capacity, text: \.text))
    }

    /// What is known of a text without asking the server; nil when that has to be asked.
    public func known(_ text: String) -> Results? {
        let prefix = SearchText.prefix(text)
        guard prefix.count >= options.minimumLength else { return Results.none }
        let now = now()
        let answer = cache.withLock { $0.answer(prefix, limit: options.limit, at: now) }
        return answer.map { answer in
            Results(
                documents: answer.rows.map(\.document), isComplete: answer.isComplete,
                age: answer.age, isFromCache: true)
        }
    }

    /// What begins with a text. Searches for the same at the same time share one question.
    ///
    /// - Throws: What the server answered, or `cancelled` with the task.
    public func results(for text: String) async throws(FirestoreError) -> Results {
        if let known = known(text) { return known }
        let prefix = SearchText.prefix(text)
        let found: Found
        do {
            found = try await flights.value(for: prefix) { [self] in try await ask(prefix) }
        } catch {
            throw error as? FirestoreError
                ?? FirestoreError(.cancelled, "The search was cancelled.")
        }
        return Results(
            documents: found.rows.map(\.document), isComplete: found.isComplete, age: .zero,
            isFromCache: false)
    }

    /// Forgets all results, as after a sign-out or a change that must be seen at once.
    public func forget() { cache.withLock { $0.removeAll() } }

    private func ask(_ prefix: String) async throws(FirestoreError) -> Found {
        let asked = now()
        let page = query.whereField(field, isGreaterThanOrEqualTo: prefix)
            .whereField(field, isLessThan: SearchText.end(of: prefix))
            .order(by: field).limit(to: options.limit)
        let snapshot = try await page.getDocuments(source: .server)
        let rows = snapshot.documents.compactMap { document -> Row? in
            guard case .string(let text)? = document.fields?[field] else { return nil }
            return Row(document: document, text: text)
        }
        let found = Found(rows: rows, isComplete: snapshot.count < options.limit)
        cache.withLock { $0.store(prefix, found.rows, isComplete: found.isComplete, at: asked) }
        return found
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
