import Synchronization
import Testing

@testable import TidemarkWire

struct OutboxTests {
    @Test func `an outbox is crowded until half of what it holds is sent`() async {
        let room = Facts<Bool>()
        let outbox = Outbox<Int>(limit: 1_000, window: 100, onRoom: { room.add(true) })
        #expect(outbox.offer(1, bytes: 60) == .queued)
        #expect(outbox.offer(2, bytes: 60) == .crowded)
        #expect(await outbox.next() == [1, 2])
        // Elements that were taken but not sent still count.
        #expect(outbox.held.bytes == 120)
        #expect(outbox.isCrowded)
        outbox.didSend(60)
        #expect(outbox.isCrowded)
        outbox.didSend(20)
        #expect(!outbox.isCrowded)
        #expect(room.all.count == 1)
        outbox.finish()
        #expect(await outbox.next() == nil)
        #expect(outbox.held.bytes == 0)
    }

    @Test func `the reader that has waited longest is let go, of those that hold much`() async {
        let budget = SendBudget(limit: 1_000)
        let outboxes = (0..<4).map { _ in Outbox<Int>(limit: 10_000, budget: budget) }
        let evicted = Facts<Int>()
        for (number, outbox) in outboxes.enumerated() {
            _ = budget.register(
                SendBudget.Holder(
                    held: { outbox.held },
                    evict: {
                        evicted.add(number)
                        outbox.evict(with: [-1])
                    }))
        }
        // Outbox 0 holds little for the longest time, 1 and 2 are never read, and 3 is read.
        _ = outboxes[0].offer(0, bytes: 10)
        for round in 0..<3 {
            _ = outboxes[3].offer(round, bytes: 100)
            _ = await outboxes[3].next()
            outboxes[3].didSend(100)
            if round == 0 { _ = outboxes[1].offer(0, bytes: 400) }
            if round == 1 { _ = outboxes[2].offer(0, bytes: 450) }
        }
        #expect(budget.held == 860)
        _ = outboxes[3].offer(4, bytes: 200)
        #expect(evicted.all == [1])
        #expect(budget.held == 660)
        _ = outboxes[3].offer(5, bytes: 400)
        #expect(evicted.all == [1, 2])
        #expect(await outboxes[1].next() == [-1])
        #expect(await outboxes[1].next() == nil)
        #expect(outboxes[2].offer(6, bytes: 1) == .closed)
        #expect(await outboxes[3].next() == [4, 5])
    }

    @Test func `what is dropped is given back to the budget`() async {
        let budget = SendBudget(limit: 1_000)
        let outbox = Outbox<Int>(limit: 10_000, budget: budget)
        _ = outbox.offer(1, bytes: 100)
        _ = await outbox.next()
        _ = outbox.offer(2, bytes: 50)
        #expect(budget.held == 150)
        outbox.fail()
        #expect(budget.held == 0)
        outbox.didSend(100)
        #expect(budget.held == 0)
        outbox.evict(with: [])
        #expect(budget.held == 0)
    }
}
