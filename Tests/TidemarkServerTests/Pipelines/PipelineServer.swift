import TidemarkModel
import TidemarkServer

/// A server of the Enterprise edition, and what its tests ask it.
extension TestServer {
    static func enterprise(history: Duration = .seconds(3_600)) throws -> TestServer {
        try TestServer(history: history, editions: DatabaseEditions(.enterprise))
    }

    /// Runs a pipeline, and returns the parts of its answer.
    func execute(
        _ stages: Pipeline.Stage..., options: [Pipeline.Entry] = [],
        at consistency: ReadConsistency = .latest, commits: Bool = false, label: String? = nil,
        token: String? = nil
    ) throws -> [ExecutePipelineReply] {
        let request = ExecutePipelineRequest(
            pipeline: Pipeline(stages: stages), options: options, consistency: consistency,
            commitsTransaction: commits)
        return try replies(.executePipeline(request), label: label, token: token).map { reply in
            guard case .executePipeline(let part) = reply else {
                throw RPCStatus(.internal, "no part of a pipeline's answer")
            }
            return part
        }
    }
}

extension [ExecutePipelineReply] {
    var rows: [ExecutePipelineReply.Row] { flatMap(\.rows) }
    /// The ids of the rows' documents, in order.
    var ids: [String] { rows.compactMap(\.path?.id) }
}

extension Pipeline.Stage {
    static func collection(_ name: String) -> Self {
        Self(name: "collection", arguments: [.reference("/" + name)])
    }

    static func group(_ id: String) -> Self {
        Self(name: "collection_group", arguments: [.reference(""), .constant(.string(id))])
    }

    static func documents(_ paths: String...) -> Self {
        Self(name: "documents", arguments: paths.map { .reference("/" + $0) })
    }

    static func filter(_ condition: Pipeline.Expression) -> Self {
        Self(name: "where", arguments: [condition])
    }

    static func select(_ fields: String...) -> Self {
        Self(
            name: "select",
            arguments: [
                .map(fields.map { Pipeline.Entry(key: $0, value: .field($0)) })
            ])
    }

    static func sort(_ field: String, _ direction: String = "ascending") -> Self {
        Self(
            name: "sort",
            arguments: [
                .map([
                    .init(key: "direction", value: .constant(.string(direction))),
                    .init(key: "expression", value: .field(field)),
                ])
            ])
    }

    static func limit(_ count: Int64) -> Self {
        Self(name: "limit", arguments: [.constant(.integer(count))])
    }

    static func count(as alias: String) -> Self {
        Self(
            name: "aggregate",
            arguments: [.map([.init(key: alias, value: .call("count"))]), .map([])])
    }

    static let delete = Self(name: "delete")
}

extension Pipeline.Expression {
    static func call(_ name: String, _ arguments: Self...) -> Self {
        .function(name: name, arguments: arguments, options: [])
    }

    static func equal(_ field: String, _ value: Value) -> Self {
        .call("equal", .field(field), .constant(value))
    }
}

/// The option that asks for an explanation.
func explaining(_ mode: String, as form: String = "text") -> [Pipeline.Entry] {
    [
        .init(
            key: "explain_options",
            value: .map([
                .init(key: "mode", value: .constant(.string(mode))),
                .init(key: "output_format", value: .constant(.string(form))),
            ]))
    ]
}
