import Testing

@testable import TidemarkHealth

struct `The summary's decisions` {
    private static let all = Set(HealthSummary.Item.allCases)

    @Test func `read everything at once when it is opened`() {
        var machine = SummaryMachine()
        #expect(machine.step(.changed([.steps])) == [])
        #expect(machine.step(.opened) == [.read(Self.all)])
        #expect(machine.step(.opened) == [])
    }

    @Test func `make one read of many changes`() {
        var machine = SummaryMachine()
        _ = machine.step(.opened)
        _ = machine.step(.readEnded)
        #expect(
            machine.step(.changed([.weight]))
                == [.markStale([.body, .lastWeights]), .startTimer])
        for _ in 0..<1_000 {
            #expect(machine.step(.changed([.steps])) == [.markStale([.stepsToday, .stepsHours])])
        }
        #expect(
            machine.step(.timerFired)
                == [.read([.body, .lastWeights, .stepsToday, .stepsHours])])
        #expect(machine.step(.readEnded) == [])
    }

    @Test func `do not read what they do not show`() {
        var machine = SummaryMachine()
        _ = machine.step(.opened)
        _ = machine.step(.readEnded)
        #expect(machine.step(.changed([.flights, .exercise])) == [])
    }

    @Test func `never run two reads at once, and lose no change`() {
        var machine = SummaryMachine()
        _ = machine.step(.opened)
        #expect(machine.step(.changed([.mood])) == [.markStale([.mood]), .startTimer])
        #expect(machine.isOutOfDate(.mood))
        #expect(machine.step(.timerFired) == [])
        #expect(machine.step(.readEnded) == [.read([.mood])])
        #expect(machine.step(.changed([.mood])) == [.markStale([.mood]), .startTimer])
        #expect(machine.step(.readEnded) == [])
        #expect(machine.step(.timerFired) == [.read([.mood])])
        #expect(!machine.isOutOfDate(.mood))
    }
}
