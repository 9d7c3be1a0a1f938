public import Tidemark

extension Pipeline {
    /// Returns the plan of a live pipeline from its begin, of documents that the caller expects on
    /// the server: the listeners that ``snapshots(source:includeMetadataChanges:)`` starts, and
    /// their bill. Reads the device's cache, and sends nothing.
    ///
    /// ```swift
    /// var plan = try await unread.plan(of: messages, at: now)
    /// let opening = plan.bill.reads
    /// plan.commit([message])  // while it is open
    /// let each = plan.bill.reads - opening
    /// ```
    ///
    /// - Parameters:
    ///   - documents: The documents of the pipeline's collections, in any order: what others have
    ///     written meanwhile is known to the caller alone.
    ///   - now: The server's time at the begin of the use.
    ///   - lastUse: The server's times at which the pipeline was last begun and closed, if the app
    ///     knows them: a listener that was closed less than 30 minutes ago is billed only for
    ///     changes. Without them, the device knows only when its listeners last received something,
    ///     which may be earlier.
    ///   - isIndexed: False if no index serves the pipeline's first conditions. The Enterprise
    ///     edition then bills a scan of the collection, so ``ExpectedSourceDocument/fields`` of all
    ///     its documents are needed.
    /// - Returns: The plan of an open pipeline.
    /// - Throws: `invalidArgument` for a pipeline that cannot be live, `resourceExhausted` if the
    ///   cache has more than 256 MiB of the documents; the error of the disk.
    public func plan(
        of documents: [ExpectedSourceDocument], at now: Timestamp,
        lastUse: ClosedRange<Timestamp>? = nil, isIndexed: Bool = true
    ) async throws(FirestoreError) -> LivePipelinePlan {
        let (firestore, _) = try runnable()
        let sources = try SourcePlan.kept(by: self)
            .listenedSources(in: firestore.databaseID)
            .withoutRepetitions
        let found: CachedSources = try await answer { finish in
            firestore.engine.cachedSources(
                sources.map { .rows($0.query.unlimited) }, maxBytes: Self.maxCachedBytes,
                withWords: false, completion: finish)
        }
        var device: [DocumentPath: MapValue] = [:]
        for view in found.documents.joined() { device[view.path] = view.document.fields }
        var targets: [PlannedTarget] = []
        for source in sources {
            var results: ListenedResults = try await answer { finish in
                firestore.engine.session.listenedResults(
                    of: source.query.unlimited.unordered, completion: finish)
            }
            targets.append(
                PlannedTarget(
                    source, in: firestore.databaseID, held: results.take(source.query)))
        }
        var plan = LivePipelinePlan(
            targets, of: documents, device: device, at: now, lastUse: lastUse,
            isIndexed: isIndexed)
        plan.open()
        return plan
    }
}

extension [ListenedSource] {
    /// The sources without those whose listener is that of an earlier one.
    fileprivate var withoutRepetitions: [ListenedSource] {
        var seen: Set<QueryValue> = []
        return filter { seen.insert($0.query).inserted }
    }
}

extension QueryValue {
    fileprivate var unlimited: QueryValue {
        var query = self
        query.limit = nil
        return query
    }

    fileprivate var unordered: QueryValue {
        var query = self
        (query.orders, query.start, query.end) = ([], nil, nil)
        return query
    }
}
