import Dispatch
import Foundation
import Synchronization
import Testing
import TidemarkSync

@Suite(.timeLimit(.minutes(2))) struct `An app's executor` {
    /// The state that jobs change. Only the executor prevents simultaneous access.
    // @unchecked: the test checks exactly this protection.
    private final class Unguarded: @unchecked Sendable {
        var isBusy = false
        var overlaps = 0
        /// The number of the last job of each caller. The last element is for timers.
        var last: [Int]
        var disorders = 0
        var count = 0

        init(callers: Int) { last = Array(repeating: -1, count: callers) }

        func run(_ caller: Int, _ number: Int) {
            if isBusy { overlaps += 1 }
            isBusy = true
            if last[caller] != number - 1 { disorders += 1 }
            last[caller] = number
            count += 1
            isBusy = false
        }
    }

    private func waitUntilIdle(_ scheduler: DispatchScheduler) {
        let done = DispatchSemaphore(value: 0)
        scheduler.enqueue { done.signal() }
        done.wait()
    }

    @Test func `runs a job here when nothing runs and nothing waits`() {
        let scheduler = DispatchScheduler()
        let here = Thread.current
        let isHere = Atomic<Bool>(false)
        let ran = scheduler.runIfIdle { isHere.store(Thread.current === here, ordering: .relaxed) }
        #expect(ran)
        let ranHere = isHere.load(ordering: .relaxed)
        #expect(ranHere)
    }

    @Test func `does not run a job inside another one, nor before one that waits`() {
        let scheduler = DispatchScheduler()
        let order = Mutex<[String]>([])
        let (started, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        scheduler.enqueue {
            started.signal()
            goOn.wait()
            order.withLock { $0.append("first") }
            // A job cannot run another job inside itself either.
            #expect(!scheduler.runIfIdle { order.withLock { $0.append("inside") } })
        }
        started.wait()
        #expect(!scheduler.runIfIdle { order.withLock { $0.append("beside") } })
        scheduler.enqueue { order.withLock { $0.append("second") } }
        #expect(!scheduler.runIfIdle { order.withLock { $0.append("before") } })
        goOn.signal()
        waitUntilIdle(scheduler)
        #expect(order.withLock(\.self) == ["first", "second"])
        // The job that was waited for may not have ended completely.
        while !scheduler.runIfIdle({
            #expect(!scheduler.runIfIdle { order.withLock { $0.append("inside") } })
            scheduler.enqueue { order.withLock { $0.append("after") } }
            order.withLock { $0.append("here") }
        }) {}
        waitUntilIdle(scheduler)
        #expect(order.withLock(\.self) == ["first", "second", "here", "after"])
    }

    @Test func `keeps jobs apart and each caller's in order, wherever they run`() {
        let scheduler = DispatchScheduler()
        let callers = 8
        let each = 5_000
        let work = Unguarded(callers: callers)
        let here = Atomic<Int>(0)
        let timers = Atomic<Int>(0)
        let group = DispatchGroup()
        DispatchQueue.concurrentPerform(iterations: callers) { caller in
            for number in 0..<each {
                if number % 1_000 == 500 {
                    group.enter()
                    _ = scheduler.schedule(.callRetry, after: .microseconds(number)) {
                        if work.isBusy { work.overlaps += 1 }
                        timers.add(1, ordering: .relaxed)
                        group.leave()
                    }
                }
                // The first job finds the executor idle, even if the machine is busy.
                let runsHere =
                    number % 3 != 2 && scheduler.runIfIdle { work.run(caller, number) }
                if runsHere {
                    here.add(1, ordering: .relaxed)
                } else {
                    scheduler.enqueue { work.run(caller, number) }
                }
            }
        }
        waitUntilIdle(scheduler)
        group.wait()
        #expect(work.count == callers * each)
        #expect(work.overlaps == 0)
        #expect(work.disorders == 0)
        let counts = (here.load(ordering: .relaxed), timers.load(ordering: .relaxed))
        #expect(counts.0 > 0)
        #expect(counts.1 == callers * each / 1_000)
    }
}
