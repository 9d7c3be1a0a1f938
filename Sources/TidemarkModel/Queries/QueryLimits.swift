/// Firestore's limits for a query. Source: server-protocol 1.6 and 1.7.
public enum QueryLimits {
    /// The maximum number of conjunctions in disjunctive normal form.
    public static let disjunctions = 30
    /// The maximum number of values of one `not-in`.
    public static let notInValues = 10
    /// The maximum number of fields with ranges or inequalities.
    public static let inequalityFields = 10
    /// The maximum number of explicit orders, equal to the maximum number of fields of an index.
    public static let orders = 100
    /// The maximum length of a collection's id, in bytes.
    public static let collectionIDBytes = 1_500
    /// The maximum length of an encoded field path, in bytes.
    public static let fieldPathBytes = 1_500
    /// The maximum number of aggregations in one query.
    public static let aggregations = 5
    /// The maximum number of rows that a vector search returns.
    public static let nearestRows = 1_000
}
