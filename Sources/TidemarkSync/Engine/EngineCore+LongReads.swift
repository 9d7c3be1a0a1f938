import TidemarkModel
import TidemarkStore

// Queries that are read once, and stored in parts as their rows come.

/// How a query that was read once has ended.
enum ReadEnd: Sendable {
    case rows(LongRead.Answer)
    case failed(RPCStatus)
    case storage(SyncError)
}

extension ReadEnd {
    /// - Parameter error: What a status means for the caller.
    func answer(
        _ error: (RPCStatus) -> SyncError
    ) -> Result<LongRead.Answer, SyncError> {
        switch self {
        case .rows(let answer): .success(answer)
        case .failed(let status): .failure(error(status))
        case .storage(let error): .failure(error)
        }
    }
}

/// How long a call may take.
struct CallLimits: Equatable, Sendable {
    /// From its start; nil for as long as messages come.
    var whole: Duration?
    /// Without a message; nil for as long as `whole` lasts.
    var silence: Duration?
}

extension EngineCore {
    /// Reads a query from the server. While rows come it has no limit but its caller's; where an attempt
    /// breaks, the next one goes on behind the last row.
    ///
    /// - Parameters:
    ///   - deadline: The caller's, for all of it.
    ///   - silence: How long the server may be silent; nil for ``longestCall``.
    ///   - mayMixTimes: As ``LongRead`` has it.
    func startRead(
        _ query: Query, _ tag: ReadTag, _ rule: RetryRule = .read, deadline: Duration?,
        silence: Duration? = nil, mayMixTimes: Bool, keepsRows: Bool = true,
        completion: @escaping @Sendable (ReadEnd) -> Void
    ) {
        let read = LongRead(
            query.wireForm, in: database, mayMixTimes: mayMixTimes, keepsRows: keepsRows)
        let limits = CallLimits(
            whole: deadline, silence: min(silence ?? Self.longestCall, Self.longestCall))
        startCall(
            .runQuery(RunQueryRequest(query: query.wireForm)), read, tag, rule, limits
        ) { end in
            switch end {
            case .replies(_, let status): completion(.failed(status))
            case .read(let end): completion(end)
            }
        }
    }

    func perform(_ effects: [LongRead.Effect], call id: UInt64) {
        for effect in effects {
            switch effect {
            case .store(let part, let readTime):
                do {
                    let changed = try local.remote.apply(
                        part.map(RemoteDocument.found), readTime: readTime)
                    refreshViews(changed, nil, awaiting: readTime)
                } catch { return stop(id, SyncError(storing: error)) }
            case .finish(let answer): calls[id]?.answer = answer
            case .giveUp: calls[id]?.isGivenUp = true
            }
        }
    }

    /// Its rows cannot be stored: the rest of them is of no use.
    private func stop(_ id: UInt64, _ error: SyncError) {
        guard let call = calls.removeValue(forKey: id) else { return }
        call.timer?.cancel()
        call.handle?.cancel()
        call.completion(.read(.storage(error)))
    }

    // MARK: The end

    /// A query's rows in its order, and as of when.
    func rows(
        _ answer: LongRead.Answer, of query: Query
    ) -> (documents: [Document], readTime: Timestamp) {
        var documents = answer.documents
        if case .last = query.limit { documents.reverse() }
        // A server says it; one that does not is taken at its documents' word.
        let newest = documents.map(\.updateTime).max() ?? local.targets.lastVersion
        return (documents, answer.readTime ?? newest)
    }

    /// Stores what the parts have not, forgets what is no row any more, and makes of all what a reader
    /// sees: at once where there were no parts.
    func store(
        _ answer: LongRead.Answer, of query: Query, completion: @escaping ReadCompletion
    ) {
        let (documents, readTime) = rows(answer, of: query)
        let isOfOneTime = answer.isOfOneTime
        let end: @Sendable (() throws -> ReadResult) -> Void = { [self] result in
            completion(
                Result {
                    var result = try result()
                    if !isOfOneTime { result.freshness = mixed(readTime) }
                    return result
                }.mapError(SyncError.init(storing:)))
        }
        guard answer.hasParts else {
            return end {
                try store(
                    documents, readTime, of: query, records: [:], isComplete: answer.isOfOneTime)
            }
        }
        storeRest(of: answer, query, readTime) { [self] error in
            end {
                if let error { throw error }
                return try shown(documents, readTime, of: query)
            }
        }
    }

    /// Of an answer that is no state of the database, but has for each row one that is as new as this.
    private func mixed(_ readTime: Timestamp) -> Freshness {
        let status = RPCStatus(
            .aborted, "The read broke, and the server had forgotten its time: rows may be missing.")
        return .stale(age: age(readTime), reason: .failed(status))
    }

