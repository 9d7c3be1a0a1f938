import Foundation
import TidemarkModel
import TidemarkServer

extension DataReader {
    /// Runs a pipeline to its end, and keeps its first rows.
    ///
    /// - Throws: ``RPCStatus``, for example on a database of the Standard edition.
    func run(
        _ pipeline: Pipeline, in database: DatabaseID, at time: ReadConsistency
    ) async throws(RPCStatus) -> PipelinePage.Result {
        let request = ExecutePipelineRequest(
            pipeline: pipeline, options: Self.analysis, consistency: time)
        var rows: [DocumentTable.Row] = []
        var count = 0
        var explanation = ""
        for case .executePipeline(let reply) in try await server.replies(
            to: .executePipeline(request), context(database))
        {
            for row in reply.rows.prefix(max(0, Self.pageSize - rows.count)) {
                rows.append(
                    DocumentTable.Row(
                        path: row.path?.text ?? "", fields: FieldsJSON(row.fields)))
            }
            count += reply.rows.count
            explanation = reply.explanation ?? explanation
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard
            let figures = try? decoder.decode(
                PipelineFigures.self, from: Data(explanation.utf8))
        else { throw RPCStatus(.internal, "The explanation of the pipeline is missing.") }
        return PipelinePage.Result(
            table: DocumentTable(rows: rows), rows: count, figures: figures)
    }

    /// The options that ask for the figures of each stage.
    private static let analysis = [
        Pipeline.Entry(
            key: "explain_options",
            value: .map([
                Pipeline.Entry(key: "mode", value: .constant(.string("analyze"))),
                Pipeline.Entry(key: "output_format", value: .constant(.string("json"))),
            ]))
    ]
}
