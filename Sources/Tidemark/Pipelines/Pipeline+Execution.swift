extension Pipeline {
    /// The rows of a pipeline at one moment.
    public struct Snapshot: Hashable, Sendable {
        public let results: [PipelineResult]
        /// The time of the rows: the server's read time, or this device's time for rows that were
        /// computed from the cache.
        public let executionTime: Timestamp
        /// States whether the rows are the server's; if not, the age of the documents and the
        /// reason.
        public let freshness: Freshness
        public let metadata: SnapshotMetadata
        /// The documents at which the searches of a pipeline on this device looked. Empty without a
        /// search, and for a server's answer.
        public let searched: [SearchedDocuments]

        package init(
            _ results: [PipelineResult], executionTime: Timestamp, freshness: Freshness,
            hasPendingWrites: Bool = false, searched: [SearchedDocuments] = []
        ) {
            self.searched = searched
            self.results = results
            self.executionTime = executionTime
            self.freshness = freshness
            metadata = SnapshotMetadata(
                hasPendingWrites: hasPendingWrites, isFromCache: !freshness.isFresh)
        }
    }

    /// Runs the pipeline on the server.
    ///
    /// The server bills the documents that it reads, at least one; the ``ReadMeter`` counts at
    /// least the rows. Nothing is stored in the cache, and pending writes are not seen. A pipeline
    /// that changes documents is sent once and not retried after its answer was lost.
    ///
    /// - Parameter deadline: The maximum time for the server, at most 60 s; nil for
    ///   ``FirestoreSettings/readDeadline``.
    /// - Throws: `invalidArgument` for a mistake in the stages, and the server's own errors: for
    ///   example, `failedPrecondition` for a database of the Standard edition; `unavailable` or
    ///   `deadlineExceeded` if the server does not answer in time; `cancelled` immediately if the
    ///   task is cancelled.
    public func execute(
        within deadline: Duration? = nil
    ) async throws(FirestoreError) -> Snapshot {
        let (firestore, value) = try runnable()
        let request = ExecutePipelineRequest(pipeline: value)
        let reply: ExecutePipelineReply = try await answer { finish in
            firestore.engine.execute(
                request, deadline: deadline ?? firestore.readDeadline, tag: tag.inScope,
                completion: finish)
        }
        let time = reply.executionTime ?? firestore.environment.now()
        return Snapshot(
            reply.rows.map { row in
                PipelineResult(
                    firestore, path: row.path, fields: row.fields, createTime: row.createTime,
                    updateTime: row.updateTime)
            }, executionTime: time, freshness: .fresh(readTime: time))
    }

    /// Runs the pipeline on the server and decodes its rows.
    ///
    /// - Parameters:
    ///   - type: The type of a row. A ``DocumentID`` in it gets the row's document.
    ///   - deadline: The maximum time for the server, as in ``execute(within:)``.
    ///   - decoder: Converts values to Swift types.
    /// - Throws: ``FirestoreError``, `DecodingError` or ``FirestoreDecodingError``.
    public func execute<T: Decodable>(
        as type: T.Type, within deadline: Duration? = nil,
        decoder: Firestore.Decoder = Firestore.Decoder()
    ) async throws -> [T] {
        try await execute(within: deadline).decoded(as: type, decoder: decoder)
    }
}

extension Pipeline.Snapshot {
    /// Decodes the rows.
    ///
    /// - Parameters:
    ///   - type: The type of a row. A ``DocumentID`` in it gets the row's document.
    ///   - decoder: Converts values to Swift types.
    /// - Throws: `DecodingError` with the path of the field, or ``FirestoreDecodingError``.
    public func decoded<T: Decodable>(
        as type: T.Type, decoder: Firestore.Decoder = Firestore.Decoder()
    ) throws -> [T] {
        try results.map { try $0.data(as: type, decoder: decoder) }
    }
}
