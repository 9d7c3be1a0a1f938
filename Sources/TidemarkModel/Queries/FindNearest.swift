/// A vector search, the last stage of a query: keeps the rows that are nearest to a vector.
public struct FindNearest: Hashable, Sendable {
    public enum DistanceMeasure: Hashable, Sendable, CaseIterable {
        case euclidean
        /// The cosine distance, one minus the cosine of the angle. Undefined for a zero vector.
        case cosine
        /// The dot product. A larger product means a nearer vector.
        case dotProduct
    }

    /// The field that holds the vectors. Rows without a vector of the query's dimension are
    /// dropped.
    public var field: FieldPath
    /// The vector to search for, of at most 2,048 numbers.
    public var vector: [Double]
    public var measure: DistanceMeasure
    /// The maximum number of rows, 1 to 1,000.
    public var limit: Int
    /// The field of each row that receives the distance; nil if the distance is not written.
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
