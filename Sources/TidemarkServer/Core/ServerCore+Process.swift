import TidemarkModel
import TidemarkStore

extension ServerCore {
    /// The bytes of messages after which a turn answers no more commands. Without a limit, many
    /// large results could fill the memory.
    static let bytesPerTurn = 8 << 20
    /// The number of messages after which a turn performs no more commands that have waited for
    /// locks.
    static let outputsPerTurn = 50_000

    /// The result of a turn.
    struct Turn {
        var outputs: [Output] = []
        /// The commands that remain for the next turn. They precede all other commands.
        var rest: [Command] = []
        /// True if no work remains that can be done now.
        var isDone = true
    }

    /// Answers a batch of commands, and the waiting commands that they allow to continue.
    func process(_ batch: [Command]) -> Turn {
        transactions.expire()
        var turn = Turn()
        listens.refreshTokens(&turn.outputs)
        let (writes, others) = split(batch)
        turn.rest = round(writes, others: others, outputs: &turn.outputs)
        while turn.outputs.count < Self.outputsPerTurn, transactions.isAnyReady {
            _ = round([], others: [], outputs: &turn.outputs)
        }
        turn.isDone = turn.rest.isEmpty && !transactions.isAnyReady
        return turn
    }

    /// Performs the writes, sends their commits to the listens, and answers the other commands.
    ///
    /// - Returns: The other commands that were not answered.
    private func round(
        _ writes: [Command], others: [Command], outputs: inout [Output]
    ) -> [Command] {
        if !writes.isEmpty || transactions.hasReady(writes: true) {
            outputs += performWrites(writes)
        }
        var answered = 0
        if !others.isEmpty || transactions.hasReady(writes: false) {
            answered = answer(others, &outputs)
        }
        outputs += transactions.takeOutputs()
        return Array(others[answered...])
    }

    private func split(_ batch: [Command]) -> (writes: [Command], others: [Command]) {
        var writes: [Command] = []
        var others: [Command] = []
        for command in batch {
            switch command {
            case .call(_, let request, _) where request.isWrite: writes.append(command)
            case .openWrite, .write, .finishWrite: writes.append(command)
            // Each half drops the stream if it is its own.
            case .end: writes.append(command); others.append(command)
            case .call, .openListen, .listen, .finishListen, .proceed, .hold: others.append(command)
            }
        }
        return (writes, others)
    }

    /// Performs the writes in one transaction, and publishes what they committed.
    private func performWrites(_ commands: [Command]) -> [Output] {
        let stage = makeStage()
        do {
            if transactions.hasReady(writes: true) || needStore(commands) {
                try store.write(.disk) { try stage.perform(commands, in: $0) }
            } else {
                try stage.performWithoutStore(commands)
            }
        } catch {
            return refuse(commands, stage: stage, status: RPCStatus(storeFailure: error))
        }
        adopt(stage)
        var outputs = stage.outputs
        publish(stage.commits.commits, &outputs)
        return outputs
    }

    /// Sends durable commits to the listens. Before each commit, the rules judge the documents as
    /// the commit left them. Targets with documents that the rules no longer allow are ended.
    private func publish(_ commits: [Commit], _ outputs: inout [Output]) {
        let (publisher, review) = (publisher, review)
        guard commits.contains(where: review.concerns) else {
            for commit in commits { publisher.publish(commit, &outputs) }
            return
        }
        var told = 0
        do {
            try store.read { transaction in
                let history = TurnHistory(commits)
                for (index, commit) in commits.enumerated() {
                    let documents = CommittedDocuments(
                        transaction.documents(of: commit.database), database: commit.database,
                        history: history, commit: index)
                    review.judgeAgain(
                        review.targets(of: commit), documents: documents, outputs: &outputs)
                    publisher.publish(commit, &outputs)
                    told = index + 1
                }
            }
        } catch {
            // If the rules cannot judge a commit, the affected targets end and receive none of its
            // changes.
            let status = RPCStatus(storeFailure: error)
            for commit in commits[told...] {
                for target in review.targets(of: commit) {
                    review.end(target, cause: status, outputs: &outputs)
                }
                publisher.publish(commit, &outputs)
            }
        }
    }

    private func makeStage() -> WriteStage {
        WriteStage(
            CommitStage(
                clocks, transactions: transactions, listens: listens, admission: indexes,
                rules: rules, events: events, billing: configuration.billing,
                editions: configuration.editions),
            streams: WriteStreamStage(
                streams, clocks: clocks, transactions: transactions,
                randomBits: environment.randomBits,
                remembered: configuration.rememberedWriteStreams),
            transactions: transactions,
            pipelines: PipelineWrites(
                environment: PipelineWrites.Environment(
                    clocks: clocks, rules: rules, editions: configuration.editions,
                    randomBits: environment.randomBits, ticks: environment.ticks)))
    }

    private func needStore(_ commands: [Command]) -> Bool {
        var opened: Set<CallID> = []
        return commands.contains { command in
            switch command {
            case .call: true
            case .write(let id, let request):
                // The first message of a stream writes nothing. If it resumes a stream, it reads
                // the history. Every later message, even in the same batch, is a commit.
                streams.isOpen(id) || !request.mutations.isEmpty
                    || !request.streamToken.isEmpty || !request.streamID.isEmpty
                    || !opened.insert(id).inserted
            case .openListen, .listen, .finishListen, .openWrite, .finishWrite, .proceed, .hold,
                .end:
                false
            }
        }
    }

