import Foundation
import TidemarkModel

/// An expression of a pipeline as code.
struct ExpressionCode {
    let language: QueryCode.Language

    private var values: ValueCode { ValueCode(language: language) }

    static func camelCase(_ name: String) -> String {
        let parts = name.split(separator: "_")
        return parts.dropFirst().reduce(String(parts.first ?? "")) {
            $0 + $1.prefix(1).uppercased() + $1.dropFirst()
        }
    }

    // MARK: Kinds of places

    /// Returns code of the type of an expression, on which methods can be called.
    func expression(_ expression: Pipeline.Expression) -> String {
        switch expression {
        case .constant(.null):
            values.literal("Constant.nil", script: "constant(null)", python: "Constant.of(None)")
        case .constant(let value): constant(values.code(value))
        case .reference(let name):
            constant((try? ReferenceValue(name: name)).map { values.code(.reference($0)) } ?? "")
        case .field(let path): field(values.quote(path))
        case .variable(let name):
            values.literal(
                "Variable(\(values.quote(name)))", script: "variable(\(values.quote(name)))",
                python: "Variable(\(values.quote(name)))")
        case .function(let name, let arguments, _): function(name, arguments)
        case .pipeline(let pipeline):
            PipelineCode(pipeline: pipeline, language: language).nested
        case .array(let elements): array(elements)
        case .map(let entries): map(entries)
        }
    }

    /// Returns code for an argument: of a constant the value itself.
    func operand(_ expression: Pipeline.Expression) -> String {
        switch expression {
        case .constant(.null):
            values.literal("Constant.nil", script: "null", python: "None")
        case .constant(let value): values.code(value)
        default: self.expression(expression)
        }
    }

    /// Returns code of the type of a condition.
    func condition(_ expression: Pipeline.Expression) -> String {
        let code = self.expression(expression)
        if case .function(let name, _, _) = expression, Self.conditions.contains(name) {
            return code
        }
        return language == .Python ? code : code + ".asBoolean()"
    }

    /// Returns code of a figure of an aggregation.
    func figure(_ expression: Pipeline.Expression) -> String {
        guard case .function(let name, let arguments, _) = expression else { return "" }
        guard let first = arguments.first else {
            return values.literal("CountAll()", script: "countAll()", python: "Count()")
        }
        let code = name == "count_if" ? condition(first) : self.expression(first)
        let isSign: Bool =
            if case .function(let inner, _, _) = first {
                ["and", "or", "not"].contains(inner)
            } else { false }
        let receiver = isSign && language == .Swift ? "(\(code))" : code
        return "\(receiver).\(method(name))()"
    }

    // MARK: Functions

    private func function(_ name: String, _ arguments: [Pipeline.Expression]) -> String {
        switch (name, arguments.count) {
        case ("and", 2...), ("or", 2...): return joined(name, arguments)
        case ("not", 1):
            let code = condition(arguments[0])
            return values.literal("!(\(code))", script: "not(\(code))", python: "Not(\(code))")
        case ("conditional", 3):
            let parts = [condition(arguments[0])] + arguments[1...].map(expression)
            return values.literal(
                "ConditionalExpression(\(parts[0]), then: \(parts[1]), else: \(parts[2]))",
                script: "conditional(\(parts.joined(separator: ", ")))",
                python: "Conditional(\(parts.joined(separator: ", ")))")
        case ("current_timestamp", 0):
            return values.literal(
                "CurrentTimestamp()", script: "currentTimestamp()", python: "CurrentTimestamp()")
        case ("array", 1), ("scalar", 1):
            guard case .pipeline(let nested) = arguments[0] else { break }
            let code = PipelineCode(pipeline: nested, language: language).nested
            return "\(code).\(method("to_\(name)_expression"))()"
        default: break
        }
        if let receiver = arguments.first, let call = methodCall(name, arguments) {
            return "\(expression(receiver)).\(call)"
        }
        let list = arguments.map(expression).joined(separator: ", ")
        return values.literal(
            "FunctionExpression(functionName: \(values.quote(name)), args: [\(list)])",
            script: "new FunctionExpression(\(values.quote(name)), [\(list)])",
            python: "FunctionExpression(\(values.quote(name)), [\(list)])")
    }

