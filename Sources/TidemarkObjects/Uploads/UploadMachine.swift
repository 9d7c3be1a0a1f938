/// Decides about one resumable upload: which bytes are stored, and when the upload is an object.
///
/// An upload has at most one request that stores bytes. A later request for the same upload takes
/// its place: the connection of the earlier one is usually dead, and the server has not noticed.
/// The later request waits until the earlier one has stopped, so that its answer is exact.
package struct UploadMachine: Hashable, Sendable {
    /// The maximum number of requests that wait for another request of the same upload.
    static let maxWaiting = 16

    package enum Phase: Hashable, Sendable {
        /// No request is at work.
        case idle
        /// A request stores bytes.
        case receiving(CallID, UploadChunk)
        /// A request stores bytes and was told to stop.
        case stopping(CallID)
        /// The machine has stored every byte and makes the object.
        case committing(CallID)
        /// The object exists, or existed.
        case final(generation: Int64)
        /// The object was refused for good.
        case refused(ObjectRefusal)
        case cancelled
    }

    package let dialect: UploadDialect
    /// The size that the client declared at the start; nil if it declared none.
    package let declared: Int64?
    /// The number of bytes that are stored and synced to disk.
    package private(set) var received: Int64
    package private(set) var phase: Phase
    /// The requests that wait, oldest first.
    private var waiting: [UploadEvent] = []

    package init(dialect: UploadDialect, declared: Int64?) {
        self.init(dialect: dialect, declared: declared, received: 0, phase: .idle)
    }

    /// Continues an upload after a restart of the server.
    ///
    /// - Parameter phase: The phase that was stored: idle, or one of the phases at the end.
    package init(dialect: UploadDialect, declared: Int64?, received: Int64, phase: Phase) {
        precondition(received >= 0 && (declared ?? 0) >= 0)
        self.dialect = dialect
        self.declared = declared
        self.received = received
        self.phase = phase
    }

    /// True if no request is at work or waits.
    package var isQuiet: Bool {
        switch phase {
        case .receiving, .stopping, .committing: false
        default: waiting.isEmpty
        }
    }

    package mutating func step(_ event: UploadEvent) -> [UploadEffect] {
        switch event {
        case .chunk, .query, .cancel: return arrive(event)
        case .stored(let end, let call): return stored(upTo: end, by: call)
        case .ended(let end, let isComplete, let call):
            return ended(upTo: end, isComplete: isComplete, by: call)
        case .failed(let refusal, let call): return failed(refusal, call)
        case .committed(let generation, let call):
            precondition(phase == .committing(call), "an upload is committed once")
            phase = .final(generation: generation)
            return [.answer(call, .final(generation: generation))] + resume()
        case .refused(let refusal, let isForGood, let call):
            precondition(phase == .committing(call))
            phase = isForGood ? .refused(refusal) : .idle
            let end: [UploadEffect] = isForGood ? [.save, .discard] : []
            return end + [.answer(call, answer(refusal))] + resume()
        }
    }

    // MARK: Requests

    /// Handles a request now, or lets it wait for the request at work.
    private mutating func arrive(_ event: UploadEvent) -> [UploadEffect] {
        switch phase {
        case .receiving(let call, _):
            phase = .stopping(call)
            return wait(event) + [.stop(call)]
        case .stopping, .committing: return wait(event)
        case .idle: return begin(event)
        case .final(let generation):
            return [.answer(event.call, finalAnswer(to: event, generation))]
        case .refused(let refusal):
            // A cancel of an upload that has no bytes left changes nothing.
            if case .cancel = event { return [.answer(event.call, .cancelled)] }
            return [.answer(event.call, answer(refusal))]
        case .cancelled:
            if case .chunk = event { return [.answer(event.call, answer(.cancelled))] }
            return [.answer(event.call, .cancelled)]
        }
    }

    private mutating func wait(_ event: UploadEvent) -> [UploadEffect] {
        waiting.append(event)
        if waiting.count <= Self.maxWaiting { return [] }
        return [.answer(waiting.removeFirst().call, answer(.replaced))]
    }

    /// Handles the requests that have waited.
    private mutating func resume() -> [UploadEffect] {
        let events = waiting
        waiting = []
        return events.flatMap { arrive($0) }
    }

    private func finalAnswer(
        to event: UploadEvent, _ generation: Int64
    ) -> UploadAnswer {
        switch event {
        case .cancel: return .refusal(.isFinal, state: .final, received: received)
        case .chunk(let chunk, _) where dialect == .firebase && !chunk.isLast:
            return .refusal(.isFinal, state: .final, received: received)
        default: return .final(generation: generation)
        }
    }

    private mutating func begin(_ event: UploadEvent) -> [UploadEffect] {
        switch event {
        case .query: return [.answer(event.call, .active(received: received))]
        case .cancel:
            phase = .cancelled
            return [.save, .discard, .answer(event.call, .cancelled)]
        case .chunk(let chunk, let call):
            return dialect == .firebase ? beginExact(chunk, call) : beginRange(chunk, call)
        default: preconditionFailure("only requests begin")
        }
    }

    /// Begins a chunk of Firebase's protocol. Its offset must be the number of stored bytes, and
    /// the last chunk must complete the declared size.
    private mutating func beginExact(_ chunk: UploadChunk, _ call: CallID) -> [UploadEffect] {
        guard let offset = chunk.offset else {
            return refuse(.invalid("X-Goog-Upload-Offset is missing or is not a number."), call)
        }
        if offset != received {
            return refuse(.wrongOffset(sent: offset, expected: received), call)
        }
        if let length = chunk.length, let declared {
            let (end, isTooLong) = received.addingReportingOverflow(length)
            if isTooLong || end > declared || (chunk.isLast && end != declared) {
                return refuse(.wrongSize(isTooLong ? .max : end, declared: declared), call)
            }
        }
        phase = .receiving(call, chunk)
        return [
            .receive(
                call, UploadSpan(at: received, skip: 0, most: declared.map { $0 - received }))
        ]
    }

    /// Begins a chunk of Cloud Storage's protocol. Bytes that are stored already are skipped.
    private mutating func beginRange(_ chunk: UploadChunk, _ call: CallID) -> [UploadEffect] {
        if let total = chunk.total, let declared, total != declared {
            // The declared size decides; the client learns what is stored.
            return [.answer(call, .active(received: received))]
        }
        guard let offset = chunk.offset, let length = chunk.length, length > 0 else {
            return finish(chunk, call)
        }
        if offset > received {
            return refuse(.beyondStored(sent: offset, stored: received), call)
        }
        let (end, isTooLong) = offset.addingReportingOverflow(length)
        if isTooLong || end > declared ?? chunk.total ?? .max {
            return refuse(
                .wrongSize(isTooLong ? .max : end, declared: declared ?? chunk.total ?? .max),
                call)
        }
        if end <= received { return finish(chunk, call) }
        phase = .receiving(call, chunk)
        return [
            .receive(
                call, UploadSpan(at: received, skip: received - offset, most: end - received))
        ]
    }

    // MARK: Bytes

    private mutating func stored(upTo end: Int64, by call: CallID) -> [UploadEffect] {
        guard isWriter(call) else { preconditionFailure("only the request at work stores bytes") }
        precondition(end >= received, "stored bytes are never lost")
        if end == received { return [] }
        received = end
        return [.save]
    }

    private mutating func ended(
        upTo end: Int64, isComplete: Bool, by call: CallID
    ) -> [UploadEffect] {
        let saved = stored(upTo: end, by: call)
        switch phase {
        case .receiving(_, let chunk) where isComplete:
            phase = .idle
            return saved + finish(chunk, call)
        case .receiving:
            phase = .idle
            return saved + [.answer(call, answer(.cutOff))] + resume()
        default:
            // The bytes stay, and the request that waits goes on after them.
            phase = .idle
            return saved + [.answer(call, answer(.replaced))] + resume()
        }
    }

    private mutating func failed(_ refusal: ObjectRefusal, _ call: CallID) -> [UploadEffect] {
        guard isWriter(call) else { preconditionFailure("only the request at work fails") }
        phase = .idle
        return [.answer(call, answer(refusal))] + resume()
    }

    private func isWriter(_ call: CallID) -> Bool {
        switch phase {
        case .receiving(let writer, _), .stopping(let writer): writer == call
        default: false
        }
    }

    /// Answers a request whose bytes are stored, or makes the object if they were the last.
    private mutating func finish(_ chunk: UploadChunk, _ call: CallID) -> [UploadEffect] {
        let isLast =
            dialect == .firebase ? chunk.isLast : chunk.total.map { $0 == received } ?? false
        guard isLast else { return [.answer(call, .active(received: received))] }
        if let declared, declared != received {
            return refuse(.wrongSize(received, declared: declared), call)
        }
        phase = .committing(call)
        return [.commit(call)]
    }

    private func refuse(_ refusal: ObjectRefusal, _ call: CallID) -> [UploadEffect] {
        [.answer(call, answer(refusal))]
    }

    private func answer(_ refusal: ObjectRefusal) -> UploadAnswer {
        let state: UploadState =
            switch phase {
            case .final, .refused: .final
            case .cancelled: .cancelled
            default: .active
            }
        return .refusal(refusal, state: state, received: received)
    }
}
