import TidemarkModel
import TidemarkStore

extension ServerCore {
    /// Bytes of messages after which a turn answers no more commands: many large results at once
    /// would fill the memory.
    static let bytesPerTurn = 8 << 20

    /// Answers a batch of commands that waited together.
    ///
    /// - Returns: What to tell, and the commands that are left for the next turn, before all others.
    func process(_ batch: [Command]) -> (outputs: [Output], rest: [Command]) {
        var outputs: [Output] = []
        let (writes, others) = split(batch)
        if !writes.isEmpty { outputs += performWrites(writes) }
        let answered = others.isEmpty ? 0 : answer(others, &outputs)
        return (outputs, Array(others[answered...]))
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
            if commands.contains(where: needsStore) {
                try store.write(.disk) { transaction in
                    stage.transaction = transaction
                    defer { stage.transaction = nil }
                    for command in commands { try stage.perform(command) }
                    try stage.finish()
                }
            } else {
                for command in commands { try stage.perform(command) }
            }
        } catch {
            return refuse(commands, RPCStatus(storeFailure: error))
        }
        adopt(stage)
        var outputs = stage.outputs
        for commit in stage.commits { publish(commit, &outputs) }
        return outputs
    }

    private func needsStore(_ command: Command) -> Bool {
        switch command {
        case .call: true
        case .write(let id, let request):
            // A stream's first message writes nothing, but one that takes up another reads; one that
            // is new in this batch may be followed by more in it.
            writeStreams[id]?.isOpen == true || !request.mutations.isEmpty
                || !request.streamToken.isEmpty || !request.streamID.isEmpty
        case .openListen, .listen, .finishListen, .openWrite, .finishWrite, .proceed, .hold, .end:
            false
        }
    }

    private func adopt(_ stage: WriteStage) {
        databases = stage.databases
        writeStreams = stage.writeStreams
        storedStreams = stage.storedStreams
        for (id, ending) in stage.endedTransactions { transactions.end(id, ending) }
        for bill in stage.bills {
            meter.add(bill.usage, by: bill.method, bill.context, on: bill.collection.text)
        }
    }

    /// What a batch gets whose transaction failed: nothing of it has happened.
    private func refuse(_ commands: [Command], _ status: RPCStatus) -> [Output] {
        var outputs: [Output] = []
        for command in commands {
            switch command {
            case .call(let id, _, _), .openWrite(let id, _):
                outputs.append(Output(id: id, event: .ended(status)))
            case .write(let id, _), .finishWrite(let id):
                if writeStreams.removeValue(forKey: id) != nil {
                    outputs.append(Output(id: id, event: .ended(status)))
                }
            case .end(let id, let reason):
                if writeStreams.removeValue(forKey: id) != nil {
                    outputs.append(Output(id: id, event: .ended(reason)))
                }
            case .openListen, .listen, .finishListen, .proceed, .hold: break
            }
        }
        return outputs
    }

    /// Answers what only reads, all from one state.
    ///
    /// - Returns: How many of the commands it has answered, at least one.
    private func answer(_ commands: [Command], _ outputs: inout [Output]) -> Int {
        do {
            return try store.read { transaction in
                var bytes = 0
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
            answer(id, request, context, transaction, &outputs)
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
