/// Which rows of a query lie nearest to a vector: the last stage of a query that has one.
public struct FindNearest: Hashable, Sendable {
    public enum DistanceMeasure: Hashable, Sendable, CaseIterable {
        case euclidean
        /// One less the cosine of the angle. Undefined for a vector of length zero.
        case cosine
        /// The larger, the nearer.
        case dotProduct
    }

    /// Rows without a vector of the query's dimension there drop out.
    public var field: FieldPath
    /// At most 2,048 numbers.
    public var vector: [Double]
    public var measure: DistanceMeasure
    /// 1 to 1,000.
    public var limit: Int
    /// Where the distance is written into each row; nil for nowhere.
    public var distanceField: FieldPath?
    /// The greatest distance, or the least product for ``DistanceMeasure/dotProduct``.
    public var threshold: Double?

    public init(
        field: FieldPath, vector: [Double], measure: DistanceMeasure, limit: Int,
        distanceField: FieldPath? = nil, threshold: Double? = nil
    ) {
        self.field = field
        self.vector = vector
        self.measure = measure
        self.limit = limit
        self.distanceField = distanceField
        self.threshold = threshold
    }
}
