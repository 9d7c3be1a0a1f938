import TidemarkModel
import TidemarkStore

/// The services that every reading call needs: the scope of the read, its locks, the check of its
/// query, and its bill.
final class ReadAccess {
    private let clocks: DatabaseClocks
    private let transactions: Transactions
    private let admission: QueryAdmission
    private let meter: UsageMeter
    let billing: Billing
    let editions: DatabaseEditions
    /// Returns 64 random bits.
    let randomBits: @Sendable () -> UInt64
    let stopwatch: @Sendable () -> Duration
    /// The transaction that the current call began before its locks were granted.
    private var begun: TransactionID?

    init(
        _ clocks: DatabaseClocks, transactions: Transactions, admission: QueryAdmission,
        meter: UsageMeter, configuration: FirestoreServer.Configuration,
        environment: ServerEnvironment
    ) {
        self.clocks = clocks
        self.transactions = transactions
        self.admission = admission
        self.meter = meter
        billing = configuration.billing
        editions = configuration.editions
        randomBits = environment.randomBits
        stopwatch = environment.ticks
    }

    // MARK: The current call

    /// Takes the locks of a call in its transaction, and begins the transaction if the call
    /// requests a new one. The caller must call ``end()`` afterwards.
    ///
    /// - Returns: The ticket to wait with; nil if the call can continue, or will be refused.
    func begin(_ call: ReadCall) throws(RPCStatus) -> LockTicket? {
        begun = call.begun
        let (request, database) = (call.request, call.context.database)
        let id: TransactionID
        switch request.consistency {
        case .latest, .at, nil: return nil
        case .transaction(let transaction): id = transaction
        case .newTransaction(let options):
            if request.lockedReading(in: database) == nil { return nil }
            if let begun { id = begun } else { id = try transactions.begin(options, call.context) }
            begun = id
        }
        return try transactions.lock(
            request.lockedReading(in: database), of: id, call.context, again: call.ticket)
    }

    /// Keeps a call until its locks can be granted.
    func park(_ call: ReadCall, _ ticket: LockTicket) {
        transactions.park(
            ticket, .call(call.id, call.request, call.context), deadline: call.deadline,
            begun: begun)
    }

    /// Rolls back the transaction that a failed call has begun, because the caller never receives
    /// its id.
    func rollback() {
        if let begun { transactions.end(begun, .rolledBack) }
    }

    func end() { begun = nil }

    /// Commits a transaction that has only read, after its last read.
    func commit(_ id: TransactionID) { transactions.end(id, .committed) }

    /// The time since any fixed moment, to measure durations.
    var ticks: Duration { stopwatch() }

    // MARK: Scopes

    /// Returns the scope of a read for its consistency.
    func scope(
        _ consistency: ReadConsistency, context: CallContext, transaction: StoreTransaction
    ) throws -> ReadScope {
        let database = context.database
        switch consistency {
        case .latest: return clocks.latestScope(database, transaction)
        case .at(let time): return try clocks.scope(at: time, database, transaction)
        case .transaction(let id): return try scope(inside: id, context, transaction)
        case .newTransaction(let options):
            let id = try begun ?? transactions.begin(options, context)
            var scope = try scope(inside: id, context, transaction)
            scope.begun = id
            return scope
        }
    }

    /// Returns the scope that ``scope(_:context:transaction:)`` will return, for a check of the
    /// rules. Begins no transaction.
    func judgedScope(
        _ consistency: ReadConsistency, context: CallContext, transaction: StoreTransaction
    ) throws -> ReadScope {
        guard case .newTransaction(let options) = consistency else {
            return try scope(consistency, context: context, transaction: transaction)
        }
        let database = context.database
        guard case .readOnly(let time?) = options else {
            return clocks.latestScope(database, transaction)
        }
        return try clocks.scope(at: time, database, transaction)
    }

    private func scope(
        inside id: TransactionID, _ context: CallContext, _ transaction: StoreTransaction
    ) throws -> ReadScope {
        let database = context.database
        let open = try transactions.use(id, context)
        switch open.mode {
        case .readOnly(let snapshot): return try clocks.scope(at: snapshot, database, transaction)
        // The documents that a pessimistic transaction reads are locked and stay unchanged.
        case .pessimistic: return clocks.latestScope(database, transaction)
        case .optimistic:
            if transactions.isFull(id) { throw TransactionTable.tooManyReads }
            var scope = clocks.latestScope(database, transaction)
            scope.recorder = id
            return scope
        }
    }

