import Testing
import TidemarkModel

@testable import TidemarkServer

struct PacingTests {
    private func arrivals(
        _ pacing: Pacing, _ sends: [(at: Duration, bytes: Int)], rolls: [Double] = []
    ) -> [Duration] {
        var pacing = pacing
        var rolls = rolls.makeIterator()
        return sends.map { pacing.arrival(of: $0.bytes, at: $0.at) { rolls.next() ?? 0.5 } }
    }

    @Test func `latency moves everything, and does not add up`() {
        var pacing = Pacing()
        pacing.latency = .milliseconds(200)
        #expect(
            arrivals(pacing, [(.zero, 1), (.milliseconds(50), 1)])
                == [.milliseconds(200), .milliseconds(250)])
    }

    @Test func `a narrow line makes the later wait for the earlier`() {
        var pacing = Pacing()
        pacing.bytesPerSecond = 1_000
        #expect(
            arrivals(pacing, [(.zero, 500), (.zero, 500), (.seconds(10), 1_000)])
                == [.milliseconds(500), .seconds(1), .seconds(11)])
    }

    @Test func `jitter goes both ways, and never changes the order`() {
        var pacing = Pacing()
        pacing.latency = .milliseconds(100)
        pacing.jitter = .milliseconds(50)
        #expect(
            arrivals(pacing, [(.zero, 1), (.zero, 1)], rolls: [1, 0])
                == [.milliseconds(150), .milliseconds(150)])
        #expect(arrivals(pacing, [(.zero, 1)], rolls: [0]) == [.milliseconds(50)])
    }

    @Test func `a lost packet holds up what is behind it`() {
        var pacing = Pacing()
        pacing.loss = 0.02
        pacing.recovery = .milliseconds(400)
        #expect(
            arrivals(
                pacing, [(.zero, 100), (.zero, 3_000), (.zero, 100)],
                rolls: [0.5, 0.01, 0.5, 0.001])
                == [.zero, .milliseconds(800), .milliseconds(800)])
    }

    @Test func `a line that changes keeps what is under way`() {
        var pacing = Pacing()
        pacing.latency = .seconds(1)
        _ = pacing.arrival(of: 1, at: .zero) { 0.5 }
        pacing.change(to: Pacing())
        #expect(pacing.arrival(of: 1, at: .zero) { 0.5 } == .seconds(1))
        #expect(pacing.arrival(of: 1, at: .seconds(2)) { 0.5 } == .seconds(2))
    }
}

struct PacedLineTests {
    @Test func `a line holds so many bytes, and one element whatever its size`() {
        let environment = FaultEnvironment(
            elapsed: { .zero }, schedule: { _, _ in Timer() }, random: { 0.5 })
        var pacing = Pacing()
        pacing.latency = .seconds(60)
        let line = PacedLine<Int>(pacing, environment) { _ in }
        #expect(line.enqueue(0, bytes: PacedLine<Int>.maxBytes + 1), "alone it passes")
        #expect(!line.enqueue(1, bytes: 1))
        let other = PacedLine<Int>(pacing, environment) { _ in }
        let part = 1 << 20
        let taken = (0..<100).filter { other.enqueue($0, bytes: part) }
        #expect(taken.count == PacedLine<Int>.maxBytes / part)
        other.close(with: 7)
        let third = PacedLine<Int>(Pacing(), environment) { _ in }
        for number in 0..<100 {
            #expect(third.enqueue(number, bytes: part), "what has arrived is counted no more")
            third.pump()
        }
    }

    private final class Timer: CancellableCall {
        func cancel() {}
    }
}
