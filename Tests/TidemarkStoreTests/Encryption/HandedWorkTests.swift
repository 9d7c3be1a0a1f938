import Foundation
import Synchronization
import Testing

@testable import TidemarkStore

struct HandedWorkTests {
    @Test func `work is done once, by either thread`() {
        let work = HandedWork()
        #expect(!work.settle(), "there is none")
        let done = Mutex<[Int]>([])
        var taken: [Int] = []
        for number in 0..<2_000 {
            work.hand { done.withLock { $0.append(number) } }
            if !work.settle() { taken.append(number) }
            #expect(!work.settle(), "it is settled")
        }
        // Work that was taken back never runs, even if later work takes its place.
        #expect((done.withLock { $0 } + taken).sorted() == Array(0..<2_000))
    }

    @Test func `what the second thread has begun is waited for`() {
        let work = HandedWork()
        let (begun, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let done = Atomic(0)
        work.hand {
            begun.signal()
            released.wait()
            done.add(1, ordering: .relaxed)
        }
        begun.wait()
        DispatchQueue.global().async { released.signal() }
        #expect(work.settle())
        let count = done.load(ordering: .relaxed)
        #expect(count == 1)
    }
}
