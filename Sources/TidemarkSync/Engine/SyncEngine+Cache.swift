package import TidemarkModel
package import TidemarkStore

/// The first rows of a query that the cache holds.
package struct CachedRows: Sendable {
    /// In the query's order.
    package var documents: [ViewDocument]
    /// Whether the cache holds another row behind them.
    package var hasMore: Bool
    /// Documents and index entries looked at for it.
    package var rowsScanned: Int
}

/// What lies on the disk and in the queue, for tests that work out by themselves what is to be shown.
package struct CacheContents: Sendable {
    package struct Batch: Sendable {
        package let localWriteTime: Timestamp
        package let baseMutations: [Mutation]
        package let mutations: [Mutation]
    }

    /// As they were stored, without the writes that are pending.
    package let documents: [StoredDocument]
    /// Of the present user, in order.
    package let batches: [Batch]
}

// What layers above the engine ask of the cache alone. Nothing here asks the server.
extension SyncEngine {
    /// Makes the indexes with which each query is one range of an index that ends where its reader
    /// stops. Costs a look where they are there; a pass over the collection's documents where not,
    /// so it is best called before there are any.
    package func declareIndexes(
        for queries: [Query], completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        perform { core in
            let result = core.fromCache { try $0.documents.declareIndexes(for: queries) }
            if case .failure(let error) = result { completion(error) } else { completion(nil) }
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
                core.fromCache { try $0.documents.rows(of: query, first: count, where: isWanted) })
        }
    }

    /// How many rows each query has in one state of the cache, pending writes counted in. Where a
    /// query is one range of an index, only its entries are counted, and no document is read.
    package func cachedCounts(
        of queries: [Query], completion: @escaping @Sendable (Result<[Int], SyncError>) -> Void
    ) {
        perform { $0.findCounts(of: queries, completion) }
    }

    /// How the documents look now, and with them those of the query that have pending writes; nil
    /// for one that is not there.
    package func cachedDocuments(
        at paths: [DocumentPath], andWrittenIn query: Query,
        completion: @escaping @Sendable (Result<[DocumentPath: ViewDocument?], SyncError>) -> Void
    ) {
        perform { core in
            completion(
                core.fromCache { try $0.documents.documents(at: paths, andWrittenIn: query) })
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
                core.fromCache { local in
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

extension EngineCore {
    func fromCache<Success: Sendable>(
        _ read: (LocalStore) throws -> Success
    ) -> Result<Success, SyncError> {
        if let refusal { return .failure(refusal) }
        do { return .success(try read(local)) } catch {
            return .failure(SyncError(storing: error))
        }
    }
}
