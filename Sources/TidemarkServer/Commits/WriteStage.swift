import TidemarkModel
import TidemarkStore

/// The writes of one batch, while their transaction runs. It changes the store and copies of the
/// core's state; the core takes them over once the transaction is durable, or drops them.
final class WriteStage {
    let core: ServerCore
    /// Only while the store's transaction runs.
    var transaction: StoreTransaction?
    var databases: [DatabaseID: DatabaseState]
    var writeStreams: [CallID: WriteStreamState]
    /// How many streams' histories are in the store.
    var storedStreams: Int
    var outputs: [Output] = []
    var commits: [Commit] = []
    var endedTransactions: [TransactionID: TransactionTable.Ending] = [:]
    var bills: [Bill] = []
    /// Of the command that is being performed.
    var method = RPCMethod.commit
    private var touched: Set<DatabaseID> = []
    /// How many of the commands were looked at; the one after them is the one that failed, if any.
    var reached = 0
    /// The calls and streams something of which was performed: they fail with the batch.
    var tried: Set<CallID> = []
    /// The same of those that were parked before.
    var retried: [ParkedCommand] = []
    /// Writes of batch writes that have waited, and what became of them.
    var settled: [(call: CallID, index: Int, result: BatchWriteResult, usage: Usage)] = []
    /// What the transactions had that have ended.
    var released: [(id: TransactionID, owner: LockTable.Owner)] = []
    var endedStreams: [CallID: RPCStatus] = [:]
    /// What has waited and is performed now.
    var retrying: (ticket: LockTicket, command: ParkedCommand)?

    struct Bill {
        let context: CallContext
        let method: RPCMethod
        let collection: CollectionPath
        let usage: Usage
    }

    init(core: ServerCore) {
        self.core = core
        databases = core.databases
        writeStreams = core.writeStreams
        storedStreams = core.storedStreams
    }

    /// - Throws: ``StoreError`` when the whole transaction is lost; a refusal of one command is among
    ///   the outputs instead.
    func perform(_ command: Command) throws {
        switch command {
        case .call(let id, let request, let context): try perform(id, request, context)
        case .openWrite(let id, let context):
            tried.insert(id)
            writeStreams[id] = WriteStreamState(context: context)
        case .write(let id, let request):
            if !hold(.batch(request), of: id) { try perform(id, request) }
        case .finishWrite(let id): if !hold(.finish, of: id) { endWriteStream(id, .ok) }
        case .end(let id, let status):
            endWriteStream(id, status)
            core.cancelCall(id, status)
        case .openListen, .listen, .finishListen, .proceed, .hold: break
        }
    }

    func perform(_ id: CallID, _ request: Request, _ context: CallContext) throws {
        method = request.method
        let firstBill = bills.count
        var ending = RPCStatus.ok
        do {
            if case .batchWrite(let request) = request {
                return try batchWrite(id, request, context)
            }
            let reply = try reply(to: request, context)
            outputs.append(Output(id: id, event: .reply(reply)))
        } catch let status as RPCStatus {
            ending = status
        } catch let wait as LockWait {
            return park(wait, .call(id, request, context))
        }
        tried.insert(id)
        ending = ending.reporting(usage(since: firstBill), to: context)
        outputs.append(Output(id: id, event: .ended(ending)))
    }

    /// What the bills say from this one on.
    func usage(since firstBill: Int) -> Usage {
        bills[firstBill...].reduce(into: Usage()) { $0 += $1.usage }
    }

    private func reply(to request: Request, _ context: CallContext) throws -> Reply {
        switch request {
        case .commit(let request):
            let reply = try commit(
                request.mutations, context, transactionID: request.transaction)
            return .commit(reply)
        case .createDocument(let request): return try create(request, context)
        case .updateDocument(let request): return try update(request, context)
        case .deleteDocument(let path, let precondition):
            _ = try commit([Mutation(path: path, .delete, precondition: precondition)], context)
            return .empty
        case .getDocument, .listDocuments, .batchGetDocuments, .beginTransaction, .rollback,
            .runQuery, .runAggregationQuery, .listCollectionIDs, .partitionQuery, .batchWrite:
            throw RPCStatus(.internal, "A read was taken for a write.")
        }
    }

    /// The row of a database, made on first use, and its next commit time.
    func takeCommitTime(_ database: DatabaseID) throws -> (row: Int64, time: Timestamp) {
        guard let transaction else { throw RPCStatus(.internal, "No transaction is open.") }
        if databases[database] == nil, databases.count >= DatabaseState.capacity {
            throw RPCStatus(.resourceExhausted, "The server has too many databases.")
        }
        var state = databases[database] ?? DatabaseState()
        let time = state.takeCommitTime(now: core.now)
        if state.rowID == nil {
            try transaction.execute(
                "INSERT INTO serverDatabase (name, lastCommit, logStart) VALUES (?, ?, 0)",
                [.text(database.name), .integer(time)])
            state.rowID = transaction.lastInsertedRowID
        }
        databases[database] = state
        touched.insert(database)
        return (state.rowID ?? 0, Timestamp(microseconds: time))
    }

    /// What a batch writes once: the clocks of its databases, and the trimming of their logs and of
    /// the streams.
    func finish() throws {
        guard let transaction else { return }
        try trimWriteStreams()
        for database in touched.sorted(by: { $0.name < $1.name }) {
            guard var state = databases[database], let row = state.rowID else { continue }
            let cutoff = core.now.advanced(by: .zero - core.configuration.history)
            let log = ChangeLog(
                database: row, documents: transaction.documents(of: database))
            if let start = try log.trim(before: cutoff.microseconds) { state.logStart = start }
            try transaction.execute(
                "UPDATE serverDatabase SET lastCommit = ?, logStart = ? WHERE id = ?",
                [.integer(state.lastCommit), .integer(state.logStart), .integer(row)])
            databases[database] = state
        }
    }
}
