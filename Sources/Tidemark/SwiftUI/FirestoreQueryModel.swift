public import Observation

/// The behaviour if a document of a `@FirestoreQuery` cannot be decoded.
public enum DecodingFailureStrategy: Hashable, Sendable {
    /// Leave the document out, and show the others.
    case ignore
    /// Show no documents.
    case raise
}

/// The rows of a query as values of an app's own type, for a view to bind to. `@FirestoreQuery`
/// uses this model.
///
/// `Value` is `[Item]`, or `Result<[Item], any Error>`. Rows are decoded on the main actor, each
/// version of a document once. For a long list use a feed or pages of TidemarkApp, which show a
/// window of the list.
///
/// ```swift
/// let model = FirestoreQueryModel<[Fruit]>(path: "fruits", predicates: [.limit(to: 50)])
/// model.listen(in: firestore)
/// ```
@MainActor @Observable
public final class FirestoreQueryModel<Value> {
    /// The settings of the query.
    public struct Configuration {
        /// The path of the collection.
        public var path: String
        public var predicates: [QueryPredicate]
        public var decodingFailureStrategy: DecodingFailureStrategy

        func query(in firestore: Firestore) -> Query {
            predicates.reduce(firestore.collection(path) as Query) { $1.applied(to: $0) }
        }
    }

    /// The shown rows. They stay until the first rows of another query have arrived.
    public private(set) var value: Value
    /// The reason why a document could not be decoded, or why the listener ended. An array keeps
    /// its rows when the listener ends.
    public private(set) var error: (any Error)?
    /// States whether the rows are the server's; nil before the first rows.
    public private(set) var freshness: Freshness?
    /// The settings. A new path, new predicates or another strategy start a new listener. After a
    /// listener has ended, setting this property starts a listener again.
    public var configuration: Configuration {
        didSet { follow() }
    }

    /// Applies a change of the shown rows, for example with an animation.
    @ObservationIgnored var change: ((() -> Void) -> Void) = { $0() }
    @ObservationIgnored private let reader: (DecodingFailureStrategy) -> Reader
    @ObservationIgnored private var firestore: Firestore?
    /// The settings of the running listener; nil while there is no listener.
    @ObservationIgnored private var followed: Asked?
    /// The last settings from the view.
    @ObservationIgnored private var given: Asked?
    @ObservationIgnored private var listening: Task<Void, Never>?

    private struct Asked: Equatable {
        let query: Query
        let strategy: DecodingFailureStrategy
    }

    private struct Shown {
        let value: Value
        let error: (any Error)?
    }

    /// Returns the rows to show for an answer; nil if they are shown already.
    private typealias Reader = (Result<[QueryDocumentSnapshot], FirestoreError>) -> Shown?

    private init(
        _ configuration: Configuration, empty: Value,
        reader: @escaping (DecodingFailureStrategy) -> Reader
    ) {
        self.configuration = configuration
        self.reader = reader
        value = empty
    }

    /// Reads nothing before ``listen(in:)``.
    ///
    /// - Parameters:
    ///   - path: The path of the collection.
    ///   - predicates: Conditions, orders and limits, in the order in which they are applied.
    ///   - decodingFailureStrategy: The behaviour if a document cannot be decoded.
    public convenience init<Item: Decodable>(
        path: String, predicates: [QueryPredicate] = [],
        decodingFailureStrategy: DecodingFailureStrategy = .raise
    ) where Value == [Item] {
        let configuration = Configuration(
            path: path, predicates: predicates, decodingFailureStrategy: decodingFailureStrategy)
        self.init(configuration, empty: []) { strategy in
            var rows = DecodedRows<Item>()
            return { answer in
                guard case .success(let documents) = answer, rows.take(documents) else {
                    return nil
                }
                let isRaised = strategy == .raise && rows.failure != nil
                return Shown(value: isRaised ? [] : rows.items, error: rows.failure)
            }
        }
    }

