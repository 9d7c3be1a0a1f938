public import TidemarkModel
package import TidemarkStore

// Requests of higher layers to the cache only. These functions never ask the server.
extension SyncEngine {
    /// Creates the indexes with which each query is one range of an index that ends where the
    /// reader stops. Costs a lookup if they exist, and a pass over the collection's documents
    /// otherwise, so it is best called while there are no documents.
    package func declareIndexes(
        for queries: [Query], completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        perform { core in
            completion(core.cached { try $0.documents.declareIndexes(for: queries) }.error)
        }
    }

    /// Returns the first rows of a query for which `isWanted` is true, with pending writes, from
    /// one state of the cache. With an index, visits these rows, one more, and the skipped rows
    /// between them.
    ///
    /// - Parameters:
    ///   - count: The maximum number of rows; 0 checks whether there is a row.
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

    /// Counts the rows of each query in one state of the cache, with pending writes. If a query is
    /// one range of an index, only its entries are counted and no document is read.
    package func cachedCounts(
        of queries: [Query], completion: @escaping @Sendable (Result<[Int], SyncError>) -> Void
    ) {
        perform { core in core.parts.cache.counts(of: queries, completion) }
    }

    /// Returns the current state of the documents, and of the query's documents with pending
    /// writes; nil for a document that does not exist.
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
    /// Returns documents by their names, and the queue. Runs no query and applies no pending
    /// writes.
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
                        batches: local.queue.pending.batches.map(\.decoded).map {
                            CacheContents.Batch(
                                localWriteTime: $0.localWriteTime,
                                baseMutations: $0.baseMutations, mutations: $0.mutations)
                        })
                })
        }
    }
}

extension SyncEngine {
    /// Returns the documents of several sources in one state of the cache, with pending writes.
    /// Looks for them in slices, and never asks the server.
    ///
    /// - Parameters:
    ///   - maxBytes: The maximum size of the contents of all documents, in bytes. Beyond,
    ///     the read fails with `resourceExhausted`.
    ///   - withWords: True to return the fields in which searches look for words.
    package func cachedSources(
        _ sources: [CachedSource], maxBytes: Int, withWords: Bool, here: Bool = false,
        completion: @escaping @Sendable (Result<CachedSources, SyncError>) -> Void
    ) {
        perform(here: here) { core in
            core.parts.cache.sources(
                sources, maxBytes: maxBytes, withWords: withWords, completion: completion)
        }
    }

    /// Passes the rows of a query in the cache on, one at a time and in any order, with pending
    /// writes. Works in slices, and never asks the server.
    ///
    /// - Parameters:
    ///   - query: A query without limit and offset.
    ///   - receiver: Called on the engine's executor, within its slices.
    ///   - completion: Gets nil if documents changed again and again during the read, or if the
    ///     query has conditions and a document a server timestamp that the server has not set yet.
    ///     The rows that were passed on are then of no use.
    package func streamCached(
        _ query: Query, to receiver: any RowReceiver & Sendable,
        completion: @escaping @Sendable (Result<StreamedRows?, SyncError>) -> Void
    ) {
        perform { core in
            core.parts.cache.stream(query, to: receiver, completion: completion)
        }
    }

    /// Runs an aggregation over the rows in the cache, with pending writes. Never asks the server;
    /// ``ReadResult/isKnown`` of a read tells whether all rows are in the cache.
    ///
    /// Costs a visit of two blocks of an index if their figures are kept, and otherwise of every
    /// entry or document, in slices. Decisions/0027 describes when.
    package func cachedAggregate(
        _ query: Query, _ aggregations: [Aggregation], here: Bool = false,
        completion: @escaping @Sendable (Result<(AggregationReply, Freshness), SyncError>) -> Void
    ) {
        perform(here: here) { core in
            core.parts.cache.aggregate(query, aggregations: aggregations, completion: completion)
        }
    }

    /// Runs a query on the cache and explains it. Costs as much as running it twice. Never asks the
    /// server.
    public func explainCached(
        _ query: Query,
        completion: @escaping @Sendable (Result<CacheExplanation, SyncError>) -> Void
    ) {
        perform { core in completion(core.parts.cache.explain(query)) }
    }

