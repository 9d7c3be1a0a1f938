import TidemarkModel
import TidemarkStore

/// The writes of a turn, while their transaction runs: commands in, outputs out. The
/// ``CommitStage`` makes the commits, and the ``WriteStreamStage`` keeps the write streams. The
/// core takes over both after the transaction is durable, or drops them.
final class WriteStage {
    private(set) var commits: CommitStage
    private(set) var streams: WriteStreamStage
    private let transactions: Transactions
    private let documents: DocumentWrites
    private let pipelines: PipelineWrites

    private(set) var outputs: [Output] = []
    /// The number of processed commands. If a command failed, it is the next after them.
    private(set) var reached = 0
    /// The calls and streams with a performed command: they fail together with the batch.
    private(set) var tried: Set<CallID> = []
    /// The performed commands that were parked before.
    private(set) var retried: [ParkedCommand] = []
    /// The waiting writes of batch writes that were performed, with their results.
    private(set) var settled: [Settled] = []
    /// The deadline of the waiting command that is performed now.
    private var deadline: Duration?

    struct Settled {
        let call: CallID
        let index: Int
        let result: BatchWriteResult
        let usage: Usage
    }

    init(
        _ commits: CommitStage, streams: WriteStreamStage, transactions: Transactions,
        pipelines: PipelineWrites
    ) {
        self.commits = commits
        self.streams = streams
        self.transactions = transactions
        documents = DocumentWrites(randomBits: pipelines.environment.randomBits)
        self.pipelines = pipelines
    }

    /// Performs the commands, and the waiting commands that may continue, in a transaction of the
    /// store.
    ///
    /// - Throws: ``StoreError`` if the whole transaction is lost; the refusal of a command is among
    ///   the outputs instead.
    func perform(_ commands: [Command], in transaction: StoreTransaction) throws {
        commits.transaction = transaction
        defer { commits.transaction = nil }
        for command in commands {
            try perform(command)
            reached += 1
        }
        try performReady()
        try streams.trim(commits)
        try commits.finish()
    }

    /// Performs commands that need no store.
    func performWithoutStore(_ commands: [Command]) throws {
        for command in commands { try perform(command) }
    }

    // MARK: Commands

    private func perform(_ command: Command) throws {
        switch command {
        case .call(let id, let request, let context):
            try perform(id, request: request, context: context)
        case .openWrite(let id, let context):
            tried.insert(id)
            streams.connect(id, context)
        case .write(let id, let request):
            if !hold(.batch(request), of: id) { try perform(id, request) }
        case .finishWrite(let id):
            if !hold(.finish, of: id) { streams.end(id, status: .ok, outputs: &outputs) }
        case .end(let id, let status):
            streams.end(id, status: status, outputs: &outputs)
            transactions.cancel(id, status)
        case .openListen, .listen, .finishListen, .proceed, .hold: break
        }
    }

    private func perform(_ id: CallID, request: Request, context: CallContext) throws {
        commits.method = request.method
        let firstBill = commits.bills.count
        var ending = RPCStatus.ok
        do {
            if case .batchWrite(let request) = request {
                return try batchWrite(id, request: request, context: context)
            }
            let reply = try reply(to: request, context)
            outputs.append(Output(id: id, event: .reply(reply)))
        } catch let status as RPCStatus {
            ending = status
        } catch let wait as LockWait {
            return park(wait, .call(id, request, context))
        }
        tried.insert(id)
        ending = ending.reporting(commits.usage(since: firstBill), to: context)
        outputs.append(Output(id: id, event: .ended(ending)))
    }

    /// Answers a message of a write stream.
    private func perform(_ id: CallID, _ request: WriteRequest) throws {
        do {
            if try streams.perform(id, request: request, commits: &commits, outputs: &outputs) {
                tried.insert(id)
            }
        } catch let wait as LockWait {
            park(wait, .streamBatch(id, request))
        }
    }

    private func reply(to request: Request, _ context: CallContext) throws -> Reply {
        switch request {
        case .commit(let request):
            let reply = try commits.commit(
                request.mutations, context, transactionID: request.transaction)
            return .commit(reply)
        case .createDocument(let request):
            return try documents.create(request, context: context, commits: &commits)
        case .updateDocument(let request):
            return try documents.update(request, context: context, commits: &commits)
        case .deleteDocument(let path, let precondition):
            _ = try commits.commit(
                [Mutation(path: path, .delete, precondition: precondition)], context)
            return .empty
        case .executePipeline(let request):
            return try pipelines.perform(request, context: context, commits: &commits)
        case .getDocument, .listDocuments, .batchGetDocuments, .beginTransaction, .rollback,
            .runQuery, .runAggregationQuery, .listCollectionIDs, .partitionQuery, .batchWrite:
            throw RPCStatus(.internal, "A read was taken for a write.")
        }
    }

