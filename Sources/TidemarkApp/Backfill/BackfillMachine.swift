package import Tidemark

/// Decides the next step of a backfill. The machine is pure: it takes events with their times, and
/// returns effects.
///
/// One step runs at a time, for any number of jobs: fetch, store, upload, cover. A part counts as
/// covered only after it is stored and uploaded, so a kill at any point can repeat a part but never
/// lose a part. Before each step the machine checks its conditions: no user waits for something
/// else, the network is available, the battery lasts, and the budget has room.
package struct BackfillMachine: Hashable, Sendable {
    /// The facts of a part, without its items.
    package struct Part: Hashable, Sendable {
        package var reached: CoveragePosition
        package var asOf: Timestamp
        package var samples: Int
        package var bytes: Int
        package var reads: Int

        package init(
            reached: CoveragePosition, asOf: Timestamp, samples: Int, bytes: Int, reads: Int
        ) {
            self.reached = reached
            self.asOf = asOf
            self.samples = samples
            self.bytes = bytes
            self.reads = reads
        }
    }

    package enum Event: Hashable, Sendable {
        /// The backfill started, with the coverage so far by job.
        case started([Coverage])
        case conditionsChanged(BackfillConditions)
        case fetched(Part)
        case stored
        case uploaded(writes: Int)
        case covered
        case failed(BackfillFailure)
        /// The timer with this number fired; only the last started number counts.
        case timerFired(Int)
        /// A new day or a new background task began.
        case budgetRenewed
        /// A failed job must be retried.
        case retried
        case stopped
    }

    package enum Effect: Hashable, Sendable {
        case fetch(job: Int, Range<CoveragePosition>)
        case store(job: Int)
        case upload(job: Int)
        case cover(job: Int, Coverage)
        case startTimer(Int, Duration)
        /// The progress, for any observers.
        case show(BackfillProgress)
    }

    private enum Stage: Hashable, Sendable { case fetch, store, upload, cover }

    private struct Work: Hashable, Sendable {
        let job: Int
        let window: Int
        let range: Range<CoveragePosition>
        var stage = Stage.fetch
        var part: Part?
    }

    private enum State: Hashable, Sendable {
        case new
        /// A requested effect has no answer yet.
        case working
        /// The conditions forbid the next effect.
        case held(BackfillProgress.Hold)
        /// The machine waits after a failure, until the timer with this number.
        case backingOff(Int)
        case ended
        case stopped
    }

    /// The maximum number of attempts at a stage of a part.
    package static let maxAttempts = 8
    /// The maximum number of consecutive answers without progress.
    package static let maxStalls = 3

    #if TIDEMARK_DEFECTS
        package var defects: PlantedDefects = []
    #endif
    private let jobs: [BackfillJob]
    private let budget: BackfillBudget
    private var coverages: [Coverage]
    private var failures: [BackfillFailure?]
    private var state = State.new
    private var work: Work?
    private var conditions = BackfillConditions()
    private var attempts = 0
    private var timers = 0
    private var spent = BackfillSpending()
    private var total = BackfillSpending()
    private var budgetBegan: Duration = .zero
    private var startedAt: Duration = .zero
    private var initialGap: Double = 0

    package init(_ jobs: [BackfillJob], budget: BackfillBudget = BackfillBudget()) {
        precondition(!jobs.isEmpty, "a backfill of nothing")
        self.jobs = jobs
        self.budget = budget
        coverages = jobs.map { _ in Coverage() }
        failures = jobs.map { _ in nil }
    }

    /// - Parameter now: The time since any fixed moment.
    package mutating func step(_ event: Event, now: Duration) -> [Effect] {
        switch (event, state) {
        case (.stopped, _):
            state = .stopped
            return [show(now)]
        // A late answer to a step that was running is ignored.
        case (_, .stopped): return []
        case (.started(let coverages), .new): return start(coverages, now)
        case (.started, _): preconditionFailure("a backfill is started once")
        case (.conditionsChanged(let next), _):
            conditions = next
            return resume(now)
        case (.budgetRenewed, _):
            spent = BackfillSpending()
            budgetBegan = now
            return resume(now)
        case (.retried, _):
            failures = failures.map { _ in nil }
            attempts = 0
            if state == .ended { state = .held(.stopped) }
            return resume(now)
        case (.timerFired(let number), .backingOff(let awaited)) where number == awaited:
            return advance(now)
        case (.timerFired, _): return []
        case (.fetched(let part), .working): return receive(part, now)
        case (.stored, .working): return done(.store, now)
        case (.uploaded(let writes), .working):
            spent.writes += writes
            total.writes += writes
            return done(.upload, now)
        case (.covered, .working): return cover(now)
        case (.failed(let failure), .working): return fail(failure, now)
        case (.fetched, _), (.stored, _), (.uploaded, _), (.covered, _), (.failed, _):
            preconditionFailure("an answer to what was not asked, in \(state)")
        }
    }
}

