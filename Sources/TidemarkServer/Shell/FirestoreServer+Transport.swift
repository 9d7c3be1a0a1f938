import Synchronization
public import TidemarkModel

extension FirestoreServer: Transport {
    public func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        let id = sinks.withLock { $0.add(.call(receive)) }
        submit(
            .call(id, request, context), for: id,
            atOnce: context.mayAnswerAtOnce && request.isShortRead)
        return ServerCall(server: self, id: id)
    }

    public func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> {
        let id = sinks.withLock { $0.add(.listen(receive)) }
        submit(.openListen(id, context), for: id)
        return ServerStream(
            server: self, id: id, command: { .listen(id, $0) }, finishing: .finishListen(id),
            holding: .hold(id))
    }

    public func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> {
        let id = sinks.withLock { $0.add(.write(receive)) }
        submit(.openWrite(id, context), for: id)
        return ServerStream(
            server: self, id: id, command: { .write(id, $0) }, finishing: .finishWrite(id))
    }

    /// - Parameter atOnce: True to let the calling thread run the core's turn if no other does.
    ///   This saves waking another thread.
    func submit(_ command: Command, for id: CallID, atOnce: Bool = false) {
        let size = command.size
        switch inbox.withLock({ $0.offer(command, size: size) }) {
        case .queued: break
        case .schedule:
            if atOnce, executor.runIfIdle({ takeTurn() }) { return }
            executor.async { [self] in takeTurn() }
        case .refused(let status):
            // The core removes the stream as well. A stream that lost a message must not continue.
            executor.async { [self] in
                perform([.end(id, status)])
                deliver([Output(id: id, event: .ended(status))])
            }
        }
    }

    /// Ends a running call; a call that has ended needs no turn of the core.
    func cancel(_ id: CallID) {
        guard sinks.withLock({ $0[id] != nil }) else { return }
        submit(.end(id, RPCStatus(.cancelled, "The caller cancelled.")), for: id)
    }

    /// - Parameter command: The command that informs the core.
    func pause(_ id: CallID, _ command: Command? = nil) {
        sinks.withLock { $0.pause(id) }
        if let command { submitOwn(command) }
    }

    func resume(_ id: CallID) {
        if sinks.withLock({ $0.resume(id) }) { proceed(id) }
    }

    private func proceed(_ id: CallID) { submitOwn(.proceed(id)) }

    private func submitOwn(_ command: Command) {
        if case .schedule = inbox.withLock({ $0.take(command) }) {
            executor.async { [self] in takeTurn() }
        }
    }

    private func takeTurn() {
        _ = runBatch()
        if inbox.withLock({ $0.owesTurn }) { executor.async { [self] in takeTurn() } }
    }

    /// Passes all waiting commands to the core, and the outputs to the sinks. Call it only on the
    /// executor.
    ///
    /// - Returns: False if no command waited.
    func runBatch() -> Bool {
        let batch = inbox.withLock { $0.takeBatch() }
        if batch.isEmpty { return false }
        perform(
            batch.filter { command in
                guard case .proceed(let id) = command else { return true }
                return sinks.withLock { $0.mayProceed(id) }
            })
        return true
    }

    /// Passes the commands to the core, in as many turns as the core needs. Call it only on the
    /// executor.
    private func perform(_ batch: [Command]) {
        var rest = batch
        var isDone = false
        while !isDone {
            let (turn, events) = core.withLock { core in
                (core.process(rest), core.events.takeOutward())
            }
            reportIndexes()
            deliver(turn.outputs)
            ServerEvents(self).perform(events)
            rest = turn.rest
            isDone = turn.isDone
        }
        scheduleWakeUp()
    }

    /// Lets the core do work that is due without a command. Call it only on the executor.
    func wake() {
        if !inbox.withLock({ $0.isClosed }) { perform([]) }
    }

    /// Sets a timer for the earliest due time, unless an earlier timer is set.
    private func scheduleWakeUp() {
        guard let due = core.withLock({ $0.nextDeadline }) else { return }
        let isEarlier = wakeUp.withLock { scheduled in
            if let scheduled, scheduled <= due { return false }
            scheduled = due
            return true
        }
        guard isEarlier else { return }
        executor.after(max(.zero, due - executor.uptime)) { [weak self] in
            guard let self else { return }
            let isCurrent = wakeUp.withLock { scheduled in
                if scheduled != due { return false }
                scheduled = nil
                return true
            }
            if isCurrent { wake() }
        }
    }

    /// Calls the sinks, in order; outputs after a stream's end are dropped. Call it only on the
    /// executor.
    func deliver(_ outputs: [Output]) {
        var current: (id: CallID, sink: Sinks.Sink?)?
        for output in outputs {
            if case .ended = output.event {
                sinks.withLock { $0.remove(output.id) }?.receive(output.event)
                current = nil
                continue
            }
            if case .unfinished = output.event {
                if sinks.withLock({ $0.awaitRoom(output.id) }) { proceed(output.id) }
                continue
            }
            if current?.id != output.id {
                current = (output.id, sinks.withLock { $0[output.id] })
            }
            current?.sink?.receive(output.event)
        }
    }
}

/// A call from the same process. It holds the server, which therefore lives until its last call is
/// released.
private final class ServerCall: CancellableCall {
    let server: FirestoreServer
    let id: CallID

    init(server: FirestoreServer, id: CallID) {
        self.server = server
        self.id = id
    }

    func cancel() { server.cancel(id) }
    func pause() { server.pause(id) }
    func resume() { server.resume(id) }
}

private final class ServerStream<Message: Sendable>: RequestStream {
    let server: FirestoreServer
    let id: CallID
    let command: @Sendable (Message) -> Command
    let finishing: Command
    let holding: Command?

    init(
        server: FirestoreServer, id: CallID, command: @escaping @Sendable (Message) -> Command,
        finishing: Command, holding: Command? = nil
    ) {
        self.server = server
        self.id = id
        self.command = command
        self.finishing = finishing
        self.holding = holding
    }

    func send(_ message: Message) { server.submit(command(message), for: id) }
    func finish() { server.submit(finishing, for: id) }
    func cancel() { server.cancel(id) }
    func pause() { server.pause(id, holding) }
    func resume() { server.resume(id) }
}