    // MARK: Batch writes

    /// Performs each write separately. The answer is sent when all writes are settled; a write that
    /// waits for locks does not delay the others.
    ///
    /// - Throws: ``RPCStatus`` if nothing of the batch is done; ``StoreError``.
    private func batchWrite(
        _ id: CallID, request: BatchWriteRequest, context: CallContext
    ) throws {
        if Set(request.mutations.map(\.path)).count < request.mutations.count {
            throw RPCStatus.invalidArgument(
                "BatchWrite does not allow writing to the same document more than once.")
        }
        let firstBill = commits.bills.count
        var results: [BatchWriteResult?] = []
        results.reserveCapacity(request.mutations.count)
        for (index, mutation) in request.mutations.enumerated() {
            do {
                results.append(try write(mutation, context))
            } catch let wait as LockWait {
                park(wait, .item(id, index, mutation, context))
                results.append(nil)
            }
        }
        let known = results.compactMap { $0 }
        let usage = commits.usage(since: firstBill)
        if !known.isEmpty || results.isEmpty { tried.insert(id) }
        if known.count < results.count {
            transactions.add(.init(context: context, results: results, usage: usage), of: id)
        } else {
            outputs.append(id, .batchWrite(known))
            outputs.append(
                Output(id: id, event: .ended(RPCStatus.ok.reporting(usage, to: context))))
        }
    }

    /// Performs a write of a batch write.
    ///
    /// - Throws: ``LockWait``, ``StoreError``; a refusal is a result.
    private func write(_ mutation: Mutation, _ context: CallContext) throws -> BatchWriteResult {
        do {
            let reply = try commits.commit([mutation], context)
            return BatchWriteResult(status: .ok, result: reply.results[0])
        } catch let status as RPCStatus {
            return BatchWriteResult(status: status, result: MutationResult(updateTime: nil))
        }
    }

    // MARK: Waiting

    /// Keeps a command until its locks can be granted.
    private func park(_ wait: LockWait, _ work: ParkedCommand.Work) {
        transactions.park(wait.ticket, work, deadline: deadline)
    }

    /// Records that a waiting command is performed now.
    private func retry(_ command: ParkedCommand?, _ ticket: LockTicket?) {
        deadline = command?.deadline
        commits.ticket = ticket
    }

    /// Keeps a message of a write stream behind a waiting batch.
    ///
    /// - Returns: False if nothing of the stream waits: the caller must then perform the message.
    private func hold(_ message: ParkedCommands.Held, of id: CallID) -> Bool {
        guard streams.isConnected(id), transactions.isHolding(id) else { return false }
        if !transactions.hold(message, of: id) {
            let status = RPCStatus(
                .resourceExhausted, "The stream has too many pending batches.")
            streams.end(id, status: status, outputs: &outputs)
        }
        return true
    }

    /// Performs the writes that need not wait any longer, and the writes that these release.
    private func performReady() throws {
        while true {
            let tickets = transactions.takeReady(writes: true)
            if tickets.isEmpty { return }
            for (index, ticket) in tickets.enumerated() {
                do {
                    try perform(ticket)
                } catch {
                    transactions.putBack(tickets[(index + 1)...])
                    throw error
                }
            }
        }
    }

    private func perform(_ ticket: LockTicket) throws {
        defer { transactions.finish(ticket) }
        guard let command = transactions.take(ticket) else { return }
        retried.append(command)
        retry(command, ticket)
        defer { retry(nil, nil) }
        switch command.work {
        case .call(let id, let request, let context):
            try perform(id, request: request, context: context)
        case .item(let id, let index, let mutation, let context):
            commits.method = .batchWrite
            let firstBill = commits.bills.count
            do {
                let result = try write(mutation, context)
                let usage = commits.usage(since: firstBill)
                settled.append(Settled(call: id, index: index, result: result, usage: usage))
            } catch let wait as LockWait {
                park(wait, command.work)
            }
        case .streamBatch(let id, let request): try perform(id, request)
        }
        if transactions.isParked(ticket) {
            retried.removeLast()
        } else if case .streamBatch(let id, _) = command.work {
            retry(nil, nil)
            try performHeld(id)
        }
    }

    /// Performs the messages of a write stream after a batch that has waited, until one of them has
    /// to wait.
    private func performHeld(_ id: CallID) throws {
        while !transactions.isWaiting(id), let message = transactions.takeHeld(id) {
            switch message {
            case .batch(let request): try perform(id, request)
            case .finish: streams.end(id, status: .ok, outputs: &outputs)
            }
        }
    }
}
