import TidemarkModel
import TidemarkStore

/// The write streams during a turn: a copy of ``WriteStreams``, which is taken over after the
/// turn's transaction is durable.
struct WriteStreamStage {
    private let clocks: DatabaseClocks
    private let transactions: Transactions
    private let randomBits: @Sendable () -> UInt64
    /// The maximum number of streams that can be resumed.
    private let remembered: Int

    private(set) var connections: [CallID: WriteStreamState]
    private(set) var storedHistories: Int
    /// The streams that have ended in this turn, with their status.
    private(set) var ended: [CallID: RPCStatus] = [:]

    init(
        _ streams: WriteStreams, clocks: DatabaseClocks, transactions: Transactions,
        randomBits: @escaping @Sendable () -> UInt64,
        remembered: Int
    ) {
        connections = streams.connections
        storedHistories = streams.storedHistories
        self.clocks = clocks
        self.transactions = transactions
        self.randomBits = randomBits
        self.remembered = remembered
    }

    mutating func connect(_ id: CallID, _ context: CallContext) {
        connections[id] = WriteStreamState(context: context)
    }

    func isConnected(_ id: CallID) -> Bool { connections[id] != nil }

    /// Answers a message of a stream, or ends the stream with the reason.
    ///
    /// - Returns: False for a stream that has ended: its client has received the status, or will.
    /// - Throws: ``LockWait``, ``StoreError``.
    mutating func perform(
        _ id: CallID, request: WriteRequest, commits: inout CommitStage,
        outputs: inout [Output]
    ) throws -> Bool {
        guard let stream = connections[id] else { return false }
        do {
            if let history = stream.history {
                try apply(
                    request, id: id, context: stream.context, history: history, commits: &commits,
                    outputs: &outputs)
            } else {
                try open(
                    request, id: id, context: stream.context, commits: commits, outputs: &outputs)
            }
        } catch let status as RPCStatus {
            end(id, status: status, outputs: &outputs)
        }
        return true
    }

    /// Commits a batch. The stream's history with the answer is stored in the same transaction as
    /// the changes.
    private mutating func apply(
        _ request: WriteRequest, id: CallID, context: CallContext, history: StreamHistory,
        commits: inout CommitStage, outputs: inout [Output]
    ) throws {
        guard history.knows(request.streamToken) else {
            throw RPCStatus.invalidArgument("The stream token does not belong to this stream.")
        }
        var history = history
        // An empty request closes the stream. No response is stored for it.
        let isBatch = !request.mutations.isEmpty
        var isNew = false
        commits.method = .write
        let firstBill = commits.bills.count
        let reply = try commits.commit(request.mutations, context) {
            (reply, database, transaction) throws(StoreError) in
            guard isBatch else { return }
            history.append(reply)
            isNew = try WriteStreamTable(transaction: transaction)
                .save(history, in: database, at: reply.commitTime)
        }
        if isNew { storedHistories += 1 }
        connections[id]?.history = history
        connections[id]?.usage += commits.usage(since: firstBill)
        outputs.append(Output(id: id, event: .write(history.response(reply))))
    }

    private mutating func open(
        _ request: WriteRequest, id: CallID, context: CallContext, commits: CommitStage,
        outputs: inout [Output]
    ) throws {
        let (database, caller) = (context.database, CallerMark(context))
        guard request.mutations.isEmpty else {
            throw RPCStatus.invalidArgument(
                "The first message of a write stream cannot hold writes.")
        }
        // To other callers the id is unknown, and their knowing it ends no connection.
        let isOwn = StreamHistory.isID(request.streamID, of: caller)
        if isOwn, !request.streamID.isEmpty {
            endConnections(of: request.streamID, database, &outputs)
        }
        if isOwn,
            let history = try storedHistory(request.streamID, database: database, commits: commits),
            let missed = history.responses(after: request.streamToken)
        {
            connections[id]?.history = history
            outputs += missed.map { Output(id: id, event: .write($0)) }
            outputs.append(Output(id: id, event: .write(history.opening)))
        } else {
            // The history is unknown: the id shows the client that this is another stream.
            let history = StreamHistory(of: caller, randomBits: randomBits)
            connections[id]?.history = history
            outputs.append(Output(id: id, event: .write(history.opening)))
        }
    }

    /// Ends older connections of this stream, so their unread requests cannot be applied after the
    /// new connection has resumed the stream.
    private mutating func endConnections(
        of streamID: String, _ database: DatabaseID, _ outputs: inout [Output]
    ) {
        let old = connections.filter { _, stream in
            stream.context.database == database
                && stream.history?.id.hasSameBytes(as: streamID) == true
        }
        for id in old.keys.sorted() {
            let status = RPCStatus(.cancelled, "Another connection has resumed the stream.")
            end(id, status: status, outputs: &outputs)
        }
    }

    private func storedHistory(
        _ streamID: String, database: DatabaseID, commits: CommitStage
    ) throws -> StreamHistory? {
        guard !streamID.isEmpty, let transaction = commits.transaction,
            let row = commits.databases[database]?.rowID
        else { return nil }
        return try WriteStreamTable(transaction: transaction).history(
            of: streamID, in: row, usedSince: oldestStreamUse)
    }

    /// Forgets old streams, once per transaction.
    mutating func trim(_ commits: CommitStage) throws {
        guard let transaction = commits.transaction, storedHistories > 0, !commits.commits.isEmpty
        else { return }
        storedHistories -= try WriteStreamTable(transaction: transaction).trim(
            notUsedSince: oldestStreamUse,
            surplus: storedHistories - remembered)
    }

    private var oldestStreamUse: Timestamp {
        clocks.now.advanced(by: .zero - WriteStreamTable.lifetime)
    }

    mutating func end(_ id: CallID, status: RPCStatus, outputs: inout [Output]) {
        guard let stream = connections.removeValue(forKey: id) else { return }
        let status = status.reporting(stream.usage, to: stream.context)
        outputs.append(Output(id: id, event: .ended(status)))
        ended[id] = status
        transactions.drop(id)
    }
}
