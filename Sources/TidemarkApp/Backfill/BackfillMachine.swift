package import Tidemark

/// Decides what a backfill does next. Pure: events in, effects out, the time told with each event.
///
/// One step at a time, whatever the number of jobs: fetch, store, upload, cover. A part counts as
/// covered only when it is stored and uploaded, so a kill anywhere costs a part made again and
/// never a part missed. Before each step it looks whether it may: whether anybody waits for
/// something else, the network is there, the battery lasts, and the budget holds.
package struct BackfillMachine: Hashable, Sendable {
    /// What a part is, apart from its items.
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
        /// With what is covered already, by job.
        case started([Coverage])
        case conditionsChanged(BackfillConditions)
        case fetched(Part)
        case stored
        case uploaded(writes: Int)
        case covered
        case failed(BackfillFailure)
        /// Only the number last given counts.
        case timerFired(Int)
        /// Another day, another background task.
        case budgetRenewed
        /// A job that failed is to be tried again.
        case retried
        case stopped
    }

    package enum Effect: Hashable, Sendable {
        case fetch(job: Int, Range<CoveragePosition>)
        case store(job: Int)
        case upload(job: Int)
        case cover(job: Int, Coverage)
        case startTimer(Int, Duration)
        /// Somebody may want to see it.
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
        /// An effect was asked for and has not been answered.
        case working
        /// The next effect may not be asked for.
        case held(BackfillProgress.Hold)
        /// After a failure, until the timer of this number.
        case backingOff(Int)
        case ended
        case stopped
    }

    /// Attempts at one stage of one part.
    package static let maxAttempts = 8
    /// Answers in a row without progress.
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

    /// - Parameter now: Since any fixed moment.
    package mutating func step(_ event: Event, now: Duration) -> [Effect] {
        switch (event, state) {
        case (.stopped, _):
            state = .stopped
            return [show(now)]
        // Late, of a step that was under way.
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

    /// Goes on from wherever it was held.
    private mutating func resume(_ now: Duration) -> [Effect] {
        guard case .held = state else { return [] }
        return advance(now)
    }

    /// The next effect, or why there is none.
    private mutating func advance(_ now: Duration) -> [Effect] {
        if work == nil { work = nextWork() }
        guard let work else {
            state = .ended
            return [show(now)]
        }
        // What was uploaded is covered at once: to hold it back could only have it uploaded again.
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

    /// Of the jobs that have not failed, the most urgent, and then the newest gap.
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
        // What has been fetched is brought to its end, over the budget by one part at the most.
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

    /// Of history that is not covered, over all jobs that go on.
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
