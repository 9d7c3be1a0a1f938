import TidemarkModel

extension Pipeline.Expression {
    /// The kind of the value in production's words.
    var kindName: String {
        switch self {
        case .constant(let value): value.wireKind
        case .reference: "REFERENCE_VALUE"
        case .field: "FIELD_REFERENCE_VALUE"
        case .variable: "VARIABLE_REFERENCE_VALUE"
        case .function: "FUNCTION_VALUE"
        case .pipeline: "PIPELINE_VALUE"
        case .array: "ARRAY_VALUE"
        case .map: "MAP_VALUE"
        }
    }
}

extension Value {
    /// The kind of the value on the wire.
    var wireKind: String {
        switch self {
        case .null: "NULL_VALUE"
        case .boolean: "BOOLEAN_VALUE"
        case .integer: "INTEGER_VALUE"
        case .double: "DOUBLE_VALUE"
        case .timestamp, .pendingServerTimestamp: "TIMESTAMP_VALUE"
        case .string: "STRING_VALUE"
        case .bytes: "BYTES_VALUE"
        case .reference: "REFERENCE_VALUE"
        case .geoPoint: "GEO_POINT_VALUE"
        case .array: "ARRAY_VALUE"
        case .vector, .map: "MAP_VALUE"
        }
    }
}
