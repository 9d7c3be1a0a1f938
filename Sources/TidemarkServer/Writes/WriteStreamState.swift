import TidemarkModel
import TidemarkStore

/// One connection of a write stream. Its first message opens the stream, or takes up one whose
/// connection was lost; every later one is a commit with one answer.
struct WriteStreamState {
    let context: CallContext
    /// Set by the first message.
    var history: StreamHistory?

    /// What was billed on it.
    var usage = Usage()

    var isOpen: Bool { history != nil }

    init(context: CallContext) { self.context = context }
}

extension WriteStage {
    /// Answers one message of a write stream, or ends the stream with the reason why not.
    func perform(_ id: CallID, _ request: WriteRequest) throws {
        // A stream that has ended: its client has been told, or will be.
        guard let stream = writeStreams[id] else { return }
        do {
            if let history = stream.history {
                try apply(request, id, stream.context, history)
            } else {
                try open(request, id, stream.context.database)
            }
        } catch let status as RPCStatus {
            endWriteStream(id, status)
        } catch let wait as LockWait {
            return park(wait, .streamBatch(id, request))
        }
        tried.insert(id)
    }

    /// Commits a batch. That it was applied, and its answer, are stored with what it changed.
    private func apply(
        _ request: WriteRequest, _ id: CallID, _ context: CallContext, _ history: StreamHistory
    ) throws {
        guard history.knows(request.streamToken) else {
            throw RPCStatus.invalidArgument("The stream token is not one of this stream.")
        }
        var history = history
        // No batch: a client says goodbye so. It has nothing to hear again.
        let isBatch = !request.mutations.isEmpty
        var isNew = false
        method = .write
        let firstBill = bills.count
        let reply = try commit(request.mutations, context) {
            (reply, database, transaction) throws(StoreError) in
            guard isBatch else { return }
            history.append(reply)
            isNew = try WriteStreamTable(transaction: transaction)
                .save(history, in: database, at: reply.commitTime)
        }
        if isNew { storedStreams += 1 }
        writeStreams[id]?.history = history
        writeStreams[id]?.usage += usage(since: firstBill)
        outputs.append(Output(id: id, event: .write(history.response(reply))))
    }

    private func open(_ request: WriteRequest, _ id: CallID, _ database: DatabaseID) throws {
        guard request.mutations.isEmpty else {
            throw RPCStatus.invalidArgument(
                "The first message of a write stream cannot hold writes.")
        }
        if !request.streamID.isEmpty { endConnections(of: request.streamID, database) }
        if let history = try storedHistory(request.streamID, database),
            let missed = history.responses(after: request.streamToken)
        {
            writeStreams[id]?.history = history
            outputs += missed.map { Output(id: id, event: .write($0)) }
            outputs.append(Output(id: id, event: .write(history.opening)))
        } else {
            // Nothing is known of it: a client that asked for another stream sees it by the id.
            let history = StreamHistory(randomBits: core.environment.randomBits)
            writeStreams[id]?.history = history
            outputs.append(Output(id: id, event: .write(history.opening)))
        }
    }

    /// What an earlier connection has sent and was not read yet must not be applied behind the back
    /// of the new one.
    private func endConnections(of streamID: String, _ database: DatabaseID) {
        let old = writeStreams.filter { _, stream in
            stream.context.database == database
                && stream.history?.id.hasSameBytes(as: streamID) == true
        }
        for id in old.keys.sorted() {
            endWriteStream(
                id, RPCStatus(.cancelled, "Another connection has taken up the stream."))
        }
    }

    private func storedHistory(
        _ streamID: String, _ database: DatabaseID
    ) throws -> StreamHistory? {
        guard !streamID.isEmpty, let transaction, let row = databases[database]?.rowID else {
            return nil
        }
        return try WriteStreamTable(transaction: transaction).history(
            of: streamID, in: row, usedSince: oldestStreamUse)
    }

    /// What a transaction does once about its streams: forgets old ones.
    func trimWriteStreams() throws {
        guard let transaction, storedStreams > 0, !commits.isEmpty else { return }
        storedStreams -= try WriteStreamTable(transaction: transaction).trim(
            notUsedSince: oldestStreamUse,
            surplus: storedStreams - core.configuration.rememberedWriteStreams)
    }

    private var oldestStreamUse: Timestamp {
        core.now.advanced(by: .zero - WriteStreamTable.lifetime)
    }

    func endWriteStream(_ id: CallID, _ status: RPCStatus) {
        guard let stream = writeStreams.removeValue(forKey: id) else { return }
        let status = status.reporting(stream.usage, to: stream.context)
        outputs.append(Output(id: id, event: .ended(status)))
        endedStreams[id] = status
        core.drop(id)
    }
}
