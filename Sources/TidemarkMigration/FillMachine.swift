package import TidemarkModel

/// Decides what a migration of one collection does next: which page to read, which documents to
/// write, what to look at again, when to wait and when to end.
///
/// Each step has one effect. A document is written only on the condition that it has not changed
/// since it was read. A changed document is read again and judged anew, so a concurrent write is
/// never overwritten.
package struct FillMachine: Equatable, Sendable {
    package enum Event: Sendable {
        /// A page in the order of names. It is the last page if it is not full.
        case page([SeenDocument], readTime: Timestamp)
        /// The documents of ``Effect/look(at:)`` that exist.
        case found([SeenDocument])
        /// The result of each document of ``Effect/write(_:)``.
        case written([Written])
        case failed(RPCStatus)
        case saved
        case woke
    }

    package enum Effect: Equatable, Sendable {
        case read(after: DocumentPath?, limit: Int)
        case look(at: [DocumentPath])
        case write([Stamp])
        case save(FillProgress)
        case wait(Duration)
        case end(Ending)
    }

    package enum Ending: Equatable, Sendable {
        case finished
        /// The reason why the migration stopped. Everything up to the cursor is done.
        case stopped(RPCStatus)
    }

    /// The change of one document.
    package struct Stamp: Hashable, Sendable {
        package let path: DocumentPath
        /// The time of the version to change. It becomes the change time.
        package let updateTime: Timestamp
        /// The number of earlier attempts that met another version.
        package let attempts: Int

        package init(path: DocumentPath, updateTime: Timestamp, attempts: Int = 0) {
            self.path = path
            self.updateTime = updateTime
            self.attempts = attempts
        }
    }

    package enum Written: Hashable, Sendable {
        case done(updateTime: Timestamp)
        case failed(RPCStatus)
    }

    /// The number of documents in a page.
    package static let pageSize = 500
    /// The number of versions of a document that are tried before it counts as unsettled.
    package static let maxAttempts = 5
    /// The number of failures in a row after which the migration stops.
    package static let maxFailures = 6

    private enum State: Equatable, Sendable {
        case ready
        case reading
        case writing([Stamp])
        /// The answer to the writes is lost if `isLost`; they may have been applied.
        case looking(at: [Stamp], isLost: Bool)
        /// Waits until the pace allows the next write.
        case pacing
        /// Waits after a failure, and then continues in the state.
        indirect case backingOff(State)
        /// Keeps the time of the first read before anything is written.
        case savingStart
        case saving
        case ended
    }

    package private(set) var progress: FillProgress
    private var pace: Pace
    private var state = State.ready
    private var todo: [Stamp] = []
    private var last: DocumentPath?
    private var isLastPage = false
    private var failures = 0

    /// - Parameters:
    ///   - progress: The state in which an earlier process stopped; a new one to begin.
    ///   - rate: The maximum number of documents to write in a second.
    package init(_ progress: FillProgress, rate: Int) {
        precondition(!progress.isFinished, "a finished migration has nothing to continue")
        self.progress = progress
        pace = Pace(rate: rate)
        last = progress.cursor.flatMap { try? DocumentPath($0) }
    }

    package mutating func start() -> Effect {
        precondition(state == .ready, "it was started already")
        return enter(.reading)
    }

    /// - Parameter now: The time since the start, by a clock that only moves forward.
    package mutating func step(_ event: Event, at now: Duration) -> Effect {
        switch (state, event) {
        case (.reading, .page(let documents, let readTime)):
            failures = 0
            let isStart = progress.window == nil
            var start = progress
            take(documents, readTime: readTime)
            if !isStart || todo.isEmpty { return next(at: now) }
            start.window = progress.window
            state = .savingStart
            return .save(start)
        case (.writing(let batch), .written(let results)):
            return took(results, of: batch, at: now)
        case (.looking(let batch, let isLost), .found(let documents)):
            failures = 0
            judgeAgain(batch, documents, isLost: isLost)
            return next(at: now)
        case (.reading, .failed(let status)), (.looking, .failed(let status)):
            return failed(status, then: state)
        case (.writing(let batch), .failed(let status)):
            return failed(status, then: .looking(at: batch, isLost: true))
        case (.pacing, .woke), (.savingStart, .saved): return next(at: now)
        case (.backingOff(let state), .woke): return enter(state)
        case (.saving, .saved): return isLastPage ? end(.finished) : enter(.reading)
        case (.saving, .failed(let status)), (.savingStart, .failed(let status)):
            return end(.stopped(status))
        default: preconditionFailure("\(event) in \(state)")
        }
    }

    /// Enters a state that begins with a read.
    private mutating func enter(_ state: State) -> Effect {
        self.state = state
        if case .looking(let batch, _) = state { return .look(at: batch.map(\.path)) }
        return .read(after: last, limit: Self.pageSize)
    }

    // MARK: Pages

    private mutating func take(_ documents: [SeenDocument], readTime: Timestamp) {
        progress.reads += max(1, documents.count)
        progress.documents += documents.count
        note(readTime)
        for document in documents {
            switch document.changeTime {
            case .missing:
                todo.append(Stamp(path: document.path, updateTime: document.updateTime))
            case .time: progress.present += 1
            case .other(let type): progress.wrongType.add(document.path, type)
            }
        }
        last = documents.last?.path ?? last
        isLastPage = documents.count < Self.pageSize
    }

    private mutating func note(_ time: Timestamp) {
        if progress.window == nil { progress.window = WrittenWindow(from: time, to: time) }
        progress.window?.extend(to: time)
    }

    /// Returns the next effect of the current page: a write, a wait before it, or the page's end.
    private mutating func next(at now: Duration) -> Effect {
        if todo.isEmpty {
            progress.cursor = last?.text
            progress.isFinished = isLastPage
            state = .saving
            return .save(progress)
        }
        let delay = pace.delay(at: now)
        if delay > .zero {
            state = .pacing
            return .wait(delay)
        }
        let batch = Array(todo.prefix(pace.batchSize))
        todo.removeFirst(batch.count)
        pace.start(batch.count, at: now)
        state = .writing(batch)
        return .write(batch)
    }

    // MARK: Writes

    private mutating func took(
        _ results: [Written], of batch: [Stamp], at now: Duration
    ) -> Effect {
        guard results.count == batch.count else {
            return end(.stopped(RPCStatus(.internal, "The server's answer has other documents.")))
        }
        var again: [Stamp] = []
        var busy: RPCStatus?
        var denied: RPCStatus?
        for (stamp, result) in zip(batch, results) {
            switch result {
            case .done(let updateTime):
                progress.filled += 1
                progress.writes += 1
                note(updateTime)
            case .failed(let status):
                switch status.migrationFailure {
                case .otherVersion: again.append(stamp)
                case .temporary:
                    again.append(stamp)
                    busy = status
                case .forAll: denied = status
                case .ofThisDocument: progress.refused.add(stamp.path, status.message)
                }
            }
        }
        if let denied { return end(.stopped(denied)) }
        if again.isEmpty {
            failures = 0
            return next(at: now)
        }
        let looking = State.looking(at: again, isLost: false)
        if let busy { return failed(busy, then: looking) }
        return enter(looking)
    }

    private mutating func judgeAgain(
        _ batch: [Stamp], _ documents: [SeenDocument], isLost: Bool
    ) {
        progress.reads += batch.count
        let found = Dictionary(
            documents.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        for stamp in batch {
            guard let document = found[stamp.path] else {
                progress.deleted += 1
                continue
            }
            switch document.changeTime {
            case .missing: retry(stamp, document)
            case .time:
                if isLost {
                    progress.filled += 1
                    progress.writes += 1
                    note(document.updateTime)
                } else {
                    progress.filledByOthers += 1
                }
            case .other(let type): progress.wrongType.add(document.path, type)
            }
        }
    }

    /// Puts a document back to be written. Only another version counts as an attempt: the same
    /// version was not reached by the last call.
    private mutating func retry(_ stamp: Stamp, _ document: SeenDocument) {
        let isOther = document.updateTime != stamp.updateTime
        let attempts = stamp.attempts + (isOther ? 1 : 0)
        if attempts >= Self.maxAttempts {
            progress.unsettled.add(stamp.path, "it changed \(attempts) times meanwhile")
        } else {
            todo.append(
                Stamp(
                    path: stamp.path, updateTime: document.updateTime, attempts: attempts))
        }
    }

    // MARK: Failures

    private mutating func failed(_ status: RPCStatus, then state: State) -> Effect {
        guard status.migrationFailure == .temporary, failures + 1 < Self.maxFailures else {
            return end(.stopped(status))
        }
        failures += 1
        self.state = .backingOff(state)
        return .wait(.seconds(1 << (failures - 1)))
    }

    private mutating func end(_ ending: Ending) -> Effect {
        state = .ended
        return .end(ending)
    }
}
