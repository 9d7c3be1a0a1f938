/// The steps of a take-over, each of which stores parts of the other store in this client's cache.
///
/// Not `Sendable`: the task of the take-over uses it.
final class TakeOverParts {
    typealias Accepts = @Sendable (DocumentPath) -> Bool

    /// The number of queries that are taken before all documents, from the last used one.
    private static let mostFirst = 20
    /// The maximum number of rows of such a query.
    private static let mostFirstRows = 500
    /// The maximum size of the documents of such a query in bytes, because a result that is taken
    /// at once is in memory.
    private static let mostFirstBytes = 4 << 20
    /// The number of targets that are adopted in one transaction.
    private static let adoptedAtOnce = 50

    let cache: FirebaseCache
    private let calls: TakeOverCalls
    private let accepts: Accepts?
    private var position: [UInt8] = []
    private var spoiled: Set<Int> = []
    /// The targets that are taken whole.
    private var taken: Set<Int> = []
    /// The number of documents that were looked at.
    private(set) var documentCount = 0
    /// The number of targets that are taken whole.
    private(set) var targetCount = 0

    init(_ calls: TakeOverCalls, cache: FirebaseCache, accepts: Accepts?) {
        self.calls = calls
        self.cache = cache
        self.accepts = accepts
    }

    func begin() async throws(TakeOverFailure) -> TakeOverState {
        let state: TakeOverState = try await ask { [calls] in
            calls.begin(completion: $0)
        }
        if case .open(let position, let spoiled) = state {
            (self.position, self.spoiled) = (position, spoiled)
        }
        return state
    }

    /// Takes the documents that waiting writes change, because increments begin from their values.
    func takeBases(of store: FirebaseStore?) async throws(TakeOverFailure) {
        guard let store else { return }
        var part = TakeOverPart()
        part.position = position
        let paths = Set(store.batches(of: calls.source.user).flatMap(\.mutations).map(\.path))
        for path in paths.sorted() {
            let key = StoreKey.document(at: path.text)
            guard
                let value = try read({ () throws(FirebaseStoreError) in
                    try cache.reader.value(of: key)
                })
            else { continue }
            let found = CachedDocument(
                key, value: value, targets: [], cache: cache, accepts: accepts)
            if let document = found.document { part.documents.append(document) }
        }
        if part.documents.isEmpty { return }
        try await self.store(part)
    }

    // MARK: The first screen

    /// Takes the results of the queries that the store has, each in one transaction.
    func take(
        _ queries: [QueryValue], _ notify: () -> Void
    ) async throws(TakeOverFailure) {
        for query in queries {
            guard let number = cache.number(of: query) else { continue }
            try await take(number, notify)
        }
    }

    /// Takes the results of the queries that were used last, each in one transaction.
    func takeLatest(_ notify: () -> Void) async throws(TakeOverFailure) {
        let latest = cache.targets.indices.lazy.filter { [cache] in
            !cache.targets[$0].isDocument
        }
        for number in Array(latest.prefix(Self.mostFirst)) { try await take(number, notify) }
    }

    private func take(_ number: Int, _ notify: () -> Void) async throws(TakeOverFailure) {
        if spoiled.contains(number) || taken.contains(number) { return }
        guard let documents = try whole(number) else { return }
        let target = target(number, rowCount: documents.count)
        let isTaken: Bool = try await ask { [calls] in
            calls.take(target, with: documents, completion: $0)
        }
        taken.insert(number)
        if !isTaken { return }
        targetCount += 1
        notify()
    }

    /// Returns all documents of a target; nil if one of them cannot be taken, or if they are many.
    private func whole(_ number: Int) throws(TakeOverFailure) -> [TakenDocument]? {
        try read { () throws(FirebaseStoreError) in
            guard let paths = try cache.rows(of: cache.targets[number], most: Self.mostFirstRows),
                !paths.isEmpty
            else { return nil }
            var documents: [TakenDocument] = []
            var bytes = 0
            for path in paths {
                let key = StoreKey.document(at: path)
                guard let value = try cache.reader.value(of: key) else { return nil }
                bytes += value.count
                if bytes > Self.mostFirstBytes { return nil }
                let found = CachedDocument(
                    key, value: value, targets: [number], cache: cache, accepts: accepts)
                guard found.spoiled.isEmpty, let document = found.document else { return nil }
                documents.append(document)
            }
            return cache.hasWholeTargets ? documents : nil
        }
    }

    // MARK: Everything

    /// Takes all documents in parts, behind the last part of an earlier process.
    func takeAll(_ notify: (Int) -> Void) async throws(TakeOverFailure) {
        var pass = DocumentPass(cache, after: position, taken: taken, accepts: accepts)
        while let part = try read({ () throws(FirebaseStoreError) in try pass.next() }) {
            try await store(part)
            documentCount = pass.count
            notify(pass.count)
        }
    }

    /// Adopts the targets of which every row was taken.
    func adoptTargets(_ notify: (Int) -> Void) async throws(TakeOverFailure) {
        let counts = try read { () throws(FirebaseStoreError) in try cache.rowCounts() }
        // Damage of these tables that was met since the last part.
        let wanted =
            cache.hasWholeTargets
            ? cache.targets.indices.filter { !taken.contains($0) && mayAdopt($0, counts[$0]) } : []
        var adopted = 0
        for start in stride(from: 0, to: wanted.count, by: Self.adoptedAtOnce) {
            let numbers = wanted[start..<min(start + Self.adoptedAtOnce, wanted.count)]
            let targets = numbers.map { target($0, rowCount: counts[$0]) }
            let count: Int = try await ask { [calls] in
                calls.adopt(targets, completion: $0)
            }
            adopted += count
            notify(count)
        }
        targetCount += adopted
        let left = cache.targets.count - taken.count - adopted
        if left > 0 { cache.leave(.incomplete, left) }
    }

    /// A result without rows can be one that an existence filter has emptied, with an old token.
    private func mayAdopt(_ number: Int, _ count: Int) -> Bool { count > 0 }

    private func target(_ number: Int, rowCount: Int) -> TakenTarget {
        let target = cache.targets[number]
        return TakenTarget(
            number: number, query: target.query, resumeToken: target.resumeToken,
            version: target.version, rowCount: rowCount)
    }

    func finish() async throws(TakeOverFailure) {
        let bundles = try read { () throws(FirebaseStoreError) in try cache.bundles() }
        let queries = try read { () throws(FirebaseStoreError) in try cache.namedQueries() }
        let _: Void = try await ask { [calls] in
            calls.take(bundles, queries, completion: $0)
        }
        let version = cache.lastVersion
        let _: Void = try await ask { [calls] in
            calls.finish(version: version, completion: $0)
        }
    }

    // MARK: Steps

    private func store(_ part: TakeOverPart) async throws(TakeOverFailure) {
        let left: Int = try await ask { [calls] in
            calls.take(part, completion: $0)
        }
        if left > 0 { cache.leave(.noRoom, left) }
    }

    private func read<T>(
        _ body: () throws(FirebaseStoreError) -> T
    ) throws(TakeOverFailure) -> T {
        do throws(FirebaseStoreError) { return try body() } catch { throw .store(error) }
    }

    private func ask<T: Sendable>(
        _ start: (@escaping @Sendable (Result<T, SyncError>) -> Void) -> Void
    ) async throws(TakeOverFailure) -> T {
        do throws(FirestoreError) { return try await answer(start) } catch { throw .client(error) }
    }
}