    private func storeRest(
        of answer: LongRead.Answer, _ query: Query, _ readTime: Timestamp,
        completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        do {
            let changed = try local.remote.apply(
                answer.unstored.map(RemoteDocument.found), readTime: readTime)
            refreshViews(changed, nil, awaiting: readTime)
        } catch { return completion(SyncError(storing: error)) }
        guard answer.isOfOneTime else { return completion(nil) }
        var names = answer.names
        for document in answer.unstored { names.insert(document.path) }
        prune(Pruning(query, names, answer.count, readTime, session: session), completion)
    }

    /// Reads a query into the cache, and hands no rows over.
    func download(
        _ query: Query, _ deadline: Duration?, _ silence: Duration?, _ tag: ReadTag,
        _ completion: @escaping @Sendable (Result<DownloadedRows, SyncError>) -> Void
    ) {
        if let reason = refusal ?? overBudget(tag) { return completion(.failure(reason)) }
        var query = query
        query.projection = nil
        startRead(
            query, tag, deadline: deadline, silence: silence, mayMixTimes: true, keepsRows: false
        ) { [self, query] end in
            switch end.answer(error) {
            case .failure(let error): completion(.failure(error))
            case .success(let answer):
                let readTime = answer.readTime ?? local.targets.lastVersion
                // Not the answer itself, whose names would then be there twice.
                let rows = DownloadedRows(
                    count: answer.count, readTime: readTime, isOfOneTime: answer.isOfOneTime)
                storeRest(of: answer, query, readTime) { error in
                    completion(error.map { .failure($0) } ?? .success(rows))
                }
            }
        }
    }

    /// One slice, and the next one as a job of its own, so that others come in between.
    func prune(_ pruning: Pruning, _ completion: @escaping @Sendable (SyncError?) -> Void) {
        if let refusal { return completion(refusal) }
        guard pruning.session == session else { return completion(.userChanged) }
        let query = pruning.query
        var pruning = pruning
        do {
            try readKeysOfAll()
            let changed = try local.prune(&pruning) { isListened($0, beside: query) }
            refreshViews(changed, nil, awaiting: pruning.readTime)
        } catch { return completion(SyncError(storing: error)) }
        if pruning.isOver { return completion(nil) }
        environment.scheduler.enqueue { [self, pruning] in prune(pruning, completion) }
    }
}

/// What the cache has of a query besides its rows, which are all known: forgotten in slices, and then
/// the query is confirmed. Ended half way, it has forgotten only what is no row.
struct Pruning: Sendable {
    let query: Query
    var names: NameDigests
    let readTime: Timestamp
    /// Of the user for whom the query was read.
    let session: UInt64
    /// The last document that was looked at.
    var last: StoredDocument?
    /// Whether nothing is left to be looked at.
    var isOver: Bool
    static let slice = 300

    init(
        _ query: Query, _ names: NameDigests, _ count: Int, _ readTime: Timestamp, session: UInt64
    ) {
        self.query = query
        self.names = names
        self.readTime = readTime
        self.session = session
        // What is beyond a limit that was reached, or was passed over, may still be there.
        isOver = query.offset > 0 || query.limit.map { count >= $0.count } ?? false
    }

    /// The documents that are looked at next: by the query where an index has its order, and where none
    /// does, all of its collection by name.
    func page(in table: DocumentTable) throws -> Query {
        var page = query
        page.limit = nil
        if try !table.readsInOrder(page) {
            // Of many collections all at once.
            guard !query.allDescendants else { return page }
            page = Query(parent: query.parent, collectionID: query.collectionID)
        }
        page.orders = page.normalizedOrders
        page.limit = .first(Self.slice)
        if let last {
            page.start = Cursor(
                behind: last.path, last.contents, in: page.orders, of: table.database)
        }
        return page
    }
}

extension LocalStore {
    /// Forgets the next documents that are no rows, and confirms the query after the last ones.
    func prune(
        _ pruning: inout Pruning, isListened: (DocumentPath) -> Bool
    ) throws -> [LocalDocument] {
        let prepared = PreparedQuery(pruning.query, in: database)
        var others: [DocumentPath] = []
        if !pruning.isOver {
            var looked = 0
            var isPage = true
            var (names, last) = (pruning.names, pruning.last)
            _ = try read { transaction in
                let table = transaction.documents(of: database)
                let page = try pruning.page(in: table)
                isPage = page.limit != nil
                return try table.run(page) { document in
                    looked += 1
                    last = document
                    if LocalDocument(document).isRow(of: prepared), !names.contains(document.path),
                        document.updateTime <= pruning.readTime,
                        !document.hasCommittedMutations || document.readTime <= pruning.readTime,
                        !isListened(document.path)
                    {
                        others.append(document.path)
                    }
                    return true
                }
            }
            pruning.names = names
            pruning.last = last
            pruning.isOver = !isPage || looked < Pruning.slice
        }
        guard pruning.isOver || !others.isEmpty else { return [] }
        return try remote.forget(
            others, confirming: pruning.isOver ? pruning.query.wireForm : nil,
            at: pruning.readTime)
    }
}