// MARK: - Steps

extension BackfillMachine {
    private mutating func start(_ coverages: [Coverage], _ now: Duration) -> [Effect] {
        precondition(coverages.count == jobs.count)
        self.coverages = coverages
        startedAt = now
        budgetBegan = now
        initialGap = secondsLeft
        return advance(now)
    }

    /// Continues after a hold.
    private mutating func resume(_ now: Duration) -> [Effect] {
        guard case .held = state else { return [] }
        return advance(now)
    }

    /// Returns the next effect, or the reason why there is none.
    private mutating func advance(_ now: Duration) -> [Effect] {
        if work == nil { work = nextWork() }
        guard let work else {
            state = .ended
            return [show(now)]
        }
        // An uploaded part is covered immediately: a delay could only cause a repeated upload.
        if work.stage != .cover, let hold = hold(work.stage, now) {
            state = .held(hold)
            return [show(now)]
        }
        state = .working
        switch work.stage {
        case .fetch: return [.fetch(job: work.job, work.range)]
        case .store: return [.store(job: work.job)]
        case .upload: return [.upload(job: work.job)]
        case .cover: return [.cover(job: work.job, covered(work))]
        }
    }

    /// Returns the most urgent work of the jobs that have not failed, and among equals the newest
    /// gap.
    private func nextWork() -> Work? {
        var best: Work?
        for (number, job) in jobs.enumerated() where failures[number] == nil {
            guard let gap = job.nextGap(coverages[number]) else { continue }
            let candidate = Work(job: number, window: gap.window, range: gap.range)
            guard let known = best else {
                best = candidate
                continue
            }
            let rival = jobs[known.job]
            if job.priority > rival.priority
                || (job.priority == rival.priority
                    && gap.range.upperBound > known.range.upperBound)
            {
                best = candidate
            }
        }
        return best
    }

    private func hold(_ stage: Stage, _ now: Duration) -> BackfillProgress.Hold? {
        if conditions.peopleWaiting > 0 { return .yielding }
        if !conditions.isOnline { return .offline }
        if conditions.isLowPower { return .lowPower }
        if conditions.isNetworkExpensive { return .expensiveNetwork }
        // A fetched part is completed, so the budget can be exceeded by one part.
        return stage == .fetch ? budget.exceeded(by: spent, after: now - budgetBegan) : nil
    }

    private mutating func receive(_ part: Part, _ now: Duration) -> [Effect] {
        guard var work, work.stage == .fetch else {
            preconditionFailure("a part that was not asked for")
        }
        spent.add(part)
        total.add(part)
        #if TIDEMARK_DEFECTS
            let part = doubted(part, of: work)
        #endif
        guard part.reached < work.range.upperBound else { return fail(.stalled, now) }
        work.part = part
        work.stage = .store
        self.work = work
        attempts = 0
        return advance(now)
    }

