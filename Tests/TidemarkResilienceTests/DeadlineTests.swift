import Testing

@testable import TidemarkResilience

@Suite struct `Deadlines` {
    @Test func `tells what is left`() {
        let deadline = Deadline(after: .seconds(2), from: .seconds(10))
        #expect(deadline.remaining(at: .seconds(10)) == .seconds(2))
        #expect(deadline.remaining(at: .seconds(11.5)) == .seconds(0.5))
        #expect(deadline.remaining(at: .seconds(99)) == .zero)
        #expect(!deadline.hasPassed(at: .seconds(11.999)))
        #expect(deadline.hasPassed(at: .seconds(12)))
    }

    @Test func `without a timeout it never passes`() {
        let deadline = Deadline(after: nil, from: .seconds(1))
        #expect(deadline == .never)
        #expect(deadline.remaining(at: .seconds(1e9)) == nil)
        #expect(!deadline.hasPassed(at: .seconds(1e9)))
        #expect(deadline.allows(.seconds(1e9), at: .zero))
    }

    @Test func `a negative timeout has passed at once`() {
        #expect(Deadline(after: .seconds(-1), from: .seconds(5)).hasPassed(at: .seconds(5)))
    }

    @Test func `does not allow a wait that cannot end in time`() {
        let deadline = Deadline(at: .seconds(3))
        #expect(deadline.allows(.seconds(1), at: .seconds(2)))
        #expect(!deadline.allows(.seconds(1.1), at: .seconds(2)))
    }

    @Test func `the tighter of two wins`() {
        let early = Deadline(at: .seconds(1))
        let late = Deadline(at: .seconds(2))
        #expect(late.tightened(to: early) == early)
        #expect(early.tightened(to: late) == early)
        #expect(Deadline.never.tightened(to: late) == late)
        #expect(late.tightened(to: .never) == late)
        #expect([.never, late, early].sorted() == [early, late, .never])
    }
}
