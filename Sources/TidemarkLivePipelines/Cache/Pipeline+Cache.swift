import Dispatch
public import Tidemark
import TidemarkPipelines

extension Pipeline {
    /// The maximum size of the documents that a pipeline reads from the cache, in bytes of their
    /// encoding: 256 MiB.
    static let maxCachedBytes = 256 << 20

    /// Runs the pipeline on the server, or on the documents in the cache.
    ///
    /// On the cache it costs no reads, works offline and on databases of every edition, and sees
    /// pending writes. In these, a server timestamp that the server has not set yet is the device's
    /// time. ``Pipeline/Snapshot/freshness`` states when the server last confirmed that all
    /// documents of the sources are in the cache; without an age it never did, and rows can be
    /// missing. The conditions, orders and limits directly behind the collection are answered by
    /// the cache's indexes. The other stages run on a background queue.
    ///
    /// - Parameters:
    ///   - source: `.server` asks the server, as ``Pipeline/execute(within:)`` does; `.cache` runs
    ///     on this device; `.default` asks the server, and runs on this device if the server does
    ///     not answer in time.
    ///   - deadline: The maximum time for the server; nil for
    ///     ``FirestoreSettings/readDeadline``.
    /// - Throws: `invalidArgument` for a pipeline that is not valid, `resourceExhausted` beyond the
    ///   bounds of memory, `cancelled` if the task is cancelled, and the server's errors.
    public func execute(
        source: FirestoreSource, within deadline: Duration? = nil
    ) async throws(FirestoreError) -> Snapshot {
        switch source {
        case .server: return try await execute(within: deadline)
        case .cache: return try await executeOnCache(.askedForCache)
        case .default:
            do throws(FirestoreError) { return try await execute(within: deadline) } catch {
                guard let reason = StaleReason(error) else { throw error }
                return try await executeOnCache(reason)
            }
        }
    }

    /// Runs the pipeline like ``execute(source:within:)``, and decodes its rows.
    ///
    /// - Parameters:
    ///   - type: The type of a row. A `DocumentID` in it gets the row's document.
    ///   - source: The server, the cache, or the cache if the server does not answer.
    ///   - deadline: The maximum time for the server.
    ///   - decoder: Converts values to Swift types.
    /// - Throws: `FirestoreError`, `DecodingError` or `FirestoreDecodingError`.
    public func execute<T: Decodable>(
        as type: T.Type, source: FirestoreSource, within deadline: Duration? = nil,
        decoder: Firestore.Decoder = Firestore.Decoder()
    ) async throws -> [T] {
        try await execute(source: source, within: deadline).decoded(as: type, decoder: decoder)
    }

    private func executeOnCache(
        _ reason: StaleReason
    ) async throws(FirestoreError) -> Snapshot {
        let (firestore, _) = try runnable()
        let plan = try SourcePlan.kept(by: self)
        if let query = plan.streamedQuery,
            let snapshot = try await stream(query, of: plan, in: firestore, because: reason)
        {
            return snapshot
        }
        let found: CachedSources = try await answer { finish in
            firestore.engine.cachedSources(
                plan.sources, maxBytes: Self.maxCachedBytes, withWords: plan.pipeline.searches,
                here: true, completion: finish)
        }
        let results =
            if let rows = plan.rows(found) {
                try Self.results(rows, in: firestore)
            } else {
                try await Self.evaluate(plan, over: found, in: firestore)
            }
        return Snapshot(
            results, executionTime: firestore.environment.now(),
            freshness: .stale(age: found.age, reason: reason),
            hasPendingWrites: found.documents.contains { $0.contains(where: \.hasPendingWrites) },
            searched: found.searches.map { SearchedDocuments($0, words: found.words) })
    }

    /// Returns documents as rows.
    private static func results(
        _ documents: [ViewDocument], in firestore: Firestore
    ) throws(FirestoreError) -> [PipelineResult] {
        var results: [PipelineResult] = []
        results.reserveCapacity(documents.count)
        var size = AnswerSize()
        do throws(PipelineError) {
            for view in documents {
                try size.add(view.document.contents.bytes.count)
                results.append(PipelineResult(firestore, view.document))
            }
        } catch { throw FirestoreError(error.status) }
        return results
    }

    /// Runs a pipeline over documents, on a queue of the system.
    private static func evaluate(
        _ plan: SourcePlan, over found: CachedSources, in firestore: Firestore
    ) async throws(FirestoreError) -> [PipelineResult] {
        let evaluation = Evaluation()
        return try await withCancellation(of: evaluation) {
            () async throws(FirestoreError) -> [PipelineResult] in
            try await answer { finish in
                DispatchQueue.global().async {
                    finish(
                        Result { () throws(PipelineError) in
                            try evaluation.rows(of: plan, over: found, in: firestore)
                        }.mapError { .server($0.status) })
                }
            }
        }
    }
}

extension Pipeline {
    /// Computes figures while the engine finds the documents, so that they are not in memory
    /// together.
    ///
    /// - Returns: The rows; nil if the documents changed again and again meanwhile.
    private func stream(
        _ query: QueryValue, of plan: SourcePlan, in firestore: Firestore,
        because reason: StaleReason
    ) async throws(FirestoreError) -> Snapshot? {
        let evaluation = Evaluation()
        let figures = CachedFigures(
            plan.pipeline, evaluation.context(firestore.databaseID, firestore.environment),
            isFiltered: plan.isFiltered)
        return try await withCancellation(of: evaluation) {
            () async throws(FirestoreError) -> Snapshot? in
            let streamed: StreamedRows? = try await answer { finish in
                firestore.engine.streamCached(query, to: figures, completion: finish)
            }
            guard let streamed else { return nil }
            return Snapshot(
                try figures.rows(in: firestore), executionTime: firestore.environment.now(),
                freshness: .stale(age: streamed.age, reason: reason),
                hasPendingWrites: streamed.hasPendingWrites)
        }
    }
}

extension StaleReason {
    /// The reason why the cache answers instead of the server; nil if it must not.
    fileprivate init?(_ error: FirestoreError) {
        if let budget = error.readBudget {
            self = .overBudget(budget)
            return
        }
        if error.storageFault != nil { return nil }
        switch error.code {
        case .unavailable: self = .offline
        case .deadlineExceeded: self = .deadlinePassed
        default: return nil
        }
    }
}

/// Ends an evaluation when the task is cancelled.
private func withCancellation<Success: Sendable>(
    of evaluation: Evaluation,
    _ body: () async throws(FirestoreError) -> Success
) async throws(FirestoreError) -> Success {
    // A `Result` carries the typed error out of the handler.
    let result = await withTaskCancellationHandler {
        do throws(FirestoreError) {
            return Result<Success, FirestoreError>.success(try await body())
        } catch { return .failure(error) }
    } onCancel: {
        evaluation.cancel()
    }
    return try result.get()
}
