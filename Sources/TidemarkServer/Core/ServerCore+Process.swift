import TidemarkModel
import TidemarkStore

extension ServerCore {
    /// Bytes of messages after which a turn answers no more commands: many large results at once
    /// would fill the memory.
    static let bytesPerTurn = 8 << 20
    /// Messages after which a turn lets no more of the commands that waited for locks go on.
    static let outputsPerTurn = 50_000

    /// What one turn came to.
    struct Turn {
        var outputs: [Output] = []
        /// The commands that are left for the next turn, before all others.
        var rest: [Command] = []
        /// Whether there is nothing left that could be done now.
        var isDone = true
    }

    /// Answers a batch of commands that waited together, and what they let go on.
    func process(_ batch: [Command]) -> Turn {
        transactions.expire()
        var turn = Turn()
        listens.refreshTokens(&turn.outputs)
        let (writes, others) = split(batch)
        turn.rest = round(writes, others, &turn.outputs)
        while turn.outputs.count < Self.outputsPerTurn, transactions.isAnyReady {
            _ = round([], [], &turn.outputs)
        }
        turn.isDone = turn.rest.isEmpty && !transactions.isAnyReady
        return turn
    }

    /// The writes, what they committed told to the listens, then the others.
    ///
    /// - Returns: The others that were not answered.
    private func round(
        _ writes: [Command], _ others: [Command], _ outputs: inout [Output]
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
            return refuse(commands, stage, RPCStatus(storeFailure: error))
        }
        adopt(stage)
        var outputs = stage.outputs
        publish(stage.commits.commits, &outputs)
        return outputs
    }

    /// Tells the listens of commits that are durable. Before each, the targets end whose documents the
    /// rules no longer allow as that commit has left them.
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
                        transaction.documents(of: commit.database), commit.database, history, index)
                    review.judgeAgain(review.targets(of: commit), documents, &outputs)
                    publisher.publish(commit, &outputs)
                    told = index + 1
                }
            }
        } catch {
            // Nobody is told what could not be judged.
            let status = RPCStatus(storeFailure: error)
            for commit in commits[told...] {
                for target in review.targets(of: commit) { review.end(target, status, &outputs) }
                publisher.publish(commit, &outputs)
            }
        }
    }

    private func makeStage() -> WriteStage {
        WriteStage(
            CommitStage(
                clocks, transactions, listens, indexes, rules, configuration.billing),
            WriteStreamStage(
                streams, clocks, transactions, randomBits: environment.randomBits,
                remembered: configuration.rememberedWriteStreams),
            transactions, randomBits: environment.randomBits)
    }

    private func needStore(_ commands: [Command]) -> Bool {
        var opened: Set<CallID> = []
        return commands.contains { command in
            switch command {
            case .call: true
            case .write(let id, let request):
                // A stream's first message writes nothing, but one that takes up another reads; what
                // follows it, in the same batch too, is a commit.
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
        streams.adopt(
            stage.streams.connections, storedHistories: stage.streams.storedHistories)
        transactions.note(stage.commits.endedTransactions)
        for item in stage.settled {
            transactions.settle(item.call, item.index, item.result, item.usage)
        }
        for bill in stage.commits.bills {
            meter.add(bill.usage, by: bill.method, bill.context, on: bill.collection.text)
        }
    }

    /// What a batch gets whose transaction failed: nothing of it has happened. Commands that only
    /// found that they have to wait go on waiting.
    private func refuse(
        _ commands: [Command], _ stage: WriteStage, _ status: RPCStatus
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
                // What was not looked at has its place behind the batch that waits.
                if isWaiting(id),
                    index < stage.reached || transactions.hold(.batch(request), of: id)
                {
                    continue
                }
                endStream(id, stage.streams.ended[id] ?? status, &outputs)
            case .finishWrite(let id):
                if isWaiting(id), index < stage.reached || transactions.hold(.finish, of: id) {
                    continue
                }
                endStream(id, stage.streams.ended[id] ?? status, &outputs)
            case .end(let id, let reason): endStream(id, reason, &outputs)
            case .openListen, .listen, .finishListen, .proceed, .hold: break
            }
        }
        // Whoever has lost its stream to another connection has lost what waited of it, too.
        for (id, reason) in stage.streams.ended { endStream(id, reason, &outputs) }
        return outputs
    }

    private func endStream(_ id: CallID, _ status: RPCStatus, _ outputs: inout [Output]) {
        guard streams.remove(id) else { return }
        transactions.drop(id)
        outputs.append(Output(id: id, event: .ended(status)))
    }

    /// Answers what only reads, all from one state.
    ///
    /// - Returns: How many of the commands it has answered, at least one.
    private func answer(_ commands: [Command], _ outputs: inout [Output]) -> Int {
        do {
            return try store.read { transaction in
                var bytes = 0
                reads.answerReady(transaction, &outputs, upTo: Self.outputsPerTurn)
                for (index, command) in commands.enumerated() {
                    let start = outputs.count
                    answer(command, transaction, &outputs)
                    for output in outputs[start...] { bytes += output.event.size }
                    if bytes >= Self.bytesPerTurn { return index + 1 }
                }
                return commands.count
            }
        } catch {
            let status = RPCStatus(storeFailure: error)
            transactions.failReadyReads(status)
            for command in commands { refuse(command, status, &outputs) }
            return commands.count
        }
    }

    /// The store could not begin: calls and targets are told, streams go on.
    private func refuse(_ command: Command, _ status: RPCStatus, _ outputs: inout [Output]) {
        switch command {
        case .call(let id, _, _): outputs.append(Output(id: id, event: .ended(status)))
        case .listen(let id, .add(let target, _)):
            outputs.append(
                id, .targetChange(TargetChange(.remove, targetIDs: [target.id], cause: status)))
        case .proceed(let id):
            if !reads.refuse(id, status, &outputs) { listens.close(id, status, &outputs) }
        case .openListen, .listen, .finishListen, .openWrite, .write, .finishWrite, .hold, .end:
            control(command, &outputs)
        }
    }

    private func answer(
        _ command: Command, _ transaction: StoreTransaction, _ outputs: inout [Output]
    ) {
        switch command {
        case .call(let id, let request, let context):
            let call = ReadCall(id: id, request: request, context: context)
            reads.answer(call, transaction, &outputs)
        case .listen(let id, .add(let target, _)):
            targets.add(target, id, transaction, &outputs)
        case .proceed(let id):
            // It may have been cancelled since; else it is a listen stream that has missed something.
            if !reads.proceed(id, transaction, &outputs) {
                targets.catchUp(id, transaction, &outputs)
            }
        case .openListen, .listen, .finishListen, .openWrite, .write, .finishWrite, .hold, .end:
            control(command, &outputs)
        }
    }

    /// What needs no store.
    private func control(_ command: Command, _ outputs: inout [Output]) {
        switch command {
        case .openListen(let id, let context):
            listens.open(id, context)
        case .listen(let id, .remove(let target)): targets.remove(target, id, &outputs)
        case .listen(let id, .unreadable(let target, let cause)):
            targets.refuseUnreadable(target, cause, id, &outputs)
        case .finishListen(let id):
            listens.close(id, .ok, &outputs)
        case .hold(let id): listens.pause(id)
        case .end(let id, let status):
            transactions.cancel(id, status)
            listens.close(id, status, &outputs)
            reads.cancel(id, status, &outputs)
        case .call, .listen, .openWrite, .write, .finishWrite, .proceed: break
        }
    }
}
