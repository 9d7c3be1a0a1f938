import TidemarkResilience

/// The decisions of an upload, over any number of attempts and processes. Pure.
///
/// The machine is created from the target and the stored record, also after a kill at any step. It
/// asks Storage for the offset of a session before it continues, and compares the object's size and
/// digest at the end. Bytes of two versions of a file are never joined unnoticed: Storage compares
/// nothing, so the end does.
struct UploadMachine: Hashable, Sendable {
    enum Event: Hashable, Sendable {
        /// The first event of a machine.
        case begin
        /// The result of ``Effect/checkCopy`` or ``Effect/compareCopy``, or of a chunk that could
        /// not be read.
        case copy(CopyState)
        case answer(UploadAnswer)
        /// The request has no answer: the network failed.
        case broke
        /// The wait is over, or the network has perhaps returned.
        case ready
        /// The token was replaced, or it could not be.
        case refreshed(isDone: Bool)
    }

    enum CopyState: Hashable, Sendable {
        case same, changed, missing
        /// The copy is there and cannot be read now, as on a locked device.
        case unreadable
    }

    /// The clocks and the die at an event.
    struct Moment: Hashable, Sendable {
        /// Seconds since 1970 by the device's clock, which can jump.
        var now: Int64
        /// The time since a fixed point. It never decreases.
        var elapsed: Duration
        /// A random number in `0 ..< 1`.
        var jitter: Double
    }

    /// The effects of a step are performed in order. The last one leads to the next event.
    enum Effect: Hashable, Sendable {
        /// Stores the record. If that fails, no further effect is performed.
        case store(UploadRecord)
        /// The number of bytes that Storage has, to show. It never decreases.
        case progress(Int64)
        /// Ends a session that is no longer needed. The machine does not wait for the answer.
        case cancel(address: String)
        /// Looks for the copy and its size, and begins the comparison of its bytes with its digest.
        /// The answer does not wait for the comparison, which takes as long as a fast upload.
        case checkCopy
        /// Waits for the end of the comparison.
        case compareCopy
        case send(Request)
        case refreshToken
        case wait(Duration)
        case finished(UploadedObject)
        case failed(UploadProblem)
    }

    enum Request: Hashable, Sendable {
        case start
        /// Sends bytes of the copy. The last chunk also completes the object, and can be empty.
        case chunk(address: String, offset: Int64, length: Int, isLast: Bool)
        case query(address: String)
        /// Reads the object's metadata.
        case look
        /// Deletes the object.
        case remove
    }

    private enum Waiting: Hashable, Sendable {
        case begin, copy, comparison, token, pause, end
        case answer(Request)
    }

    let target: UploadTarget
    private(set) var record: UploadRecord
    private var waiting = Waiting.begin
    private var backoff: Backoff
    private var chunks = ChunkSizes()
    /// True if Storage has reported the session's offset to this process.
    private var knowsOffset = false
    private var isCopyChecked = false
    /// True if all bytes of the copy are those of its digest. The last chunk leaves only then.
    private var isCopyCompared = false
    /// True if Storage has said in this process that no good object exists, and nothing that can
    /// complete the object was sent since.
    private var hasLooked = false
    private var mustRemove = false
    private var hasRefreshed = false
    /// The number of odd answers in one session since its last progress.
    private var setbacks = 0
    /// The reason to fail, unless the object turns out to be there.
    private var problem: UploadProblem?

    #if TIDEMARK_DEFECTS
        var defects: UploadDefects = []
    #endif

    /// The maximum age of a session. Source: Storage drops unfinished sessions after a week.
    static let longestSession: Int64 = 7 * 86_400
    /// The maximum number of objects that are completed with wrong bytes.
    static let mostDamaged = 3
    /// The maximum number of odd answers without progress, after which the session is given up.
    static let mostSetbacks = 5
    /// The longest wait that a server may ask for.
    static let longestWait = Duration.seconds(3_600)

