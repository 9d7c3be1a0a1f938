package import TidemarkModel

/// A pipeline as a client sends it: stages that read documents and change rows, in order.
///
/// The type has the form of the wire's message, so decoding makes no decisions. ``validated(in:
/// limits:)`` checks a pipeline and returns the form that runs.
package struct Pipeline: Hashable, Sendable {
    package var stages: [Stage]

    package init(stages: [Stage]) { self.stages = stages }

    /// A stage: a name with positional arguments and named options.
    package struct Stage: Hashable, Sendable {
        package var name: String
        package var arguments: [Expression]
        package var options: [Entry]

        package init(name: String, arguments: [Expression] = [], options: [Entry] = []) {
            self.name = name
            self.arguments = arguments
            self.options = options
        }
    }

    /// A key and its expression, in a map or among options.
    package struct Entry: Hashable, Sendable {
        package var key: String
        package var value: Expression

        package init(key: String, value: Expression) {
            self.key = key
            self.value = value
        }

        package static func == (left: Entry, right: Entry) -> Bool {
            left.key.hasSameBytes(as: right.key) && left.value == right.value
        }

        package func hash(into hasher: inout Hasher) {
            key.hashBytes(into: &hasher)
            hasher.combine(value)
        }
    }

    /// A value of the wire that may contain fields, variables, functions and pipelines.
    package indirect enum Expression: Hashable, Sendable {
        /// A value without parts that need evaluation.
        case constant(Value)
        /// A reference as sent: `/books`, `/books/b1`, an absolute name, or an empty text.
        case reference(String)
        /// The path of a field as sent, for example `awards.hugo`.
        case field(String)
        case variable(String)
        case function(name: String, arguments: [Expression], options: [Entry])
        case pipeline(Pipeline)
        case array([Expression])
        case map([Entry])
    }
}

extension Pipeline.Expression {
    /// Makes a call of a function without options.
    package static func call(_ name: String, _ arguments: [Self]) -> Self {
        .function(name: name, arguments: arguments, options: [])
    }

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
