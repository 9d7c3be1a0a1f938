public import TidemarkModel
package import TidemarkStore

// What layers above the engine ask of the cache alone. Nothing here asks the server.
extension SyncEngine {
    /// Makes the indexes with which each query is one range of an index that ends where its reader
    /// stops. Costs a look where they are there; a pass over the collection's documents where not,
    /// so it is best called before there are any.
    package func declareIndexes(
        for queries: [Query], completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        perform { core in
            completion(core.cached { try $0.documents.declareIndexes(for: queries) }.error)
        }
    }

    /// The first rows of a query that `isWanted`, pending writes merged in, of one state of the
    /// cache. With an index it looks at these rows, one more, and those passed over between them.
    ///
    /// - Parameters:
    ///   - count: How many rows at most; 0 tells whether there is one.
    ///   - isWanted: Called on the engine's executor.
    package func cachedRows(
        of query: Query, first count: Int, where isWanted: @escaping @Sendable (Document) -> Bool,
        completion: @escaping @Sendable (Result<CachedRows, SyncError>) -> Void
    ) {
        precondition(count >= 0)
        perform { core in
            completion(
                core.cached { try $0.documents.rows(of: query, first: count, where: isWanted) })
        }
    }

    /// How many rows each query has in one state of the cache, pending writes counted in. Where a
    /// query is one range of an index, only its entries are counted, and no document is read.
    package func cachedCounts(
        of queries: [Query], completion: @escaping @Sendable (Result<[Int], SyncError>) -> Void
    ) {
        perform { core in core.fromCache { $0.counts(of: queries, completion) } }
    }

    /// How the documents look now, and with them those of the query that have pending writes; nil
    /// for one that is not there.
    package func cachedDocuments(
        at paths: [DocumentPath], andWrittenIn query: Query,
        completion: @escaping @Sendable (Result<[DocumentPath: ViewDocument?], SyncError>) -> Void
    ) {
        perform { core in
            completion(
                core.cached { try $0.documents.documents(at: paths, andWrittenIn: query) })
        }
    }
}

extension SyncEngine {
    /// Documents by their names, and the queue: no query is run, and nothing is put on top.
    package func cacheContents(
        at paths: [DocumentPath],
        completion: @escaping @Sendable (Result<CacheContents, SyncError>) -> Void
    ) {
        perform { core in
            completion(
                core.cached { local in
                    let documents = try local.read { transaction in
                        let table = transaction.documents(of: local.database)
                        return try paths.compactMap { try table.document(at: $0) }
                    }
                    return CacheContents(
                        documents: documents,
                        batches: local.queue.pending.batches.map {
                            CacheContents.Batch(
                                localWriteTime: $0.localWriteTime,
                                baseMutations: $0.baseMutations, mutations: $0.mutations)
                        })
                })
        }
    }
}

extension SyncEngine {
    /// Makes an aggregation over the rows that the cache holds, pending writes counted in. Nothing is
    /// asked of the server: whether all rows are here, ``ReadResult/isKnown`` of a read would tell.
    ///
    /// Costs a look at two blocks of an index where their figures are kept, and else at every entry or
    /// document, in slices: Decisions/0027 says when it is which.
    package func cachedAggregate(
        _ query: Query, _ aggregations: [Aggregation], here: Bool = false,
        completion: @escaping @Sendable (Result<(AggregationReply, Freshness), SyncError>) -> Void
    ) {
        perform(here: here) { core in
            core.fromCache { $0.aggregate(query, aggregations, completion) }
        }
    }

    /// Runs a query on the cache and says how. Costs what running it twice does; asks no server.
    public func explainCached(
        _ query: Query,
        completion: @escaping @Sendable (Result<CacheExplanation, SyncError>) -> Void
    ) {
        perform { core in core.fromCache { completion($0.explain(query)) } }
    }

    /// Reads a record of the engine's users: small state kept beside the documents it speaks of.
    public func record(
        forKey key: String, completion: @escaping @Sendable (Result<[UInt8]?, SyncError>) -> Void
    ) {
        perform { core in completion(core.cached { try $0.records.value(forKey: key) }) }
    }