    /// - Parameters:
    ///   - record: The stored record; an empty one for a new file.
    ///   - backoff: The waits after failures without progress. There is no last attempt.
    init(
        _ target: UploadTarget, _ record: UploadRecord = UploadRecord(),
        backoff: Backoff = Backoff(factor: 2, maximum: .seconds(120))
    ) {
        precondition(target.size >= 0)
        self.target = target
        self.record = record
        self.backoff = backoff
    }

    mutating func step(_ event: Event, at moment: Moment) -> [Effect] {
        switch (event, waiting) {
        case (.begin, .begin): return [.progress(record.furthest)] + next(moment)
        case (.copy(let state), .copy), (.copy(let state), .comparison),
            (.copy(let state), .answer):
            return copy(state, moment)
        case (.answer(let answer), .answer(let request)): return take(answer, to: request, moment)
        case (.broke, .answer):
            knowsOffset = false
            #if TIDEMARK_DEFECTS
                if defects.contains(.resendsBlindly) { knowsOffset = true }
                if let effects = finishedUnseen() { return effects }
            #endif
            chunks.shrink()
            return pause(moment)
        case (.ready, .pause): return next(moment)
        case (.refreshed(let isDone), .token):
            // A user who is signed out can sign in again, so this is no end.
            return isDone ? next(moment) : pause(moment)
        // The events are not named, as they may contain a session's address.
        default: preconditionFailure("an upload received an event that it does not wait for")
        }
    }

    // MARK: The next request

    private mutating func next(_ moment: Moment) -> [Effect] {
        if mustRemove { return send(.remove) }
        if let session = record.session {
            guard moment.now - session.madeAt < Self.longestSession else {
                record.session = nil
                return [.store(record)] + next(moment)
            }
            if !knowsOffset { return send(.query(address: session.address)) }
            return isCopyChecked ? sendChunk(session, moment) : checkCopy()
        }
        if record.mayExist, !hasLooked { return send(.look) }
        if let problem { return end(.failed(problem)) }
        if !isCopyChecked { return checkCopy() }
        if record.damagedObjects >= Self.mostDamaged { return end(.failed(.damagedOnTheWay)) }
        return send(.start)
    }

    private mutating func send(_ request: Request) -> [Effect] {
        waiting = .answer(request)
        return [.send(request)]
    }

    private mutating func checkCopy() -> [Effect] {
        waiting = .copy
        return [.checkCopy]
    }

    private mutating func compareCopy() -> [Effect] {
        waiting = .comparison
        return [.compareCopy]
    }

    private mutating func end(_ effect: Effect) -> [Effect] {
        waiting = .end
        guard let session = record.session else { return [effect] }
        record.session = nil
        return [.cancel(address: session.address), .store(record), effect]
    }

    private mutating func sendChunk(
        _ session: UploadRecord.Session, _ moment: Moment
    ) -> [Effect] {
        let offset = session.confirmed
        let length = chunks.next(from: offset, size: target.size, at: moment.elapsed)
        let isLast = offset + Int64(length) == target.size
        if isLast, !isCopyCompared { return compareCopy() }
        var effects: [Effect] = []
        if isLast {
            hasLooked = false
            if !record.mayExist {
                // Stored before the request leaves, because a kill can follow.
                record.mayExist = true
                effects = [.store(record)]
            }
        }
        return effects
            + send(
                .chunk(address: session.address, offset: offset, length: length, isLast: isLast))
    }

    private mutating func pause(_ moment: Moment, asked: Duration? = nil) -> [Effect] {
        waiting = .pause
        let delay = backoff.next(jitter: moment.jitter)
        return [.wait(max(delay, min(asked ?? .zero, Self.longestWait)))]
    }

    // MARK: The copy

    private mutating func copy(_ state: CopyState, _ moment: Moment) -> [Effect] {
        switch state {
        case .same:
            if waiting == .comparison { isCopyCompared = true }
            isCopyChecked = true
        case .unreadable: return pause(moment)
        case .changed, .missing:
            #if TIDEMARK_DEFECTS
                if defects.contains(.copyUnchecked), state == .changed,
                    waiting == .copy || waiting == .comparison
                {
                    (isCopyChecked, isCopyCompared) = (true, true)
                    return next(moment)
                }
            #endif
            return giveUp(state == .changed ? .copyChanged : .copyMissing, moment)
        }
        return next(moment)
    }

