/// The facts about a query in the code.
struct QueryFacts: Hashable, Sendable {
    enum Segment: Hashable, Sendable {
        case text(String)
        /// A value of the running app, in its source text.
        case written(String)
    }

    enum Limit: Hashable, Sendable {
        case none
        case count(Int)
        /// There is a limit, whose number only the running app knows.
        case written(String)
        /// There is a limit only on some paths through the code.
        case sometimes
    }

    struct Condition: Hashable, Sendable {
        /// The field; nil if only the running app knows it.
        let field: String?
        /// The label of the test: `isEqualTo`.
        let test: String
        let value: Known
        /// The value's source text.
        let text: String
    }

    struct Order: Hashable, Sendable {
        let field: String?
        /// The direction; nil if only the running app knows it.
        let isDescending: Bool?
    }

    /// The names of collections and documents, alternating.
    var path: [Segment] = []
    /// True if the path has an unknown part before `path`.
    var hasUnknownPrefix = false
    var isGroup = false
    var conditions: [Condition] = []
    var orders: [Order] = []
    var limit = Limit.none
    var hasCursor = false
    /// False if a part of the query was not understood; there is no finding about such a query that
    /// this part could refute.
    var isComplete = true
    /// True if `whereFilter` has set a filter.
    var hasCompositeFilter = false
    /// True if the documents are the changes of the result, `documentChanges`.
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

    /// The last segment of a newly created document, `collection.document()`.
    static let newID = Segment.written("a new id")

    /// The collection's id; nil if only the running app knows it.
    var collectionID: String? {
        if case .text(let name)? = path.last { return name }
        return nil
    }

    /// The name in a readable form: `chats/…/messages`.
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

    /// True if the result has few documents because the code asks for ids.
    var asksForIDs: Bool {
        conditions.contains {
            ($0.test == "isEqualTo" || $0.test == "in") && $0.field == "__name__"
        }
    }

    /// Returns the facts that are true on both of two paths through the code.
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

/// The facts about a value in the code.
indirect enum Known: Hashable, Sendable {
    case unknown
    case text(String)
    case number(Int)
    case flag(Bool)
    /// A list with these elements.
    case list([Known])
    /// A list of which only the type of its elements is known.
    case elements(String)
    case symbol(String)

    case database
    /// The beginning of a pipeline: `firestore.pipeline()`.
    case pipelineSource
    case pipeline(PipelineFacts)
    case query(QueryFacts)
    /// A document: the query is its collection, with the document's id as last segment.
    case document(QueryFacts)
    case aggregate(QueryFacts)
    case querySnapshot(QueryFacts)
    case documents(QueryFacts)
    case documentSnapshot
    case batch
    case transaction
    case registration

    /// An object of a type of the project, or of a known type: `UserDefaults`.
    case instance(String)
    case metatype(String)
    /// A value of `FieldValue.…()`.
    case fieldValue(String)
    /// The time of the device's clock.
    case deviceTime
    /// A value from `UserDefaults`.
    case kept
    /// The signed-in user's id.
    case userID
    /// The value of a document's field.
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
        case (.pipeline(let a), .pipeline(let b)): return .pipeline(a.joined(with: b))
        case (.kept, _), (_, .kept): return .kept
        default: return .unknown
        }
    }

    /// Returns the facts that follow from a type's name.
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
