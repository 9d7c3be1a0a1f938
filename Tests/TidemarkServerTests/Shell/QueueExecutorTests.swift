import Dispatch
import Foundation
import Synchronization
import Testing

@testable import TidemarkServer

@Suite(.timeLimit(.minutes(2))) struct `A server's executor` {
    /// State without a lock. Only the executor keeps the jobs apart.
    // @unchecked: the tests check whether the executor keeps the jobs apart.
    private final class Unguarded: @unchecked Sendable {
        var isBusy = false
        var overlaps = 0
        var count = 0

        func run() {
            if isBusy { overlaps += 1 }
            isBusy = true
            // The loop takes long enough for another job to arrive.
            for _ in 0..<1_000 { count += 1 }
            isBusy = false
        }
    }

    @Test func `runs a job here when nothing runs and nothing waits`() {
        let executor = QueueExecutor()
        let here = Thread.current
        var isHere = false
        let ran = executor.runIfIdle { isHere = Thread.current === here }
        #expect(ran)
        #expect(isHere)
    }

    @Test func `does not run a job inside another one, nor before one that waits`() {
        let executor = QueueExecutor()
        let order = Mutex<[String]>([])
        let (started, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        executor.async {
            started.signal()
            goOn.wait()
            order.withLock { $0.append("first") }
            #expect(!executor.runIfIdle { order.withLock { $0.append("inside") } })
        }
        started.wait()
        #expect(!executor.runIfIdle { order.withLock { $0.append("beside") } })
        executor.async { order.withLock { $0.append("second") } }
        #expect(!executor.runIfIdle { order.withLock { $0.append("before") } })
        goOn.signal()
        executor.sync {}
        #expect(order.withLock(\.self) == ["first", "second"])
        // The previous job can still be at its end.
        while !executor.runIfIdle({
            #expect(!executor.runIfIdle { order.withLock { $0.append("inside") } })
            // The job runs immediately within this job, because a wait for the executor would never
            // end.
            executor.sync { order.withLock { $0.append("at once") } }
            executor.async { order.withLock { $0.append("after") } }
            order.withLock { $0.append("here") }
        }) {}
        executor.sync {}
        #expect(order.withLock(\.self) == ["first", "second", "at once", "here", "after"])
    }

    @Test func `keeps jobs apart, wherever they run`() {
        let executor = QueueExecutor()
        let work = Unguarded()
        let here = Atomic(0)
        let (callers, each) = (8, 5_000)
        let timers = DispatchGroup()
        DispatchQueue.concurrentPerform(iterations: callers) { _ in
            for number in 0..<each {
                if number % 1_000 == 500 {
                    timers.enter()
                    executor.after(.microseconds(number)) {
                        work.run()
                        timers.leave()
                    }
                }
                if executor.runIfIdle({ work.run() }) {
                    here.add(1, ordering: .relaxed)
                } else {
                    executor.async { work.run() }
                }
            }
        }
        timers.wait()
        executor.sync {}
        #expect(work.overlaps == 0)
        #expect(work.count == 1_000 * callers * (each + each / 1_000))
        let ranHere = here.load(ordering: .relaxed)
        #expect(ranHere > 0)
    }
}