    /// Reads a record: small state that a user of the engine keeps beside the documents that it
    /// describes.
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

    /// Reports whether this device can store data: first the present state, then every change,
    /// until the returned handle is cancelled.
    public func observeStorage(
        _ observer: @escaping @Sendable (StorageState) -> Void
    ) -> any CancellableCall {
        subscribe {
            $0.parts.storage.observe($1, observer)
        } end: {
            $0.parts.storage.removeObserver($1)
        }
    }

    /// Collects garbage now, as the engine does every few minutes.
    ///
    /// - Parameters:
    ///   - limit: The size in bytes from which the cache is reduced.
    ///   - percent: The percentage of targets and documents to remove.
    package func collectGarbage(
        limit: Int64, percent: Int, completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        perform { completion($0.collectGarbage(limit: limit, percent: percent)) }
    }
}

// MARK: - Indexes

// Control of the cache's indexes by an app. None is required: an index is created automatically
// when a query visits far more than it returns.
extension SyncEngine {
    /// Sets whether indexes are created automatically, until the engine ends.
    package func setMakesIndexes(
        _ isAutomatic: Bool, completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        perform { core in
            completion(core.changeIndexes { try $0.setMakesWishedOnes(isAutomatic) })
        }
    }

    /// Creates these indexes in idle moments. Existing ones are kept.
    package func declareIndexes(
        _ definitions: [IndexDefinition], completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        perform { core in completion(core.changeIndexes { try $0.declare(definitions) }) }
    }

    /// Makes these the only word indexes, of this user's cache and of those of later users. Fills
    /// new ones in idle moments.
    ///
    /// - Parameter completion: Gets an error of code `unimplemented` if the system's SQLite has no
    ///   full-text search.
    package func setWordIndexes(
        _ definitions: [WordIndexDefinition], completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        perform { core in completion(core.changeIndexes { try $0.set(words: definitions) }) }
    }

    /// Returns the fields in which searches look for words: those of the app's word indexes, also
    /// before the present cache has them.
    package func searchedWords(
        completion: @escaping @Sendable (Result<[WordIndexDefinition], SyncError>) -> Void
    ) {
        perform { core in completion(core.cached { _ in try core.parts.storage.words() }) }
    }

    /// Returns the word indexes of the present cache.
    package func wordIndexes(
        completion: @escaping @Sendable (Result<[WordIndexState], SyncError>) -> Void
    ) {
        perform { core in
            completion(
                core.cached { local in
                    try local.read { try $0.documents(of: local.database).wordIndexes() }
                })
        }
    }

    /// Deletes all indexes, including those of feeds. Costs a pass over their entries.
    package func deleteIndexes(completion: @escaping @Sendable (SyncError?) -> Void) {
        perform { core in completion(core.changeIndexes { try $0.deleteAll() }) }
    }

    /// Returns the existing indexes.
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

    /// Builds requested indexes now instead of in idle moments, so that a measurement finds them
    /// complete.
    package func finishIndexes(completion: @escaping @Sendable () -> Void) {
        perform { core in
            core.parts.indexes.finish()
            completion()
        }
    }
}

// MARK: - Bundles

extension SyncEngine {
    /// - Parameter completion: Receives nil if the bundle, or a newer one with its id, was loaded
    ///   before.
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

    /// Completes the bundle: from now on its results count.
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

    /// Abandons an incomplete bundle.
    package func abandon(_ load: BundleLoad) {
        perform { $0.abandon(load) }
    }

    /// Loads a bundle into the cache. Newer versions in the cache are kept.
    ///
    /// - Parameter completion: Receives true if the bundle was loaded; false if it, or a newer one
    ///   with the same id, was loaded before.
    public func loadBundle(
        _ bundle: DocumentBundle,
        completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) {
        perform { completion($0.load(bundle)) }
    }

    /// Returns the encoded query with this name from the loaded bundles; nil if there is none.
    public func namedQuery(
        _ name: String, completion: @escaping @Sendable (Result<[UInt8]?, SyncError>) -> Void
    ) {
        perform { core in completion(core.cached { try $0.bundles.namedQuery(name) }) }
    }
}