    /// Returns the call of a method that all three libraries name as the protocol does; nil for
    /// another function.
    private func methodCall(_ name: String, _ arguments: [Pipeline.Expression]) -> String? {
        let others = arguments.dropFirst()
        if Self.lists.contains(name), others.count == 1, case .array(let elements) = arguments[1] {
            return "\(method(name))([\(elements.map(operand).joined(separator: ", "))])"
        }
        guard Self.methods[name] == others.count else { return nil }
        return "\(method(name))(\(others.map(operand).joined(separator: ", ")))"
    }

    private func method(_ name: String) -> String {
        language == .Python ? name : Self.camelCase(name)
    }

    private func joined(_ name: String, _ arguments: [Pipeline.Expression]) -> String {
        let parts = arguments.map(condition)
        let list = parts.joined(separator: ", ")
        let inner = zip(arguments, parts).map { argument, code in
            if case .function("and", _, _) = argument { return "(\(code))" }
            if case .function("or", _, _) = argument { return "(\(code))" }
            return code
        }
        return values.literal(
            inner.joined(separator: name == "and" ? " && " : " || "),
            script: "\(name)(\(list))", python: "\(name.capitalized)(\(list))")
    }

    // MARK: Values

    private func constant(_ code: String) -> String {
        values.literal(
            "Constant(\(code))", script: "constant(\(code))", python: "Constant.of(\(code))")
    }

    private func field(_ name: String) -> String {
        values.literal("Field(\(name))", script: "field(\(name))", python: "Field.of(\(name))")
    }

    private func array(_ elements: [Pipeline.Expression]) -> String {
        let list = elements.map(operand).joined(separator: ", ")
        return values.literal(
            "ArrayExpression([\(list)])", script: "array([\(list)])", python: "Array([\(list)])")
    }

    private func map(_ entries: [Pipeline.Entry]) -> String {
        let list = entries.map { "\(values.quote($0.key)): \(operand($0.value))" }
            .joined(separator: ", ")
        let swift = entries.isEmpty ? "[:]" : "[\(list)]"
        return values.literal(
            "MapExpression(\(swift))", script: "map({\(list)})", python: "Map({\(list)})")
    }

    // MARK: Names

    /// The functions that are methods of the same name in all three libraries, with the number of
    /// their other arguments.
    private static let methods: [String: Int] = {
        let alone = """
            array_length array_reverse array_first array_last map_keys map_values map_entries \
            exists is_absent is_error abs ceil floor round sqrt exp ln trunc vector_length \
            unix_micros_to_timestamp unix_millis_to_timestamp unix_seconds_to_timestamp \
            timestamp_to_unix_micros timestamp_to_unix_millis timestamp_to_unix_seconds \
            document_id collection_id type length char_length byte_length to_lower to_upper \
            string_reverse trim
            """
        let ofTwo = """
            equal not_equal less_than less_than_or_equal greater_than greater_than_or_equal \
            array_contains array_get if_error if_absent if_null add subtract multiply divide mod \
            pow string_contains starts_with ends_with like regex_contains regex_match regex_find \
            regex_find_all string_repeat string_index_of is_type
            """
        let pairs =
            alone.split(separator: " ").map { (String($0), 0) }
            + ofTwo.split(separator: " ").map { (String($0), 1) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }()

    private static let lists: Set<String> = [
        "equal_any", "not_equal_any", "array_contains_any", "array_contains_all",
    ]

    /// The functions whose type is a condition.
    private static let conditions: Set<String> = lists.union([
        "and", "or", "not", "equal", "not_equal", "less_than", "less_than_or_equal",
        "greater_than", "greater_than_or_equal", "array_contains", "exists", "is_absent",
        "is_error", "is_type", "string_contains", "starts_with", "ends_with", "like",
        "regex_contains", "regex_match", "document_matches",
    ])
}
