import Testing
import TidemarkModel

@testable import TidemarkSync

struct ServerClockTests {
    private func now(_ clock: ServerClock, _ elapsed: Duration) -> Timestamp {
        clock.now(elapsed: elapsed) { at(7) }
    }

    @Test func `before the server was heard it is the device's`() {
        var clock = ServerClock()
        #expect(!clock.isKnown && now(clock, .seconds(5)) == at(7))
        clock.heard(nil, elapsed: .zero)
        clock.heard(.epoch, elapsed: .zero)
        #expect(!clock.isKnown)
    }

    @Test func `it goes on from what the server said`() {
        var clock = ServerClock()
        clock.heard(at(1_000_000), elapsed: .seconds(2))
        #expect(clock.isKnown && now(clock, .seconds(5)) == at(4_000_000))
    }

    @Test func `an answer of a while ago does not turn it back`() {
        var clock = ServerClock()
        clock.heard(at(10_000_000), elapsed: .seconds(0))
        clock.heard(at(10_500_000), elapsed: .seconds(1))
        #expect(now(clock, .seconds(1)) == at(11_000_000))
        clock.heard(at(12_000_000), elapsed: .seconds(1))
        #expect(now(clock, .seconds(2)) == at(13_000_000))
    }
}
