import Testing

@testable import TidemarkResilience

struct `Backing off` {
    @Test func `waits nothing, then a second, then half as long again, up to a minute`() {
        var backoff = Backoff()
        let delays = (0..<14).map { _ in backoff.next(jitter: 0.5) }
        #expect(delays[0] == .zero)
        #expect(delays[1] == .seconds(1))
        #expect(delays[2] == .seconds(1.5))
        #expect(delays[3] == .seconds(2.25))
        #expect(delays[11] < .seconds(60))
        #expect(delays[12] == .seconds(60))
        #expect(delays[13] == .seconds(60))
    }

    @Test(arguments: [(0.0, 0.5), (0.25, 0.75), (0.5, 1.0), (0.75, 1.25)])
    func `moves a delay by up to half either way`(jitter: Double, seconds: Double) {
        var backoff = Backoff()
        _ = backoff.next(jitter: 0)
        #expect(backoff.next(jitter: jitter) == .seconds(seconds))
    }

    @Test func `counts a delay from the last attempt`() {
        var backoff = Backoff()
        _ = backoff.next(jitter: 0.5)
        #expect(
            backoff.next(jitter: 0.5, sinceLastAttempt: .milliseconds(400)) == .milliseconds(600))
        #expect(backoff.next(jitter: 0.5, sinceLastAttempt: .seconds(9)) == .zero)
        #expect(
            backoff.next(jitter: 0.5, sinceLastAttempt: .seconds(-9)) == .seconds(2.25),
            "a clock that went back does not lengthen the wait")
    }

    @Test func `starts over after a success`() {
        var backoff = Backoff()
        for _ in 0..<5 { _ = backoff.next(jitter: 0.9) }
        backoff.reset()
        #expect(backoff == Backoff())
        #expect(backoff.next(jitter: 0.5) == .zero)
        #expect(backoff.next(jitter: 0.5) == .seconds(1))
    }

    @Test func `lets one attempt go at once when inhibited, and remembers the run`() {
        var backoff = Backoff()
        for _ in 0..<3 { _ = backoff.next(jitter: 0.5) }
        backoff.inhibit()
        #expect(backoff.next(jitter: 0.5) == .zero)
        #expect(backoff.next(jitter: 0.5) > .seconds(3))
    }

    @Test func `goes to the longest delay when the server has had too much`() {
        var backoff = Backoff()
        backoff.inhibit()
        backoff.jumpToMaximum()
        #expect(backoff.next(jitter: 0.5) == .seconds(60))
        #expect(backoff.next(jitter: 0.5) == .seconds(60))
    }
}
