extension Transport {
    /// Returns all replies of a call, in order, after it has ended.
    ///
    /// Cancelling the task cancels the call.
    ///
    /// - Throws: The status, unless it is ok.
    public func replies(to request: Request, _ context: CallContext) async throws(RPCStatus)
        -> [Reply]
    {
        let (events, sink) = AsyncStream.makeStream(of: StreamEvent<Reply>.self)
        let call = call(request, context) { event in
            sink.yield(event)
            if case .ended = event { sink.finish() }
        }
        sink.onTermination = { reason in
            if case .cancelled = reason { call.cancel() }
        }
        var replies: [Reply] = []
        for await event in events {
            switch event {
            case .message(let reply): replies.append(reply)
            case .ended(let status):
                if status.code != .ok { throw status }
                return replies
            }
        }
        throw RPCStatus(.cancelled, "The call was cancelled.")
    }

    /// Returns the documents of a query, in its order.
    ///
    /// - Returns: The documents and the read time; the time is nil if the server sent none.
    public func documents(
        of query: Query, at consistency: ReadConsistency = .latest, _ context: CallContext
    ) async throws(RPCStatus) -> (documents: [Document], readTime: Timestamp?) {
        let request = RunQueryRequest(query: query, consistency: consistency)
        var documents: [Document] = []
        var readTime: Timestamp?
        for case .runQuery(let reply) in try await replies(to: .runQuery(request), context) {
            if let document = reply.document { documents.append(document) }
            readTime = reply.readTime ?? readTime
        }
        return (documents, readTime)
    }

    /// Commits the mutations atomically.
    public func commit(
        _ mutations: [Mutation], _ context: CallContext
    ) async throws(RPCStatus) -> CommitReply {
        let request = Request.commit(CommitRequest(mutations: mutations))
        guard case .commit(let reply)? = try await replies(to: request, context).first else {
            throw RPCStatus(.internal, "The server answered a commit with something else.")
        }
        return reply
    }
}