    /// Ends without the object, unless an earlier request has completed it.
    private mutating func giveUp(_ problem: UploadProblem, _ moment: Moment) -> [Effect] {
        self.problem = self.problem ?? problem
        guard let session = record.session else { return next(moment) }
        record.session = nil
        return [.cancel(address: session.address), .store(record)] + next(moment)
    }

    // MARK: Answers

    private mutating func take(
        _ answer: UploadAnswer, to request: Request, _ moment: Moment
    ) -> [Effect] {
        if answer.status == 401 {
            knowsOffset = false
            if hasRefreshed { return pause(moment) }
            hasRefreshed = true
            waiting = .token
            return [.refreshToken]
        }
        hasRefreshed = false
        if isPassing(answer) {
            knowsOffset = false
            chunks.shrink()
            return pause(moment, asked: answer.retryAfter)
        }
        switch request {
        case .start: return started(answer, moment)
        case .chunk(_, let offset, let length, let isLast):
            let range = offset..<(offset + Int64(length))
            return sent(answer, range: range, isLast: isLast, moment)
        case .query: return queried(answer, moment)
        case .look: return looked(answer, moment)
        case .remove: return removed(answer, moment)
        }
    }

    private func isPassing(_ answer: UploadAnswer) -> Bool {
        #if TIDEMARK_DEFECTS
            if defects.contains(.believesPortals), (300..<400).contains(answer.status) {
                return false
            }
        #endif
        return answer.isPassing
    }

    private mutating func started(_ answer: UploadAnswer, _ moment: Moment) -> [Effect] {
        guard answer.isSuccess else { return refused(answer, moment) }
        guard answer.state == .active, let address = answer.address, !address.isEmpty else {
            return pause(moment)
        }
        record.session = UploadRecord.Session(address: address, madeAt: moment.now)
        knowsOffset = true
        setbacks = 0
        return [.store(record)] + next(moment)
    }

    private mutating func sent(
        _ answer: UploadAnswer, range: Range<Int64>, isLast: Bool, _ moment: Moment
    ) -> [Effect] {
        switch answer.status {
        case 200..<300: break
        case 404, 410: return lost(moment)
        // A wrong offset, or a session that ended. Storage says which when it is asked.
        case 400, 409, 412, 416: return setback(moment)
        default: return refused(answer, moment)
        }
        switch answer.state {
        case .cancelled: return lost(moment)
        case .final:
            record.session = nil
            hasLooked = false
            if isLast, let object = answer.object { return compare(object, moment) }
            record.mayExist = true
            return [.store(record)] + next(moment)
        case .active, nil:
            guard answer.state == .active || answer.received != nil else {
                return setback(moment)
            }
            let received = answer.received ?? range.upperBound
            // More than was sent: another process uses the session.
            if received > range.upperBound || received < 0 { return lost(moment) }
            if received < range.upperBound { return setback(moment) }
            chunks.sent(at: moment.elapsed)
            return confirmed(received, moment)
        }
    }

    private mutating func queried(_ answer: UploadAnswer, _ moment: Moment) -> [Effect] {
        switch answer.status {
        case 200..<300: break
        case 400, 404, 410: return lost(moment)
        default: return refused(answer, moment)
        }
        switch answer.state {
        case .active:
            guard let received = answer.received else { return setback(moment) }
            guard (0...target.size).contains(received) else { return lost(moment) }
            knowsOffset = true
            return confirmed(received, moment)
        case .final:
            record.session = nil
            record.mayExist = true
            hasLooked = false
            if let object = answer.object { return compare(object, moment) }
            return [.store(record)] + next(moment)
        case .cancelled: return lost(moment)
        case nil: return setback(moment)
        }
    }

