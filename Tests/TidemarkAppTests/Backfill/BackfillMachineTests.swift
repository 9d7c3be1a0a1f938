import Testing
import Tidemark

@testable import TidemarkApp

struct `A backfill's decisions` {
    private static let now: Int64 = 1_000 * 86_400

    private static func time(daysAgo days: Int64) -> Timestamp {
        Timestamp(seconds: now - days * 86_400, nanoseconds: 0)
    }

    private static func position(daysAgo days: Int64) -> CoveragePosition {
        .start(of: time(daysAgo: days))
    }

    static func job(_ name: String = "a", days: Int64 = 90, priority: Int = 0) -> BackfillJob {
        BackfillJob(
            name: name, from: time(daysAgo: days), to: time(daysAgo: 0), priority: priority)
    }

    private static func part(
        daysAgo days: Int64, bytes: Int = 0, reads: Int = 1
    ) -> BackfillMachine.Event {
        .fetched(
            BackfillMachine.Part(
                reached: position(daysAgo: days), asOf: time(daysAgo: 0), samples: 1, bytes: bytes,
                reads: reads))
    }

    /// Returns the effects without those that only show something.
    private static func doing(_ effects: [BackfillMachine.Effect]) -> [BackfillMachine.Effect] {
        effects.filter { if case .show = $0 { false } else { true } }
    }

    private static func hold(_ machine: BackfillMachine) -> BackfillProgress.Hold? {
        if case .held(let hold) = machine.progress.phase { hold } else { nil }
    }

    @Test func `cut history into windows, the first of seven days`() {
        let job = Self.job(days: 90)
        #expect(job.windowCount == 4)
        #expect(job.window(0) == Self.position(daysAgo: 7)..<Self.position(daysAgo: 0))
        #expect(job.window(1) == Self.position(daysAgo: 37)..<Self.position(daysAgo: 7))
        #expect(job.window(3) == Self.position(daysAgo: 90)..<Self.position(daysAgo: 67))
        #expect(Self.job(days: 7).windowCount == 1)
        #expect(Self.job(days: 8).windowCount == 2)
        var coverage = Coverage()
        coverage.insert(
            Self.position(daysAgo: 20)..<Self.position(daysAgo: 0), asOf: Self.time(daysAgo: 0))
        let gap = job.nextGap(coverage)
        #expect(gap?.window == 1)
        #expect(gap?.range == Self.position(daysAgo: 37)..<Self.position(daysAgo: 20))
        coverage.insert(job.range, asOf: Self.time(daysAgo: 0))
        #expect(job.nextGap(coverage) == nil)
    }

