public import Foundation

// A bundle is JSON objects, each after its length, as a server's library makes it. Its documents and
// query results are put into the cache in parts, 200 documents or 256 KiB each; what the cache has in
// a newer version stays. Results count as such only once the bundle is whole: a kill or an error half
// way leaves documents that are true, and no query that claims to know its rows. A bundle that was
// loaded before, or is older than one of its id that was, changes nothing.

extension Firestore {
    /// Loads a bundle of documents and query results into the cache. Costs no reads.
    ///
    /// - Parameters:
    ///   - data: The bundle, as a server's library makes it.
    ///   - progress: Called after each stored part, on the calling task.
    /// - Returns: The last progress, whose state is `success`.
    /// - Throws: `invalidArgument` when `data` is not a bundle of this database. Parts that were
    ///   stored before the error stay in the cache.
    @discardableResult
    public func loadBundle(
        _ data: Data, progress: (@Sendable (LoadBundleTaskProgress) -> Void)? = nil
    ) async throws(FirestoreError) -> LoadBundleTaskProgress {
        var chunks = Chunks(data)
        var loading = BundleLoading(self) { progress?($0) }
        return try await loading.run { () async throws(FirestoreError) in chunks.next() }
    }

    /// Loads a bundle from a stream, which is opened and closed here.
    @discardableResult
    public func loadBundle(
        _ stream: InputStream, progress: (@Sendable (LoadBundleTaskProgress) -> Void)? = nil
    ) async throws(FirestoreError) -> LoadBundleTaskProgress {
        let bytes = StreamedBytes(stream)
        var loading = BundleLoading(self) { progress?($0) }
        return try await loading.run { () async throws(FirestoreError) in
            try await bytes.nextWhenThere()
        }
    }

    /// Loads a bundle from bytes as they arrive.
    ///
    /// - Throws: `unavailable` when the bytes end with an error.
    @discardableResult
    public func loadBundle<Bytes: AsyncSequence>(
        bytes: Bytes, progress: (@Sendable (LoadBundleTaskProgress) -> Void)? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(FirestoreError) -> LoadBundleTaskProgress where Bytes.Element == UInt8 {
        var iterator = bytes.makeAsyncIterator()
        var loading = BundleLoading(self) { progress?($0) }
        return try await loading.run { () async throws(FirestoreError) in
            var chunk: [UInt8] = []
            chunk.reserveCapacity(Chunks.size)
            do {
                while chunk.count < Chunks.size,
                    let byte = try await iterator.next(isolation: isolation)
                { chunk.append(byte) }
            } catch { throw FirestoreError(.unavailable, "The bundle's bytes ended: \(error)") }
            return chunk.isEmpty ? nil : chunk
        }
    }

    /// As the `async` form, without waiting.
    @discardableResult
    public func loadBundle(
        _ data: Data,
        completion: (@Sendable (LoadBundleTaskProgress?, (any Error)?) -> Void)? = nil
    ) -> LoadBundleTask {
        load(completion) { try await self.loadBundle(data, progress: $0) }
    }

    /// As the `async` form, without waiting.
    @discardableResult
    public func loadBundle(
        _ stream: InputStream,
        completion: (@Sendable (LoadBundleTaskProgress?, (any Error)?) -> Void)? = nil
    ) -> LoadBundleTask {
        let bytes = StreamedBytes(stream)
        return load(completion) { report in
            var loading = BundleLoading(self, report)
            return try await loading.run { () async throws(FirestoreError) in
                try await bytes.nextWhenThere()
            }
        }
    }

    private func load(
        _ completion: (@Sendable (LoadBundleTaskProgress?, (any Error)?) -> Void)?,
        _ body:
            @escaping @Sendable (
                @escaping @Sendable (LoadBundleTaskProgress) -> Void
            ) async throws -> LoadBundleTaskProgress
    ) -> LoadBundleTask {
        let queue = callbackQueue
        let task = LoadBundleTask(queue)
        Task {
            do {
                let progress = try await body { task.report($0) }
                queue.async { completion?(progress, nil) }
            } catch { queue.async { completion?(nil, error) } }
        }
        return task
    }
}

/// Data in pieces, so that no more than one is copied at a time.
private struct Chunks {
    static let size = 64 * 1024

    private var rest: Data

    init(_ data: Data) { rest = data }

    mutating func next() -> [UInt8]? {
        if rest.isEmpty { return nil }
        defer { rest = rest.dropFirst(Self.size) }
        return Array(rest.prefix(Self.size))
    }
}

extension Firestore {
    /// The query of this name in the loaded bundles; nil if there is none. A listener of it starts
    /// from the bundle's result and reads only what changed since.
    public func getQuery(named name: String) async throws(FirestoreError) -> Query? {
        let source: [UInt8]? = try await answer { engine.namedQuery(name, completion: $0) }
        guard let source else { return nil }
        do {
            let element = try JSONDecoder().decode(BundleElementJSON.self, from: Data(source))
            guard let named = element.namedQuery else { return nil }
            return Query(self, try named.bundledQuery.query(of: databaseID))
        } catch {
            throw (error as? FirestoreError)
                ?? FirestoreError(SyncError.storage(.damaged(detail: "\(error)")))
        }
    }

    /// As the `async` form; `completion` is called on the listeners' queue, with nil when there is
    /// no such query or it could not be looked up.
    public func getQuery(
        named name: String, completion: @escaping @Sendable (Query?) -> Void
    ) {
        let queue = callbackQueue
        Task {
            let query = try? await self.getQuery(named: name)
            queue.async { completion(query) }
        }
    }
}
