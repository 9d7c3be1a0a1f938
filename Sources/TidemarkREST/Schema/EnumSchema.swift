/// The names of an enum's values.
struct EnumSchema: Sendable {
    /// The name, as in `google.firestore.v1.StructuredQuery.Direction`.
    let name: String
    let numbers: [String: Int32]
    private let names: [Int32: String]

    init(_ name: String, _ numbers: [String: Int32]) {
        self.name = name
        self.numbers = numbers
        names = Dictionary(uniqueKeysWithValues: numbers.map { ($1, $0) })
    }

    /// Returns the name of a number; nil if it has none.
    func name(of number: Int32) -> String? { names[number] }

    static let all: [EnumType: EnumSchema] = [
        .targetChangeTargetChangeType: EnumSchema(
            "google.firestore.v1.TargetChange.TargetChangeType",
            ["NO_CHANGE": 0, "ADD": 1, "REMOVE": 2, "CURRENT": 3, "RESET": 4]),
        .structuredQueryDirection: EnumSchema(
            "google.firestore.v1.StructuredQuery.Direction",
            ["DIRECTION_UNSPECIFIED": 0, "ASCENDING": 1, "DESCENDING": 2]),
        .structuredQueryCompositeFilterOperator: EnumSchema(
            "google.firestore.v1.StructuredQuery.CompositeFilter.Operator",
            ["OPERATOR_UNSPECIFIED": 0, "AND": 1, "OR": 2]),
        .structuredQueryFieldFilterOperator: EnumSchema(
            "google.firestore.v1.StructuredQuery.FieldFilter.Operator",
            [
                "OPERATOR_UNSPECIFIED": 0, "LESS_THAN": 1, "LESS_THAN_OR_EQUAL": 2,
                "GREATER_THAN": 3, "GREATER_THAN_OR_EQUAL": 4, "EQUAL": 5, "NOT_EQUAL": 6,
                "ARRAY_CONTAINS": 7, "IN": 8, "ARRAY_CONTAINS_ANY": 9, "NOT_IN": 10,
            ]),
        .structuredQueryUnaryFilterOperator: EnumSchema(
            "google.firestore.v1.StructuredQuery.UnaryFilter.Operator",
            [
                "OPERATOR_UNSPECIFIED": 0, "IS_NAN": 2, "IS_NULL": 3, "IS_NOT_NAN": 4,
                "IS_NOT_NULL": 5,
            ]),
        .structuredQueryFindNearestDistanceMeasure: EnumSchema(
            "google.firestore.v1.StructuredQuery.FindNearest.DistanceMeasure",
            ["DISTANCE_MEASURE_UNSPECIFIED": 0, "EUCLIDEAN": 1, "COSINE": 2, "DOT_PRODUCT": 3]),
        .documentTransformFieldTransformServerValue: EnumSchema(
            "google.firestore.v1.DocumentTransform.FieldTransform.ServerValue",
            ["SERVER_VALUE_UNSPECIFIED": 0, "REQUEST_TIME": 1]),
        .transactionOptionsConcurrencyMode: EnumSchema(
            "google.firestore.v1.TransactionOptions.ConcurrencyMode",
            ["CONCURRENCY_MODE_UNSPECIFIED": 0, "OPTIMISTIC": 1, "PESSIMISTIC": 2]),
    ]
}

enum EnumType: Sendable {
    case targetChangeTargetChangeType, structuredQueryDirection,
        structuredQueryCompositeFilterOperator, structuredQueryFieldFilterOperator,
        structuredQueryUnaryFilterOperator, structuredQueryFindNearestDistanceMeasure,
        documentTransformFieldTransformServerValue, transactionOptionsConcurrencyMode

    var schema: EnumSchema { EnumSchema.all[self]! }
}
