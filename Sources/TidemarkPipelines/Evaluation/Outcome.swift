import TidemarkModel

/// The result of an expression for one row. Absent, null and an error are three different results.
enum Outcome: Sendable {
    case absent
    case value(Value)
    /// A failure with its sentence. A row whose output holds an error fails the run.
    case error(String)

    static let null = Outcome.value(.null)

    static func boolean(_ value: Bool) -> Outcome { .value(.boolean(value)) }
    static func integer(_ value: Int) -> Outcome { .value(.integer(Int64(value))) }
    static func string(_ value: String) -> Outcome { .value(.string(value)) }

    var isError: Bool { if case .error = self { true } else { false } }
    var isAbsent: Bool { if case .absent = self { true } else { false } }
    var isTrue: Bool { if case .value(.boolean(true)) = self { true } else { false } }

    /// True for null and absent.
    var isNothing: Bool {
        switch self {
        case .absent, .value(.null): true
        case .value, .error: false
        }
    }

    /// The value for output; nil if absent.
    ///
    /// - Throws: ``PipelineError`` of code `invalidArgument` with the error's sentence.
    func output() throws(PipelineError) -> Value? {
        switch self {
        case .absent: nil
        case .value(let value): value
        case .error(let message): throw .invalid(message)
        }
    }

    /// The value for an order. Absent values and errors are the least value, null.
    var sortKey: Value { if case .value(let value) = self { value } else { .null } }

    func size(upTo bound: Int) -> Int {
        if case .value(let value) = self { value.size(upTo: bound) + 16 } else { 16 }
    }
}

/// The reason why a function has no result for its arguments.
struct Fault: Error {
    let message: String

    init(_ message: String) { self.message = message }

    static func type(_ function: String, wanted: String, found: Value) -> Fault {
        Fault("\(function) expects \(wanted), but got \(found.typeName).")
    }
}

extension Value {
    /// The name of the type, as the function `type` returns it.
    var typeName: String {
        switch self {
        case .null: "null"
        case .boolean: "boolean"
        case .integer: "int64"
        case .double: "float64"
        case .timestamp, .pendingServerTimestamp: "timestamp"
        case .string: "string"
        case .bytes: "bytes"
        case .reference: "reference"
        case .geoPoint: "geo_point"
        case .array: "array"
        case .vector: "vector"
        case .map: "map"
        }
    }
}