    /// Stores a record; nil removes it.
    public func setRecord(
        _ value: [UInt8]?, forKey key: String,
        completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        perform { core in completion(core.stored { try $0.records.set(value, forKey: key) }.error) }
    }

    /// Tells whether this device can store data: the present state first, then every change, until
    /// the returned handle is cancelled.
    public func observeStorage(
        _ observer: @escaping @Sendable (StorageState) -> Void
    ) -> any CancellableCall {
        subscribe {
            $0.observeStorage($1, observer)
        } end: {
            $0.removeStorageObserver($1)
        }
    }

    /// Makes the cache smaller now, as it is done every few minutes.
    ///
    /// - Parameters:
    ///   - limit: Nothing happens unless the cache takes more bytes.
    ///   - percent: Of all targets and documents that may go.
    package func collectGarbage(
        limit: Int64, percent: Int, completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        perform { completion($0.collectGarbage(limit: limit, percent: percent)) }
    }
}

// MARK: - Indexes

// The cache's indexes in an app's hands. None is needed: they are made on their own when a query looks
// at far more than it is for.
extension SyncEngine {
    /// Whether indexes are made on their own, until the engine ends.
    package func setMakesIndexes(
        _ isAutomatic: Bool, completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        perform { core in
            completion(core.changeIndexes { try $0.setMakesWishedOnes(isAutomatic) })
        }
    }

    /// Makes these indexes, in idle moments; those that are there stay.
    package func declareIndexes(
        _ definitions: [IndexDefinition], completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        perform { core in completion(core.changeIndexes { try $0.declare(definitions) }) }
    }

    /// Deletes all indexes, those of feeds too. Costs a pass over their entries.
    package func deleteIndexes(completion: @escaping @Sendable (SyncError?) -> Void) {
        perform { core in completion(core.changeIndexes { try $0.deleteAll() }) }
    }

    /// Those there are now.
    package func indexes(
        completion: @escaping @Sendable (Result<[IndexState], SyncError>) -> Void
    ) {
        perform { core in
            completion(
                core.cached { local in
                    try local.read { try $0.documents(of: local.database).indexes() }
                })
        }
    }

    /// Makes the indexes now that idle moments would make, so that a measurement finds them made.
    package func finishIndexes(completion: @escaping @Sendable () -> Void) {
        perform { core in
            core.finishIndexes()
            completion()
        }
    }
}

// MARK: - Bundles

extension SyncEngine {
    /// - Parameter completion: Gets nil when the bundle, or a newer one of its id, was loaded before.
    package func beginBundle(
        _ id: String, createTime: Timestamp,
        completion: @escaping @Sendable (Result<BundleLoad?, SyncError>) -> Void
    ) {
        perform { core in
            completion(core.stored { try $0.bundles.begin(id, createTime) })
        }
    }

    /// Stores some documents of the bundle, in one transaction.
    package func store(
        _ documents: [BundledDocument], of load: BundleLoad,
        completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) {
        perform { completion($0.store(documents, of: load)) }
    }

    /// The bundle is whole: from now on its results count.
    package func finish(
        _ load: BundleLoad, completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) {
        perform { core in
            completion(
                core.stored {
                    try $0.bundles.finish(load)
                    return true
                })
        }
    }

    /// Nothing more of the bundle will come.
    package func abandon(_ load: BundleLoad) {
        perform { $0.abandon(load) }
    }

    /// Puts a bundle into the cache. What the cache has in a newer version stays.
    ///
    /// - Parameter completion: Gets whether it was loaded: not when the same bundle, or a newer one
    ///   of the same id, was before.
    public func loadBundle(
        _ bundle: DocumentBundle,
        completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) {
        perform { completion($0.load(bundle)) }
    }

    /// The query of this name in the bundles that were loaded, as its bundle had it; nil for none.
    public func namedQuery(
        _ name: String, completion: @escaping @Sendable (Result<[UInt8]?, SyncError>) -> Void
    ) {
        perform { core in completion(core.cached { try $0.bundles.namedQuery(name) }) }
    }
}