    /// Creates a model whose value is a result: an error replaces the rows.
    public convenience init<Item: Decodable>(
        path: String, predicates: [QueryPredicate] = [],
        decodingFailureStrategy: DecodingFailureStrategy = .raise
    ) where Value == Result<[Item], any Error> {
        let configuration = Configuration(
            path: path, predicates: predicates, decodingFailureStrategy: decodingFailureStrategy)
        self.init(configuration, empty: .success([])) { strategy in
            var rows = DecodedRows<Item>()
            return { answer in
                switch answer {
                case .failure(let error): return Shown(value: .failure(error), error: error)
                case .success(let documents):
                    guard rows.take(documents) else { return nil }
                    let raised = strategy == .raise ? rows.failure : nil
                    return Shown(
                        value: raised.map { .failure($0) } ?? .success(rows.items),
                        error: rows.failure)
                }
            }
        }
    }

    deinit { listening?.cancel() }

    /// Shows the rows of a client's database, first from the cache, and keeps them up to date while
    /// the model exists. A second call with the same client changes nothing.
    ///
    /// Costs one read for each row that the server sends.
    public func listen(in firestore: Firestore) {
        self.firestore = firestore
        follow()
    }

    /// Listens to a view's query, if it differs from the view's last query.
    func adopt(_ configuration: Configuration, in firestore: Firestore) {
        let asked = Asked(
            query: configuration.query(in: firestore),
            strategy: configuration.decodingFailureStrategy)
        if asked == given { return }
        let isFirst = given == nil
        given = asked
        self.firestore = firestore
        if isFirst { follow() } else { self.configuration = configuration }
    }

    private func follow() {
        guard let firestore else { return }
        let asked = Asked(
            query: configuration.query(in: firestore),
            strategy: configuration.decodingFailureStrategy)
        if asked == followed { return }
        followed = asked
        listening?.cancel()
        let read = reader(asked.strategy)
        listening = Task { [weak self] in
            do throws(FirestoreError) {
                for try await snapshot in asked.query.snapshots(includeMetadataChanges: true) {
                    if Task.isCancelled { return }
                    self?.show(read(.success(snapshot.documents)), snapshot.freshness)
                }
            } catch {
                if Task.isCancelled || error.code == .cancelled { return }
                self?.end(read(.failure(error)), error)
            }
        }
    }

    private func show(_ shown: Shown?, _ freshness: Freshness) {
        if self.freshness != freshness { self.freshness = freshness }
        guard let shown else { return }
        change {
            value = shown.value
            error = shown.error
        }
    }

    private func end(_ shown: Shown?, _ error: FirestoreError) {
        followed = nil
        change {
            if let shown { value = shown.value }
            self.error = error
        }
    }
}

/// The rows of a query, each version of a document decoded once.
struct DecodedRows<Item: Decodable> {
    private(set) var items: [Item] = []
    /// The error of the first document that could not be decoded.
    private(set) var failure: (any Error)?
    private var documents: [QueryDocumentSnapshot]?
    private var known: [String: Row] = [:]

    private struct Row {
        let document: QueryDocumentSnapshot
        let decoded: Result<Item, any Error>
    }

    /// Returns true if there is another row, another version or another order; metadata are
    /// ignored.
    mutating func take(_ next: [QueryDocumentSnapshot]) -> Bool {
        if let documents, documents.elementsEqual(next, by: { $0.hasVersion(of: $1) }) {
            return false
        }
        documents = next
        var rows: [String: Row] = [:]
        items = []
        failure = nil
        for document in next {
            let path = document.reference.path
            let kept = known[path].flatMap { $0.document.hasVersion(of: document) ? $0 : nil }
            let row =
                kept
                ?? Row(
                    document: document,
                    decoded: Result { try document.data(as: Item.self) })
            rows[path] = row
            switch row.decoded {
            case .success(let item): items.append(item)
            case .failure(let error): failure = failure ?? error
            }
        }
        known = rows
        return true
    }
}