    @Test func `count a part only when it is stored and uploaded`() {
        var machine = BackfillMachine([Self.job(days: 7)])
        let range = Self.position(daysAgo: 7)..<Self.position(daysAgo: 0)
        #expect(
            machine.step(.started([Coverage()]), now: .zero) == [.fetch(job: 0, range)])
        #expect(machine.step(Self.part(daysAgo: 7), now: .zero) == [.store(job: 0)])
        #expect(machine.progress.windowsDone == 0)
        #expect(machine.step(.stored, now: .zero) == [.upload(job: 0)])
        var whole = Coverage()
        whole.insert(range, asOf: Self.time(daysAgo: 0))
        #expect(machine.step(.uploaded(writes: 7), now: .zero) == [.cover(job: 0, whole)])
        #expect(machine.progress.windowsDone == 0)
        #expect(Self.doing(machine.step(.covered, now: .zero)) == [])
        #expect(machine.progress.phase == .complete)
        #expect(machine.progress.windowsDone == 1)
        #expect(machine.progress.writes == 7)
    }

    @Test func `go on below what a part reached`() {
        var machine = BackfillMachine([Self.job(days: 7)])
        _ = machine.step(.started([Coverage()]), now: .zero)
        _ = machine.step(Self.part(daysAgo: 3), now: .zero)
        _ = machine.step(.stored, now: .zero)
        _ = machine.step(.uploaded(writes: 1), now: .zero)
        #expect(
            Self.doing(machine.step(.covered, now: .zero))
                == [.fetch(job: 0, Self.position(daysAgo: 7)..<Self.position(daysAgo: 3))])
    }

    @Test func `take what a source knows to be empty as done`() {
        var machine = BackfillMachine([Self.job(days: 400)])
        _ = machine.step(.started([Coverage()]), now: .zero)
        _ = machine.step(Self.part(daysAgo: 900), now: .zero)
        _ = machine.step(.stored, now: .zero)
        _ = machine.step(.uploaded(writes: 1), now: .zero)
        #expect(Self.doing(machine.step(.covered, now: .zero)) == [])
        #expect(machine.progress.phase == .complete)
    }

    @Test func `call an answer that comes no further a failure, however often it says success`() {
        var machine = BackfillMachine([Self.job("stuck", days: 7), Self.job("other", days: 7)])
        _ = machine.step(.started([Coverage(), Coverage()]), now: .zero)
        for stall in 1..<BackfillMachine.maxStalls {
            let effects = Self.doing(machine.step(Self.part(daysAgo: 0), now: .zero))
            #expect(effects == [.startTimer(stall, .seconds(1 << (stall - 1)))])
            #expect(machine.progress.phase == .tryingAgain)
            _ = machine.step(.timerFired(stall), now: .zero)
        }
        // The third stall ends the job, and the other job continues.
        let effects = Self.doing(machine.step(Self.part(daysAgo: 0), now: .zero))
        #expect(effects == [.fetch(job: 1, Self.position(daysAgo: 7)..<Self.position(daysAgo: 0))])
        #expect(machine.progress.failures == ["stuck": .stalled])
    }

    @Test func `try again what may pass, later each time, and not what will not`() {
        var machine = BackfillMachine([Self.job(days: 7)])
        _ = machine.step(.started([Coverage()]), now: .zero)
        var delays: [Duration] = []
        for _ in 1..<BackfillMachine.maxAttempts {
            for case .startTimer(let number, let delay) in machine.step(
                .failed(.transient("down")), now: .zero)
            {
                delays.append(delay)
                #expect(machine.step(.timerFired(number - 1), now: .zero) == [])
                #expect(Self.doing(machine.step(.timerFired(number), now: .zero)).count == 1)
            }
        }
        #expect(delays == [1, 2, 4, 8, 16, 32, 60].map { .seconds($0) })
        _ = machine.step(.failed(.transient("down")), now: .zero)
        #expect(machine.progress.phase == .failed)
        #expect(Self.doing(machine.step(.retried, now: .zero)).count == 1)
        _ = machine.step(.failed(.permanent("forbidden")), now: .zero)
        #expect(machine.progress.phase == .failed)
        #expect(machine.progress.failures == ["a": .permanent("forbidden")])
    }

    @Test func `begin no step while a person waits, and none offline, on low power or for money`() {
        var machine = BackfillMachine([Self.job(days: 7)])
        var conditions = BackfillConditions()
        conditions.peopleWaiting = 2
        _ = machine.step(.conditionsChanged(conditions), now: .zero)
        #expect(Self.doing(machine.step(.started([Coverage()]), now: .zero)) == [])
        #expect(Self.hold(machine) == .yielding)
        conditions.peopleWaiting = 1
        conditions.isOnline = false
        #expect(Self.doing(machine.step(.conditionsChanged(conditions), now: .zero)) == [])
        conditions.peopleWaiting = 0
        _ = machine.step(.conditionsChanged(conditions), now: .zero)
        #expect(Self.hold(machine) == .offline)
        conditions.isOnline = true
        #expect(Self.doing(machine.step(.conditionsChanged(conditions), now: .zero)).count == 1)
        // The backfill also stops between two steps, after it stored the part that was being
        // fetched.
        conditions.isLowPower = true
        #expect(machine.step(.conditionsChanged(conditions), now: .zero) == [])
        #expect(Self.doing(machine.step(Self.part(daysAgo: 7), now: .zero)) == [])
        #expect(Self.hold(machine) == .lowPower)
        conditions.isLowPower = false
        conditions.isNetworkExpensive = true
        #expect(Self.doing(machine.step(.conditionsChanged(conditions), now: .zero)) == [])
        #expect(Self.hold(machine) == .expensiveNetwork)
        conditions.isNetworkExpensive = false
        #expect(machine.step(.conditionsChanged(conditions), now: .zero) == [.store(job: 0)])
    }

    @Test(arguments: [
        (BackfillBudget(time: .seconds(5)), BackfillProgress.Limit.time),
        (BackfillBudget(bytes: 100), .bytes), (BackfillBudget(reads: 10), .reads),
        (BackfillBudget(writes: 3), .writes),
    ])
    func `stop when a budget is spent, and go on with another`(
        budget: BackfillBudget, limit: BackfillProgress.Limit
    ) {
        var machine = BackfillMachine([Self.job(days: 90)], budget: budget)
        _ = machine.step(.started([Coverage()]), now: .zero)
        _ = machine.step(Self.part(daysAgo: 7, bytes: 100, reads: 10), now: .zero)
        _ = machine.step(.stored, now: .seconds(5))
        _ = machine.step(.uploaded(writes: 3), now: .seconds(5))
        #expect(Self.doing(machine.step(.covered, now: .seconds(5))) == [])
        #expect(Self.hold(machine) == .budget(limit))
        #expect(machine.progress.hasFirstWindows)
        #expect(Self.doing(machine.step(.budgetRenewed, now: .seconds(6))).count == 1)
    }

    @Test func `let the more urgent job go first, and the newer gap of two alike`() {
        let jobs = [
            Self.job("low", days: 90), Self.job("high", days: 7, priority: 1),
            Self.job("same", days: 90),
        ]
        var machine = BackfillMachine(jobs)
        var order: [Int] = []
        var effects = machine.step(.started(jobs.map { _ in Coverage() }), now: .zero)
        while case .fetch(let job, let range)? = Self.doing(effects).last {
            order.append(job)
            _ = machine.step(
                .fetched(
                    BackfillMachine.Part(
                        reached: range.lowerBound, asOf: Self.time(daysAgo: 0), samples: 0,
                        bytes: 0, reads: 1)), now: .zero)
            _ = machine.step(.stored, now: .zero)
            _ = machine.step(.uploaded(writes: 0), now: .zero)
            effects = machine.step(.covered, now: .zero)
        }
        #expect(order == [1, 0, 2, 0, 2, 0, 2, 0, 2])
        #expect(machine.progress.phase == .complete)
    }

    @Test func `estimate what is left by what it has taken`() {
        var machine = BackfillMachine([Self.job(days: 67)])
        _ = machine.step(.started([Coverage()]), now: .zero)
        for days in [7, 37] as [Int64] {
            _ = machine.step(Self.part(daysAgo: days), now: .zero)
            _ = machine.step(.stored, now: .zero)
            _ = machine.step(.uploaded(writes: 1), now: .zero)
            for case .show(let progress) in machine.step(.covered, now: .seconds(37))
            where days == 37 {
                let left = (progress.timeLeft ?? .zero) / .seconds(1)
                #expect(abs(left - 30) < 0.001)
                #expect(progress.windowsDone == 2 && progress.windows == 3)
            }
        }
    }

    @Test func `hear nothing after they were stopped`() {
        var machine = BackfillMachine([Self.job(days: 7)])
        _ = machine.step(.started([Coverage()]), now: .zero)
        _ = machine.step(.stopped, now: .zero)
        #expect(machine.step(Self.part(daysAgo: 7), now: .zero) == [])
        #expect(Self.hold(machine) == .stopped)
    }
}
