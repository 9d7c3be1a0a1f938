import TidemarkModel

extension ExecutePipelineRequest {
    /// True if the last stage changes documents.
    var changesDocuments: Bool {
        let name = pipeline?.stages.last?.name ?? ""
        return ["delete", "update", "insert", "upsert"].contains(name)
    }
}

extension ExecutePipelineReply {
    /// Joins the parts of an answer.
    init(joining replies: [Reply]) {
        self.init()
        for case .executePipeline(let reply) in replies {
            rows += reply.rows
            transaction = transaction ?? reply.transaction
            executionTime = reply.executionTime ?? executionTime
            explanation = reply.explanation ?? explanation
        }
    }
}
