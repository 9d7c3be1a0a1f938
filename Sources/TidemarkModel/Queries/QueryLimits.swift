/// What Firestore allows of a query; sources: server-protocol 1.6 and 1.7.
public enum QueryLimits {
    /// Conjunctions after expansion to disjunctive normal form.
    public static let disjunctions = 30
    /// Values of one `not-in`.
    public static let notInValues = 10
    /// Fields with ranges or inequalities.
    public static let inequalityFields = 10
    /// Explicit orders: as many as an index may have fields.
    public static let orders = 100
    /// Bytes of a collection's id.
    public static let collectionIDBytes = 1_500
    /// Bytes of a field path as it is written.
    public static let fieldPathBytes = 1_500
    /// Figures of one aggregation query.
    public static let aggregations = 5
    /// Rows that one vector search returns.
    public static let nearestRows = 1_000
}