    private mutating func confirmed(_ received: Int64, _ moment: Moment) -> [Effect] {
        record.session?.confirmed = received
        var effects: [Effect] = []
        if received > record.furthest {
            record.furthest = received
            backoff.reset()
            setbacks = 0
            effects = [.progress(received)]
        }
        #if TIDEMARK_DEFECTS
            if defects.contains(.progressOfSession) { effects = [.progress(received)] }
        #endif
        return [.store(record)] + effects + next(moment)
    }

    /// Begins a new session, because Storage no longer has the present one.
    private mutating func lost(_ moment: Moment) -> [Effect] {
        record.session = nil
        knowsOffset = false
        setbacks = 0
        return [.store(record)] + pause(moment)
    }

    /// Asks Storage again after an odd answer. A session with many of them is given up.
    private mutating func setback(_ moment: Moment) -> [Effect] {
        setbacks += 1
        knowsOffset = false
        chunks.shrink()
        return setbacks > Self.mostSetbacks ? lost(moment) : pause(moment)
    }

    private mutating func refused(_ answer: UploadAnswer, _ moment: Moment) -> [Effect] {
        giveUp(.refused(status: answer.status), moment)
    }

    // MARK: The object

    private mutating func looked(_ answer: UploadAnswer, _ moment: Moment) -> [Effect] {
        switch answer.status {
        case 200..<300:
            guard let object = answer.object else { return pause(moment) }
            return compare(object, moment)
        // Rules that deny reads hide if the object exists. Another upload of the same bytes is
        // right in both cases.
        default:
            hasLooked = true
            return next(moment)
        }
    }

    private mutating func compare(_ object: UploadedObject, _ moment: Moment) -> [Effect] {
        var isComplete = object.isComplete(target)
        #if TIDEMARK_DEFECTS
            if defects.contains(.comparesNothing) { isComplete = true }
        #endif
        record.session = nil
        if isComplete {
            record.furthest = target.size
            return [.store(record), .progress(target.size)] + end(.finished(object))
        }
        record.damagedObjects += 1
        (isCopyChecked, isCopyCompared) = (false, false)
        mustRemove = true
        return [.store(record)] + next(moment)
    }

    private mutating func removed(_ answer: UploadAnswer, _ moment: Moment) -> [Effect] {
        mustRemove = false
        switch answer.status {
        case 204, 404:
            hasLooked = true
            record.mayExist = false
            return [.store(record)] + next(moment)
        // A portal answers everything with 200. Storage reports a missing object.
        case 200..<300:
            hasLooked = false
            return pause(moment)
        default: return end(.failed(problem ?? .damagedOnTheWay))
        }
    }

    #if TIDEMARK_DEFECTS
        /// Takes a last chunk without an answer for a finished upload: a planted defect.
        private mutating func finishedUnseen() -> [Effect]? {
            guard defects.contains(.finishesUnseen),
                case .answer(.chunk(_, _, _, isLast: true)) = waiting
            else { return nil }
            return end(.finished(UploadedObject(size: target.size, md5: target.md5)))
        }
    #endif
}

#if TIDEMARK_DEFECTS
    /// Defects that a test plants in a machine to prove that its checks find them. They exist only
    /// in debug builds.
    struct UploadDefects: OptionSet, Hashable, Sendable {
        let rawValue: Int

        /// Sends a chunk without an answer again, and does not ask for the session's offset.
        static let resendsBlindly = Self(rawValue: 1 << 0)
        /// Accepts every object.
        static let comparesNothing = Self(rawValue: 1 << 1)
        /// Takes a last chunk without an answer for a finished upload.
        static let finishesUnseen = Self(rawValue: 1 << 2)
        /// Ignores that the copy has changed.
        static let copyUnchecked = Self(rawValue: 1 << 3)
        /// Shows the progress of the present session.
        static let progressOfSession = Self(rawValue: 1 << 4)
        /// Takes a portal's redirect for a refusal.
        static let believesPortals = Self(rawValue: 1 << 5)
    }
#endif
