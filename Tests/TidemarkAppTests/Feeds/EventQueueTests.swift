import Testing

@testable import TidemarkApp

struct `A queue of events` {
    @Test func `gives its events in their order, and asks to be taken once`() {
        let queue = EventQueue<Int>()
        #expect(queue.add(1))
        #expect(!queue.add(2))
        #expect(queue.take() == [1, 2])
        #expect(!queue.add(3), "the task that takes the events looks again")
        #expect(queue.take() == [3] && queue.take().isEmpty)
        #expect(queue.add(4))
    }
}
