import TidemarkModel

/// Which batches of the queue are under way to the server, and what a failure says of the first.
struct WritePipeline: Equatable, Sendable {
    /// What follows from the end of a stream.
    enum Verdict: Equatable, Sendable {
        /// It was the connection's fault, or may have been: all are sent again.
        case resend
        /// One of several was refused. Which one shows when each is sent alone, which does not wait.
        case resendSingly
        /// The server's last word on the first batch. `isRefusal`: it was no fault of the connection, so
        /// that the next attempt does not wait.
        case reject(MutationBatch, isRefusal: Bool)
    }

    /// How many batches are under way at once. Source: `core/remote/remote_store.cc`.
    static let limit = 10

    /// Sent, or to be sent once the stream is ready; the first is answered first.
    private(set) var batches: [MutationBatch] = []
    /// One of several batches under way was refused. Which one shows when each is sent alone.
    private var isSingle = false
    /// The head of the queue, when the server has failed on it.
    private var stubborn: StubbornBatch?

    /// The next batch of the queue that may be sent now; nil when there is none, or enough are under way.
    mutating func takeNext(of pending: PendingWrites) -> MutationBatch? {
        if pending.isEmpty { isSingle = false }
        guard batches.count < (isSingle ? 1 : Self.limit),
            let batch = pending.batch(after: batches.last?.id ?? 0)
        else { return nil }
        batches.append(batch)
        return batch
    }

    /// Nothing is under way: the stream is closed.
    mutating func stop() { batches = [] }

    /// The batch is out of the queue.
    mutating func settled(_ id: Int64) {
        if stubborn != nil { isSingle = false }
        stubborn = nil
        if batches.first?.id == id { batches.removeFirst() }
    }

    /// - Parameters:
    ///   - wasReady: Whether the stream took batches, so that the failure may be of the first.
    ///   - mayResume: Whether the server can be asked what became of batches without an answer.
    mutating func streamFailed(
        _ code: RPCStatus.Code, wasReady: Bool, mayResume: Bool, elapsed: Duration
    ) -> Verdict {
        guard wasReady, let batch = batches.first else { return .resend }
        if code.rejectsWrite {
            guard batches.count > 1, mayResume else {
                isSingle = false
                return .reject(batch, isRefusal: true)
            }
            // The head may have been applied, and its answer lost: the server is asked.
            isSingle = true
            batches = []
            return .resendSingly
        }
        guard code.mayBeOfTheWrite, isStubborn(batch, elapsed) else { return .resend }
        isSingle = false
        return .reject(batch, isRefusal: false)
    }

    /// Whether the server has failed on the batch, sent alone, for as long as one waits.
    private mutating func isStubborn(_ batch: MutationBatch, _ elapsed: Duration) -> Bool {
        if stubborn?.batch != batch.id {
            stubborn = StubbornBatch(batch: batch.id, elapsed: elapsed)
        }
        // Which of several is at fault shows when each is sent alone.
        if !isSingle { batches = [] }
        isSingle = true
        return stubborn!.failed(elapsed: elapsed)
    }

    #if TIDEMARK_DEFECTS
        mutating func loseFirst() { if batches.count > 1 { batches.removeFirst() } }
        mutating func putBack(_ underWay: [MutationBatch]) { batches = underWay }
    #endif
}
