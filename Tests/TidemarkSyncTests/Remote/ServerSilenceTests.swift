import Testing

@testable import TidemarkSync

struct ServerSilenceTests {
    @Test func `silence counts from the oldest call without an answer`() {
        var silence = ServerSilence()
        #expect(silence.duration(at: .seconds(9)) == .zero)
        silence.asked(at: .seconds(1))
        silence.asked(at: .seconds(4))
        #expect(silence.duration(at: .seconds(9)) == .seconds(8))
        silence.heard()
        #expect(silence.duration(at: .seconds(9)) == .zero)
        silence.asked(at: .seconds(10))
        #expect(silence.duration(at: .seconds(12)) == .seconds(2))
    }

    @Test func `the first failure is probed at once, the next ones less and less often`() {
        var silence = ServerSilence()
        #expect(silence.mayProbe(at: .zero))
        silence.asked(at: .zero)
        silence.unreachable(at: .zero, jitter: 0.5)
        #expect(silence.duration(at: .seconds(1)) == .zero, "a refusal is no silence")
        #expect(silence.mayProbe(at: .zero))
        var now = Duration.zero
        var pauses: [Duration] = []
        for _ in 0..<3 {
            silence.unreachable(at: now, jitter: 0.5)
            let start = now
            while !silence.mayProbe(at: now) { now += .milliseconds(100) }
            pauses.append(now - start)
        }
        #expect(pauses[0] > .zero && pauses[0] < pauses[1] && pauses[1] < pauses[2])
    }

    @Test func `nobody waits once the server was heard`() {
        var silence = ServerSilence()
        for _ in 0..<4 { silence.unreachable(at: .seconds(1), jitter: 0.5) }
        #expect(!silence.mayProbe(at: .seconds(1)))
        silence.forgetProbes()
        #expect(silence.mayProbe(at: .seconds(1)))
        silence.unreachable(at: .seconds(2), jitter: 0.5)
        #expect(silence.mayProbe(at: .seconds(2)), "failures are counted anew")
    }
}
