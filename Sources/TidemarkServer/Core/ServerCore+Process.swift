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
        expire()
        var turn = Turn()
        refreshTokens(&turn.outputs)
        let (writes, others) = split(batch)
        turn.rest = round(writes, others, &turn.outputs)
        while turn.outputs.count < Self.outputsPerTurn, isAnyReady {
            _ = round([], [], &turn.outputs)
        }
        turn.isDone = turn.rest.isEmpty && !isAnyReady
        return turn
    }

    private var isAnyReady: Bool {
        locks.hasReady(writes: true) || locks.hasReady(writes: false)
    }

    /// The writes, what they committed told to the listens, then the others.
    ///
    /// - Returns: The others that were not answered.
    private func round(
        _ writes: [Command], _ others: [Command], _ outputs: inout [Output]
    ) -> [Command] {
        if !writes.isEmpty || locks.hasReady(writes: true) { outputs += performWrites(writes) }
        var answered = 0
        if !others.isEmpty || locks.hasReady(writes: false) { answered = answer(others, &outputs) }
        outputs += lateOutputs
        lateOutputs = []
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
        let stage = WriteStage(core: self)
        do {
            if locks.hasReady(writes: true) || needStore(commands) {
                try store.write(.disk) { transaction in
                    stage.transaction = transaction
                    defer { stage.transaction = nil }
                    for command in commands {
                        try stage.perform(command)
                        stage.reached += 1
                    }
                    try stage.performReady()
                    try stage.finish()
                }
            } else {
                for command in commands { try stage.perform(command) }
            }
        } catch {
            return refuse(commands, stage, RPCStatus(storeFailure: error))
        }
        adopt(stage)
        var outputs = stage.outputs
        for commit in stage.commits { publish(commit, &outputs) }
        return outputs
    }

    private func needStore(_ commands: [Command]) -> Bool {
        var opened: Set<CallID> = []
        return commands.contains { command in
            switch command {
            case .call: true
            case .write(let id, let request):
                // A stream's first message writes nothing, but one that takes up another reads; what
                // follows it, in the same batch too, is a commit.
                writeStreams[id]?.isOpen == true || !request.mutations.isEmpty
                    || !request.streamToken.isEmpty || !request.streamID.isEmpty
                    || !opened.insert(id).inserted
            case .openListen, .listen, .finishListen, .openWrite, .finishWrite, .proceed, .hold,
                .end:
                false
            }
        }
    }

    private func adopt(_ stage: WriteStage) {
        databases = stage.databases
        writeStreams = stage.writeStreams
        storedStreams = stage.storedStreams
        for (id, ending) in stage.endedTransactions { transactions.end(id, ending) }
        for item in stage.settled { settle(item.call, item.index, item.result, item.usage) }
        for bill in stage.bills {
            meter.add(bill.usage, by: bill.method, bill.context, on: bill.collection.text)
        }
    }

    /// What a batch gets whose transaction failed: nothing of it has happened. Commands that only
    /// found that they have to wait go on waiting.
    private func refuse(
        _ commands: [Command], _ stage: WriteStage, _ status: RPCStatus
    ) -> [Output] {
        for (id, owner) in stage.released { locks.restore(id, owner) }
        for command in stage.retried { fail(command, status) }
        var outputs: [Output] = []
        for (index, command) in commands.enumerated() {
            func isWaiting(_ id: CallID) -> Bool {
                index != stage.reached && !stage.tried.contains(id) && parked.isWaiting(id)
            }
            switch command {
            case .call(let id, _, _), .openWrite(let id, _):
                if isWaiting(id) { continue }
                drop(id)
                outputs.append(Output(id: id, event: .ended(status)))
            case .write(let id, let request):
                // What was not looked at has its place behind the batch that waits.
                if isWaiting(id), index < stage.reached || parked.hold(.batch(request), of: id) {
                    continue
                }
                endStream(id, stage.endedStreams[id] ?? status, &outputs)
            case .finishWrite(let id):
                if isWaiting(id), index < stage.reached || parked.hold(.finish, of: id) {
                    continue
                }
                endStream(id, stage.endedStreams[id] ?? status, &outputs)
            case .end(let id, let reason): endStream(id, reason, &outputs)
            case .openListen, .listen, .finishListen, .proceed, .hold: break
            }
        }
        // Whoever has lost its stream to another connection has lost what waited of it, too.
        for (id, reason) in stage.endedStreams { endStream(id, reason, &outputs) }
        return outputs
    }

    private func endStream(_ id: CallID, _ status: RPCStatus, _ outputs: inout [Output]) {
        guard writeStreams.removeValue(forKey: id) != nil else { return }
        drop(id)
        outputs.append(Output(id: id, event: .ended(status)))
    }

    /// Answers what only reads, all from one state.
    ///
    /// - Returns: How many of the commands it has answered, at least one.
    private func answer(_ commands: [Command], _ outputs: inout [Output]) -> Int {
        do {
            return try store.read { transaction in
                var bytes = 0
                answerReady(transaction, &outputs)
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
            refuseReady(status)
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
            if unfinished.remove(id) != nil {
                outputs.append(Output(id: id, event: .ended(status)))
            } else {
                closeListen(id, status, &outputs)
            }
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
            answer(call, transaction, &outputs)
        case .listen(let id, .add(let target, _)): addTarget(target, id, transaction, &outputs)
        case .proceed(let id): proceed(id, transaction, &outputs)
        case .openListen, .listen, .finishListen, .openWrite, .write, .finishWrite, .hold, .end:
            control(command, &outputs)
        }
    }

    /// What needs no store.
    private func control(_ command: Command, _ outputs: inout [Output]) {
        switch command {
        case .openListen(let id, let context):
            listens.open(id, context)
        case .listen(let id, .remove(let target)): removeTarget(target, id, &outputs)
        case .listen(let id, .unreadable(let target, let cause)):
            refuseTarget(target, cause, id, &outputs)
        case .finishListen(let id):
            closeListen(id, .ok, &outputs)
        case .hold(let id): listens.update(id) { $0.isHeld = true }
        case .end(let id, let status):
            cancelCall(id, status)
            closeListen(id, status, &outputs)
            if let answer = unfinished.remove(id) {
                let ending = status.reporting(answer.usage, to: answer.context)
                outputs.append(Output(id: id, event: .ended(ending)))
            }
        case .call, .listen, .openWrite, .write, .finishWrite, .proceed: break
        }
    }
}

extension RPCStatus {
    /// What a caller is told when the store failed.
    init(storeFailure error: any Error) {
        if let status = error as? RPCStatus {
            self = status
            return
        }
        guard let error = error as? StoreError else {
            self.init(.internal, "The server's store failed.")
            return
        }
        let code: Code =
            switch error {
            case .full: .resourceExhausted
            case .locked, .unreadable: .unavailable
            case .corrupt: .dataLoss
            case .newerSchema, .invalidStatement: .internal
            }
        self.init(code, error.message)
    }
}