    /// Returns the scope of an unfinished answer: the answer's own read time. Throws if the log no
    /// longer reaches back to that time.
    func scope(
        continuing answer: UnfinishedAnswer, _ transaction: StoreTransaction
    ) throws(RPCStatus) -> ReadScope {
        let database = answer.context.database
        if !clocks.isKept(answer.readTime, database) {
            throw RPCStatus(
                .resourceExhausted,
                "The response was read too slowly: the server no longer has its data.")
        }
        return clocks.pastScope(answer.readTime, database: database, transaction: transaction)
    }

    // MARK: Reads of optimistic transactions

    func record(_ scope: ReadScope, path: DocumentPath, document: Document?) {
        if let recorder = scope.recorder {
            transactions.record(recorder, path, version: document?.updateTime)
        }
    }

    func record(_ scope: ReadScope, query: Query, rows: [(DocumentPath, Document)]) {
        guard let recorder = scope.recorder else { return }
        transactions.record(recorder, query, readTime: scope.readTime)
        for (path, document) in rows {
            transactions.record(recorder, path, version: document.updateTime)
        }
    }

    // MARK: Indexes

    /// Calls ``QueryAdmission/admit(_:_:_:in:)``.
    @discardableResult
    func admit(
        _ query: Query, _ aggregations: [Aggregation] = [], _ explain: ExplainOptions? = nil,
        in database: DatabaseID
    ) throws(RPCStatus) -> Explanation? {
        try admission.admit(query, aggregations, explain, in: database)
    }

    func metrics(_ explanation: Explanation, _ counters: Explanation.Counters) -> ExplainMetrics {
        admission.metrics(explanation, counters)
    }

    // MARK: Costs

    /// The total bill so far. The difference between two values is the bill of a call.
    var billed: Usage { meter.total }

    /// - Parameters:
    ///   - target: The target of the call, such as ``Query/meterTarget``.
    ///   - readUnits: The units in the Enterprise edition; nil for one for each read.
    ///   - subject: The object of the reads; nil for the name of the target.
    func countReads(
        _ count: Int, by method: RPCMethod, _ context: CallContext, on target: String,
        readUnits: Int? = nil, of subject: @autoclosure () -> ReadSubject? = nil
    ) {
        meter.countReads(
            count, by: method, context, on: target, units: readUnits.map { BilledUnits(read: $0) },
            of: subject())
    }

    /// Bills the reads of a query under its own name.
    ///
    /// - Parameter readUnits: The units in the Enterprise edition; nil for one for each read.
    func bill(
        _ count: Int, for query: Query, aggregations: [Aggregation] = [], by method: RPCMethod,
        context: CallContext, part: ReadSubject.Part = .start, readUnits: Int? = nil
    ) {
        meter.countReads(
            count, by: method, context, on: query.meterTarget,
            units: readUnits.map { BilledUnits(read: $0) },
            of: .query(query, aggregations: aggregations, part: part))
    }

    /// Returns the counter of a query's read units; nil for a database of the Standard edition.
    func units(of query: Query, in database: DatabaseID) -> QueryUnits? {
        guard admission.isBilledByUnits(database) else { return nil }
        return QueryUnits(query, admission.requirement(query, [], in: database))
    }

    /// Returns the read units of an aggregation; nil for a database of the Standard edition.
    func units(
        of query: Query, _ aggregations: [Aggregation], entries: Int, in scope: ReadScope
    ) throws -> QueryUnits? {
        guard admission.isBilledByUnits(scope.database) else { return nil }
        let isCount = aggregations.allSatisfy {
            if case .count = $0.operation { true } else { false }
        }
        return try QueryUnits.aggregation(
            query, admission.requirement(query, aggregations, in: scope.database),
            entries: entries, isCount: isCount, in: scope)
    }

    /// Records a query that scanned, because no index serves it.
    func note(_ units: QueryUnits?, _ context: CallContext) {
        if let units, !context.isUnbilled { admission.note(units, in: context.database) }
    }

    /// Returns the read units of a document that is read by its name; nil for the Standard edition.
    func pointUnits(_ document: Document?, in database: DatabaseID) -> Int? {
        guard admission.isBilledByUnits(database) else { return nil }
        guard let document else { return billing.units.missingDocumentUnits }
        return UnitBilling.pointRead(
            bytes: Document.storageSize(of: document.fields, at: document.path))
    }

    /// - Parameter part: The part of the call to which the lookups belong.
    func bill(_ lookups: Lookups, _ context: CallContext, part: ReadSubject.Part) {
        for (collection, count) in lookups.counts {
            let reads = billing.lookups(
                found: count.found, missing: count.missing, repeated: count.repeated)
            let units =
                count.units + count.missing * billing.units.missingDocumentUnits
                + count.repeated * billing.repeatedLookupReads
            meter.countReads(
                reads, by: .batchGetDocuments, context, on: collection.text,
                units: BilledUnits(read: units),
                of: count.first.map { ReadSubject(.documents($0), part) })
        }
    }
}
