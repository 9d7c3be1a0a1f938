import Testing

@testable import Tidemark

@Suite(.timeLimit(.minutes(2))) struct `A gate of demand` {
    @Test func `lets as many through as are asked for`() async {
        let gate = DemandGate()
        gate.request(2)
        #expect(await gate.take())
        #expect(await gate.take())
        async let third = gate.take()
        gate.request(0)
        gate.request(1)
        #expect(await third)
        gate.request(.max)
        gate.request(.max)
        for _ in 0..<10 { #expect(await gate.take(), "more than a number can say is no limit") }
    }

    @Test func `lets all through without a limit, and nothing once it is closed`() async {
        let gate = DemandGate()
        gate.request(nil)
        for _ in 0..<10 { #expect(await gate.take()) }
        gate.request(1)
        #expect(await gate.take())
        gate.close()
        #expect(await !gate.take())
        let other = DemandGate()
        async let waiting = other.take()
        other.close()
        #expect(await !waiting)
    }
}
