import TidemarkModel

/// The explanation that a pipeline's options ask for.
enum ExplainMode: Hashable {
    /// The rows alone.
    case none
    /// The plan alone: the pipeline does not run.
    case plan
    /// The rows and what they cost.
    case analysis

    /// - Throws: `INVALID_ARGUMENT` for an unknown mode or form.
    init(_ options: [Pipeline.Entry]) throws(RPCStatus) {
        let mode = try Self.text("mode", in: options)
        switch mode {
        case nil, "execute"?: self = .none
        case "explain"?: self = .plan
        case "analyze"?: self = .analysis
        case let mode?:
            throw .invalidArgument(
                "The explain mode \"\(mode.prefix(100))\" is none of execute, analyze, explain.")
        }
        _ = try Self.isJSON(options)
    }

    /// Returns true if the explanation must be JSON, false if it must be text.
    static func isJSON(_ options: [Pipeline.Entry]) throws(RPCStatus) -> Bool {
        switch try text("output_format", in: options) {
        case nil, "text"?: return false
        case "json"?: return true
        case let form?:
            throw .invalidArgument(
                "The output format \"\(form.prefix(100))\" is neither text nor json.")
        }
    }

    /// Returns an option of the explanation; nil if it is not set.
    private static func text(
        _ name: String, in options: [Pipeline.Entry]
    ) throws(RPCStatus) -> String? {
        guard let entry = options.first(where: { $0.key == "explain_options" }) else { return nil }
        guard case .map(let entries) = entry.value else {
            throw .invalidArgument("Expected explain_options to be MAP_VALUE.")
        }
        guard let option = entries.first(where: { $0.key == name }) else { return nil }
        guard case .constant(.string(let text)) = option.value else {
            throw .invalidArgument("Expected \(name) to be STRING_VALUE.")
        }
        return text
    }
}