    private mutating func done(_ stage: Stage, _ now: Duration) -> [Effect] {
        guard work?.stage == stage else { preconditionFailure("\(stage) was not asked for") }
        #if TIDEMARK_DEFECTS
            if defects.contains(.coveredBeforeUploaded) { return doneEarly(stage, now) }
        #endif
        work?.stage = stage == .store ? .upload : .cover
        attempts = 0
        return advance(now)
    }

    #if TIDEMARK_DEFECTS
        private func doubted(_ part: Part, of work: Work) -> Part {
            var part = part
            if defects.contains(.stallCounted), part.reached >= work.range.upperBound {
                part.reached = work.range.lowerBound
            }
            return part
        }

        private mutating func doneEarly(_ stage: Stage, _ now: Duration) -> [Effect] {
            if stage == .store { work?.stage = .cover } else { work = nil }
            return advance(now)
        }
    #endif

    private func covered(_ work: Work) -> Coverage {
        guard let part = work.part else { preconditionFailure("nothing was fetched") }
        var coverage = coverages[work.job]
        let lower = max(part.reached, jobs[work.job].range.lowerBound)
        coverage.insert(lower..<work.range.upperBound, asOf: part.asOf)
        return coverage
    }

    private mutating func cover(_ now: Duration) -> [Effect] {
        guard let work, work.stage == .cover else {
            preconditionFailure("nothing was to be covered")
        }
        coverages[work.job] = covered(work)
        attempts = 0
        #if TIDEMARK_DEFECTS
            if defects.contains(.coveredBeforeUploaded) {
                self.work?.stage = .upload
                return advance(now)
            }
        #endif
        self.work = nil
        let shown = show(now)
        return [shown] + advance(now)
    }

    private mutating func fail(_ failure: BackfillFailure, _ now: Duration) -> [Effect] {
        guard let work else { preconditionFailure("nothing was under way") }
        attempts += 1
        let most = failure == .stalled ? Self.maxStalls : Self.maxAttempts
        if case .permanent = failure { attempts = most }
        if attempts >= most {
            failures[work.job] = failure
            self.work = nil
            attempts = 0
            let shown = show(now)
            return [shown] + advance(now)
        }
        timers += 1
        state = .backingOff(timers)
        // 1, 2, 4 … 60 s.
        return [.startTimer(timers, .seconds(min(60, 1 << (attempts - 1)))), show(now)]
    }
}

// MARK: - What is shown

extension BackfillMachine {
    package var progress: BackfillProgress { progress(now: startedAt) }

    private func show(_ now: Duration) -> Effect { .show(progress(now: now)) }

    private func progress(now: Duration) -> BackfillProgress {
        var progress = BackfillProgress()
        progress.windows = jobs.reduce(0) { $0 + $1.windowCount }
        progress.windowsDone = zip(jobs, coverages).reduce(0) { $0 + $1.0.windowsDone($1.1) }
        progress.samples = total.samples
        progress.bytes = total.bytes
        progress.reads = total.reads
        progress.writes = total.writes
        progress.hasFirstWindows = zip(jobs, coverages).allSatisfy { $1.contains($0.window(0)) }
        progress.failures = Dictionary(
            zip(jobs, failures).compactMap { job, failure in failure.map { (job.name, $0) } },
            uniquingKeysWith: { first, _ in first })
        let left = secondsLeft
        if initialGap > left, left > 0 {
            progress.timeLeft = (now - startedAt) * (left / (initialGap - left))
        }
        switch state {
        case .new, .working: progress.phase = .running
        case .held(let hold): progress.phase = .held(hold)
        case .backingOff: progress.phase = .tryingAgain
        case .ended: progress.phase = progress.failures.isEmpty ? .complete : .failed
        case .stopped: progress.phase = .held(.stopped)
        }
        return progress
    }

    /// The seconds of history without coverage, in all jobs that continue.
    private var secondsLeft: Double {
        var seconds = 0.0
        for (number, job) in jobs.enumerated() where failures[number] == nil {
            for gap in coverages[number].gaps(in: job.range) {
                seconds += Double(gap.upperBound.time.seconds - gap.lowerBound.time.seconds)
            }
        }
        return seconds
    }
}
