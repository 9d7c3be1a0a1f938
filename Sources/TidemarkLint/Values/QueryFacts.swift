/// What the code says of a query.
struct QueryFacts: Hashable, Sendable {
    enum Segment: Hashable, Sendable {
        case text(String)
        /// A value of the running app, as it is written.
        case written(String)
    }

    enum Limit: Hashable, Sendable {
        case none
        case count(Int)
        /// There is one, of a number that the app knows.
        case written(String)
        /// On some ways through the code only.
        case sometimes
    }

    struct Condition: Hashable, Sendable {
        /// Nil for a field that only the running app knows.
        let field: String?
        /// The label: `isEqualTo`.
        let test: String
        let value: Known
        /// As it is written.
        let text: String
    }

    struct Order: Hashable, Sendable {
        let field: String?
        /// Nil where only the running app knows.
        let isDescending: Bool?
    }

    /// Names of collections and documents, alternating.
    var path: [Segment] = []
    /// Whether more stands before `path` that the code does not say.
    var hasUnknownPrefix = false
    var isGroup = false
    var conditions: [Condition] = []
    var orders: [Order] = []
    var limit = Limit.none
    var hasCursor = false
    /// False where a part of it was not understood; nothing is said of such a query that the rest could
    /// refute.
    var isComplete = true
    /// Whether a filter was set with `whereFilter`.
    var hasCompositeFilter = false
    /// Whether these are what has changed in the result, `documentChanges`.
    var isOfChanges = false

    static let unknown: QueryFacts = {
        var facts = QueryFacts()
        facts.hasUnknownPrefix = true
        facts.isComplete = false
        facts.limit = .sometimes
        return facts
    }()

    var changes: QueryFacts {
        var facts = self
        facts.isOfChanges = true
        return facts
    }

    /// The last segment of a document that is made anew, `collection.document()`.
    static let newID = Segment.written("a new id")

    /// The collection's id; nil where only the running app knows it.
    var collectionID: String? {
        if case .text(let name)? = path.last { return name }
        return nil
    }

    /// As for people: `chats/…/messages`.
    var name: String {
        let isKnown = path.contains { if case .text = $0 { true } else { false } }
        guard isKnown else { return "a collection" }
        let parts = path.map { segment in
            switch segment {
            case .text(let text): text
            case .written: "…"
            }
        }
        return (hasUnknownPrefix ? "…/" : "") + parts.joined(separator: "/")
    }

    /// Whether the result has at most one document because the code asks for an id.
    var asksForIDs: Bool {
        conditions.contains {
            ($0.test == "isEqualTo" || $0.test == "in") && $0.field == "__name__"
        }
    }

    /// What holds whichever of two ways the code went.
    func joined(with other: QueryFacts) -> QueryFacts {
        if self == other { return self }
        var result = self
        result.isComplete = false
        if path != other.path {
            result.path =
                path.count == other.path.count
                ? zip(path, other.path).map { $0 == $1 ? $0 : .written("…") } : []
            result.hasUnknownPrefix = hasUnknownPrefix || path.count != other.path.count
        }
        result.conditions = conditions.filter(other.conditions.contains)
        result.orders = orders == other.orders ? orders : []
        switch (limit, other.limit) {
        case (.none, .none): break
        case (.none, _), (_, .none), (.sometimes, _), (_, .sometimes): result.limit = .sometimes
        case (.count(let a), .count(let b)): result.limit = .count(max(a, b))
        default: result.limit = .written("…")
        }
        result.hasCursor = hasCursor || other.hasCursor
        return result
    }
}

/// What the code says of a value.
indirect enum Known: Hashable, Sendable {
    case unknown
    case text(String)
    case number(Int)
    case flag(Bool)
    /// A list of so many elements.
    case list([Known])
    /// A list of which only the type of its elements is known.
    case elements(String)
    case symbol(String)

    case database
    case query(QueryFacts)
    /// A document: the query is its collection with its id as last segment.
    case document(QueryFacts)
    case aggregate(QueryFacts)
    case querySnapshot(QueryFacts)
    case documents(QueryFacts)
    case documentSnapshot
    case batch
    case transaction
    case registration

    /// An object of a type of the project, or of a known one: `UserDefaults`.
    case instance(String)
    case metatype(String)
    /// `FieldValue.…()`.
    case fieldValue(String)
    /// What the device's clock says; the text is how it is written.
    case deviceTime
    /// What came from `UserDefaults`.
    case kept
    /// The signed-in user's id.
    case userID
    /// What a document's field holds.
    case fieldOfDocument

    var query: QueryFacts? {
        if case .query(let facts) = self { return facts }
        return nil
    }

    func joined(with other: Known) -> Known {
        if self == other { return self }
        switch (self, other) {
        case (.query(let a), .query(let b)): return .query(a.joined(with: b))
        case (.query(var a), .unknown), (.unknown, .query(var a)):
            a.isComplete = false
            if a.limit == .none { a.limit = .sometimes }
            return .query(a)
        case (.document(let a), .document(let b)): return .document(a.joined(with: b))
        case (.kept, _), (_, .kept): return .kept
        default: return .unknown
        }
    }

    /// What a name of a type tells.
    static func of(type name: String?) -> Known {
        switch name {
        case "Firestore": .database
        case "Query", "CollectionReference": .query(.unknown)
        case "DocumentReference": .document(.unknown)
        case "QuerySnapshot": .querySnapshot(.unknown)
        case "DocumentSnapshot", "QueryDocumentSnapshot": .documentSnapshot
        case "WriteBatch": .batch
        case "Transaction": .transaction
        case "ListenerRegistration": .registration
        case let name?: .instance(name)
        case nil: .unknown
        }
    }
}
