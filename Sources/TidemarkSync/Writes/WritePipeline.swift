import TidemarkModel

/// The batches of the queue that were sent to the server, and the verdict on the first batch after
/// a failure.
struct WritePipeline: Equatable, Sendable {
    /// The consequence of the end of a stream.
    enum Verdict: Equatable, Sendable {
        /// The connection may have caused the failure: all batches are sent again.
        case resend
        /// The server refused one of several batches. To find it, each is sent alone, without a
        /// delay.
        case resendSingly
        /// The server's final answer about the first batch. If `isRefusal` is true, the connection
        /// did not cause it, so the next attempt does not wait.
        case reject(MutationBatch, isRefusal: Bool)
    }

    /// The maximum number of batches sent without an answer. Source: `core/remote/remote_store.cc`.
    static let limit = 10

    /// The batches that were sent, or will be when the stream is ready. The first is answered
    /// first.
    private(set) var batches: [MutationBatch] = []
    /// True after the server refused one of several sent batches. To find it, each is sent alone.
    private var isSingle = false
    /// The head of the queue, if the server has failed on it.
    private var stubborn: StubbornBatch?

    /// Returns the next batch that may be sent now; nil if there is none or if enough are sent.
    mutating func takeNext(of pending: PendingWrites) -> MutationBatch? {
        if pending.isEmpty { isSingle = false }
        guard batches.count < (isSingle ? 1 : Self.limit),
            let batch = pending.batch(toSendAfter: batches.last?.id)
        else { return nil }
        batches.append(batch)
        return batch
    }

    /// Empties the list after the stream closed.
    mutating func stop() { batches = [] }

    /// Handles a batch that left the queue.
    mutating func settled(_ id: Int64) {
        if stubborn != nil { isSingle = false }
        stubborn = nil
        if batches.first?.id == id { batches.removeFirst() }
    }

    /// - Parameters:
    ///   - wasReady: True if the stream accepted batches, so the first batch may have caused the
    ///     failure.
    ///   - mayResume: True if the server can report the result of batches without an answer.
    mutating func streamFailed(
        _ code: RPCStatus.Code, wasReady: Bool, mayResume: Bool, elapsed: Duration
    ) -> Verdict {
        guard wasReady, let batch = batches.first else { return .resend }
        if code.rejectsWrite {
            guard batches.count > 1, mayResume else {
                isSingle = false
                return .reject(batch, isRefusal: true)
            }
            // The head may have been applied, and its answer lost. The server is asked.
            isSingle = true
            batches = []
            return .resendSingly
        }
        guard code.mayBeOfTheWrite, isStubborn(batch, elapsed) else { return .resend }
        isSingle = false
        return .reject(batch, isRefusal: false)
    }

    /// True if the server has failed on the batch, sent alone, for the maximum time.
    private mutating func isStubborn(_ batch: MutationBatch, _ elapsed: Duration) -> Bool {
        if stubborn?.batch != batch.id {
            stubborn = StubbornBatch(batch: batch.id, elapsed: elapsed)
        }
        // Any of several batches may have caused the failure. To find it, each is sent alone.
        if !isSingle { batches = [] }
        isSingle = true
        return stubborn!.failed(elapsed: elapsed)
    }

    #if TIDEMARK_DEFECTS
        mutating func loseFirst() { if batches.count > 1 { batches.removeFirst() } }
        mutating func putBack(_ underWay: [MutationBatch]) { batches = underWay }
    #endif
}