    private func adopt(_ stage: WriteStage) {
        clocks.adopt(stage.commits.databases)
        events.adopt(stage.commits.recordedEvents)
        streams.adopt(
            stage.streams.connections, storedHistories: stage.streams.storedHistories)
        transactions.note(stage.commits.endedTransactions)
        for item in stage.settled {
            transactions.settle(
                item.call, index: item.index, result: item.result, usage: item.usage)
        }
        for bill in stage.commits.bills {
            var usage = bill.usage
            if usage.units.isZero, usage.reads > 0 {
                usage.units = meter.billedUnits(
                    nil, reads: usage.reads, context: bill.context, target: bill.collection.text)
            }
            meter.add(usage, by: bill.method, bill.context, on: bill.collection.text)
        }
    }

    /// Answers the commands of a batch whose transaction failed. The transaction has changed
    /// nothing. Commands that only started to wait continue to wait.
    private func refuse(
        _ commands: [Command], stage: WriteStage, status: RPCStatus
    ) -> [Output] {
        transactions.restore(stage.commits.released)
        for command in stage.retried { transactions.fail(command, status) }
        var outputs: [Output] = []
        for (index, command) in commands.enumerated() {
            func isWaiting(_ id: CallID) -> Bool {
                index != stage.reached && !stage.tried.contains(id) && transactions.isWaiting(id)
            }
            switch command {
            case .call(let id, _, _), .openWrite(let id, _):
                if isWaiting(id) { continue }
                transactions.drop(id)
                outputs.append(Output(id: id, event: .ended(status)))
            case .write(let id, let request):
                // A message that was not processed is kept behind the waiting batch.
                if isWaiting(id),
                    index < stage.reached || transactions.hold(.batch(request), of: id)
                {
                    continue
                }
                endStream(id, status: stage.streams.ended[id] ?? status, outputs: &outputs)
            case .finishWrite(let id):
                if isWaiting(id), index < stage.reached || transactions.hold(.finish, of: id) {
                    continue
                }
                endStream(id, status: stage.streams.ended[id] ?? status, outputs: &outputs)
            case .end(let id, let reason): endStream(id, status: reason, outputs: &outputs)
            case .openListen, .listen, .finishListen, .proceed, .hold: break
            }
        }
        // A stream that another connection has resumed also loses its waiting commands.
        for (id, reason) in stage.streams.ended { endStream(id, status: reason, outputs: &outputs) }
        return outputs
    }

    private func endStream(_ id: CallID, status: RPCStatus, outputs: inout [Output]) {
        guard streams.remove(id) else { return }
        transactions.drop(id)
        outputs.append(Output(id: id, event: .ended(status)))
    }

    /// Answers commands that only read, all from the same state.
    ///
    /// - Returns: The number of answered commands, at least one.
    private func answer(_ commands: [Command], _ outputs: inout [Output]) -> Int {
        do {
            return try store.read { transaction in
                var bytes = 0
                reads.answerReady(transaction, &outputs, upTo: Self.outputsPerTurn)
                for (index, command) in commands.enumerated() {
                    let start = outputs.count
                    answer(command, transaction: transaction, outputs: &outputs)
                    for output in outputs[start...] { bytes += output.event.size }
                    if bytes >= Self.bytesPerTurn { return index + 1 }
                }
                return commands.count
            }
        } catch {
            let status = RPCStatus(storeFailure: error)
            transactions.failReadyReads(status)
            for command in commands { refuse(command, status: status, outputs: &outputs) }
            return commands.count
        }
    }

    /// Answers a command if the store cannot begin a transaction. Calls and targets fail; streams
    /// stay open.
    private func refuse(_ command: Command, status: RPCStatus, outputs: inout [Output]) {
        switch command {
        case .call(let id, _, _): outputs.append(Output(id: id, event: .ended(status)))
        case .listen(let id, .add(let target, _)):
            outputs.append(
                id, .targetChange(TargetChange(.remove, targetIDs: [target.id], cause: status)))
        case .proceed(let id):
            if !reads.refuse(id, status: status, outputs: &outputs) {
                listens.close(id, status: status, outputs: &outputs)
            }
        case .openListen, .listen, .finishListen, .openWrite, .write, .finishWrite, .hold, .end:
            control(command, &outputs)
        }
    }

    private func answer(
        _ command: Command, transaction: StoreTransaction, outputs: inout [Output]
    ) {
        switch command {
        case .call(let id, let request, let context):
            let call = ReadCall(id: id, request: request, context: context)
            reads.answer(call, transaction: transaction, outputs: &outputs)
        case .listen(let id, .add(let target, _)):
            targets.add(target, streamID: id, transaction: transaction, outputs: &outputs)
        case .proceed(let id):
            // The answer can have been cancelled. Otherwise, the stream is a listen stream that has
            // missed changes.
            if !reads.proceed(id, transaction: transaction, outputs: &outputs) {
                targets.catchUp(id, transaction: transaction, outputs: &outputs)
            }
        case .openListen, .listen, .finishListen, .openWrite, .write, .finishWrite, .hold, .end:
            control(command, &outputs)
        }
    }

    /// Performs a command that needs no store.
    private func control(_ command: Command, _ outputs: inout [Output]) {
        switch command {
        case .openListen(let id, let context):
            listens.open(id, context)
        case .listen(let id, .remove(let target)):
            targets.remove(target, streamID: id, outputs: &outputs)
        case .listen(let id, .unreadable(let target, let cause)):
            targets.refuseUnreadable(target, cause: cause, streamID: id, outputs: &outputs)
        case .finishListen(let id):
            listens.close(id, status: .ok, outputs: &outputs)
        case .hold(let id): listens.pause(id)
        case .end(let id, let status):
            transactions.cancel(id, status)
            listens.close(id, status: status, outputs: &outputs)
            reads.cancel(id, status: status, outputs: &outputs)
        case .call, .listen, .openWrite, .write, .finishWrite, .proceed: break
        }
    }
}
