import TidemarkModel

extension ExecutePipelineRequest {
    /// - Returns: The database that the request names, and the request.
    /// - Throws: `INVALID_ARGUMENT` if the bytes are no such request, or nested too deeply.
    static func decode(
        _ bytes: [UInt8]
    ) throws(RPCStatus) -> (DatabaseID, ExecutePipelineRequest) {
        let wire: PipelineEnvelope
        do throws(CodecError) { wire = try PipelineEnvelope(bytes) } catch {
            throw error == .tooDeep ? .pipelineTooDeep : RPCStatus(error)
        }
        let database = try Names.database(wire.database)
        let request = ExecutePipelineRequest(
            pipeline: wire.pipeline, options: wire.options,
            consistency: try wire.consistency?.decoded() ?? .latest,
            commitsTransaction: wire.commitsTransaction)
        return (database, request)
    }

    func bytes(in database: DatabaseID) -> [UInt8] {
        var wire = PipelineEnvelope()
        wire.database = database.name
        wire.pipeline = pipeline
        wire.options = options
        wire.commitsTransaction = commitsTransaction
        switch consistency {
        case .latest: break
        case .at(let time): wire.consistency = .readTime(time)
        case .transaction(let id): wire.consistency = .transaction(id)
        case .newTransaction(let options):
            wire.consistency = .newTransaction(TransactionOptionsMessage(options).wireBytes)
        }
        return wire.bytes
    }
}

extension PipelineEnvelope.Consistency {
    /// A new transaction without a mode only reads, unlike in other calls. Source: pipelines A.1.
    fileprivate func decoded() throws(RPCStatus) -> ReadConsistency {
        switch self {
        case .transaction(let id): return .transaction(id)
        case .readTime(let time): return .at(time)
        case .newTransaction(let bytes):
            let options = try TransactionOptionsMessage(wire: bytes)
            if options.readOnly == nil, options.readWrite == nil {
                return .newTransaction(.readOnly(at: nil))
            }
            return .newTransaction(try options.decoded())
        }
    }
}

extension RPCStatus {
    fileprivate static let pipelineTooDeep = RPCStatus.invalidArgument(
        "The pipeline is nested more than \(PipelineCodec.maxDepth) levels deep.")
}

extension ReplyCoder {
    func wire(_ reply: ExecutePipelineReply) -> PipelineResponse {
        var wire = PipelineResponse()
        wire.transaction = reply.transaction ?? []
        wire.results = reply.rows.map { row in
            WireDocument(
                name: row.path.map(names.name) ?? "", contents: row.contents,
                createTime: row.createTime, updateTime: row.updateTime)
        }
        wire.executionTime = reply.executionTime
        wire.explanation = reply.explanation
        return wire
    }

    func rows(_ bytes: [UInt8]) throws(RPCStatus) -> Reply {
        let wire = try parsing { () throws(CodecError) in try PipelineResponse(bytes) }
        var rows: [ExecutePipelineReply.Row] = []
        rows.reserveCapacity(wire.results.count)
        for result in wire.results {
            rows.append(
                ExecutePipelineReply.Row(
                    path: result.name.isEmpty ? nil : try names.document(result.name),
                    contents: result.contents, createTime: result.createTime,
                    updateTime: result.updateTime))
        }
        return .executePipeline(
            ExecutePipelineReply(
                transaction: wire.transaction.isEmpty ? nil : wire.transaction, rows: rows,
                executionTime: wire.executionTime, explanation: wire.explanation))
    }
}
