import Testing

@testable import TidemarkREST

struct ChannelMachineTests {
    private var machine = ChannelMachine(now: .zero)

    private static func frame(_ arrays: String, isLast: Bool = false) -> ChannelMachine.Taken {
        .frame(ChannelMachine.frame(arrays), isLast: isLast)
    }

    private mutating func open(
        _ id: Int, after acknowledged: Int = 0, isPolling: Bool = false, now: Duration = .zero
    ) {
        _ = machine.step(
            .backOpened(
                id: id, acknowledged: acknowledged, isPolling: isPolling, wait: .seconds(30)),
            now: now)
    }

    @Test func `a frame counts by UTF-16`() {
        #expect(ChannelMachine.frame("\"é😀\"") == "5\n\"é😀\"")
    }

    @Test mutating func `a streaming answer begins with a noop`() {
        open(1)
        #expect(machine.take(back: 1, now: .zero) == Self.frame(#"[[1,["noop"]]]"#))
        #expect(machine.take(back: 1, now: .zero) == .wait)
        #expect(machine.step(.payload("[1]"), now: .zero) == [.wake])
        #expect(machine.take(back: 1, now: .zero) == Self.frame("[[2,[1]]]"))
    }

    @Test mutating func `a poll ends with what there is, or with a noop when its time is over`() {
        _ = machine.step(.payload("[1]"), now: .zero)
        _ = machine.step(.payload("[2]"), now: .zero)
        open(1, isPolling: true)
        #expect(machine.take(back: 1, now: .zero) == Self.frame("[[1,[1]],[2,[2]]]", isLast: true))
        open(2, after: 2, isPolling: true)
        #expect(machine.take(back: 2, now: .zero) == .wait)
        #expect(machine.step(.tick, now: .seconds(29)) == [])
        #expect(machine.step(.tick, now: .seconds(30)) == [.wake])
        #expect(
            machine.take(back: 2, now: .seconds(30))
                == Self.frame(#"[[3,["noop"]]]"#, isLast: true))
    }

    @Test mutating func `an answer is never empty, not even after the end`() {
        _ = machine.step(.finished, now: .zero)
        for (id, isPolling) in [(1, true), (2, false)] {
            open(id, after: id - 1, isPolling: isPolling)
            guard case .frame = machine.take(back: id, now: .zero) else {
                Issue.record("nothing was sent")
                return
            }
            #expect(machine.take(back: id, now: .zero) == .end)
        }
    }

    @Test mutating func `what was not confirmed comes again on the next answer`() {
        open(1)
        _ = machine.take(back: 1, now: .zero)
        _ = machine.step(.payload("[1]"), now: .zero)
        _ = machine.take(back: 1, now: .zero)
        open(2, after: 1)
        #expect(machine.take(back: 1, now: .zero) == .end, "the old answer is over")
        #expect(machine.take(back: 2, now: .zero) == Self.frame("[[2,[1]]]"))
    }

    @Test
    mutating func `noops come before the browser gives up, and an answer ends after a minute`() {
        open(1)
        _ = machine.take(back: 1, now: .zero)
        #expect(machine.step(.tick, now: .seconds(24)) == [])
        #expect(machine.step(.tick, now: .seconds(25)) == [.wake])
        #expect(machine.take(back: 1, now: .seconds(25)) == Self.frame(#"[[2,["noop"]]]"#))
        #expect(machine.step(.tick, now: .seconds(60)) == [.wake])
        #expect(machine.take(back: 1, now: .seconds(60)) == .end)
    }

    /// Returns a stream of writes whose back channel is open and has taken every frame.
    private func writing(_ payloads: String..., now: Duration) -> ChannelMachine {
        var machine = ChannelMachine(now: .zero, endsWhenQuiet: true)
        _ = machine.step(
            .maps(payloads, first: 0, acknowledged: nil), now: .zero)
        _ = machine.step(
            .backOpened(id: 1, acknowledged: 0, isPolling: false, wait: .zero), now: .zero)
        for payload in payloads { _ = machine.step(.payload(payload), now: now) }
        while case .frame = machine.take(back: 1, now: now) {}
        return machine
    }

    @Test func `a stream of writes ends two seconds after its last answer`() {
        var machine = writing("[1]", "[2]", now: .seconds(5))
        #expect(machine.step(.tick, now: .milliseconds(6_999)) == [])
        #expect(!machine.isEnded)
        #expect(machine.step(.tick, now: .seconds(7)) == [.wake, .end])
        #expect(machine.isEnded)
        #expect(
            machine.take(back: 1, now: .seconds(7)) == Self.frame(#"[[4,["close"]]]"#))
        _ = machine.step(.finished, now: .seconds(7))
        #expect(machine.take(back: 1, now: .seconds(7)) == .end)
        #expect(machine.step(.tick, now: .seconds(80)) == [], "once")
    }

    @Test func `what comes after the end is neither taken nor sent`() {
        func maps(_ maps: [String], _ first: Int) -> ChannelMachine.Event {
            .maps(maps, first: first, acknowledged: nil)
        }
        var machine = writing("[1]", "[2]", now: .zero)
        _ = machine.step(.tick, now: .seconds(2))
        // If the write were applied here and again on another stream, it would be applied twice.
        #expect(machine.step(maps(["late"], 2), now: .seconds(2)) == [.refuse])
        #expect(machine.step(maps(["[2]", "late"], 1), now: .seconds(2)) == [.refuse])
        #expect(machine.step(maps(["[2]"], 1), now: .seconds(2)) == [], "it was taken before")
        #expect(machine.step(.payload("[3]"), now: .seconds(2)) == [])
    }

    @Test func `a stream of writes goes on while something is not answered, sent or in its turn`() {
        func maps(_ maps: [String], _ first: Int) -> ChannelMachine.Event {
            .maps(maps, first: first, acknowledged: nil)
        }
        var unanswered = writing("[1]", now: .zero)
        _ = unanswered.step(maps(["write"], 1), now: .zero)
        #expect(unanswered.step(.tick, now: .seconds(20)) == [])
        _ = unanswered.step(.payload("[2]"), now: .seconds(20))
        #expect(unanswered.step(.tick, now: .seconds(23)) == [], "it is not sent")
        var early = writing("[1]", now: .zero)
        _ = early.step(maps(["later"], 2), now: .zero)
        #expect(early.step(.tick, now: .seconds(20)) == [])
        var left = writing("[1]", now: .zero)
        _ = left.step(.backLost(id: 1), now: .zero)
        #expect(left.step(.tick, now: .seconds(60)) == [], "nobody would hear of it")
        for machine in [unanswered, early, left] { #expect(!machine.isEnded) }
    }

    @Test mutating func `a quiet listen does not end`() {
        open(1)
        _ = machine.step(.maps(["query"], first: 0, acknowledged: nil), now: .zero)
        _ = machine.step(.payload("[1]"), now: .zero)
        _ = machine.take(back: 1, now: .zero)
        #expect(machine.step(.tick, now: .seconds(20)) == [])
        #expect(!machine.isEnded)
    }

    @Test mutating func `maps are delivered in order and once`() {
        func maps(_ maps: [String], _ first: Int) -> ChannelMachine.Event {
            .maps(maps, first: first, acknowledged: nil)
        }
        #expect(machine.step(maps(["c", "d"], 2), now: .zero) == [])
        #expect(machine.step(maps(["a"], 0), now: .zero) == [.deliver(["a"])])
        #expect(
            machine.step(maps(["a", "b", "c"], 0), now: .zero) == [.deliver(["b", "c", "d"])])
        #expect(machine.step(maps(["d"], 3), now: .zero) == [])
    }

    @Test mutating func `too much before its turn is refused`() {
        let maps = Array(repeating: "x", count: ChannelMachine.maxEarlyMaps + 1)
        #expect(
            machine.step(.maps(maps, first: 1, acknowledged: nil), now: .zero) == [.refuse])
    }

    @Test
    mutating func `a reader that takes nothing stops the writer, and a confirmation frees it`() {
        let payload = "[" + String(repeating: "1", count: 100_000) + "]"
        var count = 0
        while !machine.isCrowded {
            _ = machine.step(.payload(payload), now: .zero)
            count += 1
        }
        #expect(machine.keptBytes < ChannelMachine.window + payload.utf8.count + 100)
        #expect(machine.step(.maps([], first: 0, acknowledged: 2), now: .zero) == [])
        #expect(machine.step(.maps([], first: 0, acknowledged: count), now: .zero) == [.room])
        #expect(machine.keptBytes == 0)
    }

    @Test mutating func `an answer carries so much and then ends`() {
        for _ in 0..<20 {
            _ = machine.step(
                .payload("[" + String(repeating: "1", count: 50_000) + "]"), now: .zero)
        }
        open(1)
        var bytes = 0
        var isOver = false
        while !isOver, case .frame(let text, let isLast) = machine.take(back: 1, now: .zero) {
            bytes += text.utf8.count
            isOver = isLast
        }
        #expect(isOver)
        #expect((ChannelMachine.answerBytes..<ChannelMachine.answerBytes + 150_000).contains(bytes))
    }

    @Test mutating func `a session that nobody asks for is dropped`() {
        #expect(machine.step(.tick, now: .seconds(149)) == [])
        #expect(machine.step(.tick, now: .seconds(150)) == [.expire])
        open(1, now: .seconds(150))
        #expect(machine.step(.tick, now: .seconds(290)) == [], "a noop waits to be taken")
        #expect(machine.step(.tick, now: .seconds(800)) == [.expire], "it is not even taken")
    }
}

/// Random sessions with answers that are lost half way, and with requests that arrive twice and in
/// any order.
struct ChannelHistoryTests {
    @Test(arguments: UInt64(0)..<200)
    func `nothing is lost or doubled in either direction`(seed: UInt64) {
        var dice = SeededDice(seed)
        var machine = ChannelMachine(now: .zero)
        var now = Duration.zero
        var said = 0
        var heard: [Int] = []
        var confirmed = 0
        var back = 0
        var sent = 0
        var delivered: [String] = []
        func take(_ effects: [ChannelMachine.Effect]) {
            for case .deliver(let maps) in effects { delivered += maps }
        }
        for _ in 0..<400 {
            now += .milliseconds(dice.number(3_000))
            switch dice.number(6) {
            case 0:
                said += 1
                _ = machine.step(.payload("\(said)"), now: now)
            case 1:
                // The client sends some of the earlier maps again.
                let first = max(0, sent - dice.number(4))
                let last = sent + dice.number(4)
                take(
                    machine.step(
                        .maps(
                            (first..<last).map { "\($0)" }, first: first,
                            acknowledged: dice.number(2) == 0 ? confirmed : nil), now: now))
                sent = max(sent, last)
            case 2:
                back += 1
                _ = machine.step(
                    .backOpened(
                        id: back, acknowledged: confirmed, isPolling: dice.number(2) == 0,
                        wait: .seconds(10)), now: now)
            case 3: _ = machine.step(.tick, now: now)
            case 4: _ = machine.step(.backLost(id: back), now: now)
            default:
                guard case .frame(let text, _) = machine.take(back: back, now: now) else { break }
                // Half of the frames never arrive, and the browser then requests them again.
                if dice.number(2) == 0 {
                    back += 1
                    _ = machine.step(
                        .backOpened(
                            id: back, acknowledged: confirmed, isPolling: false, wait: .zero),
                        now: now)
                } else {
                    for (number, payload) in Self.arrays(text) {
                        #expect(number == confirmed + 1, "seed \(seed)")
                        confirmed = number
                        if let payload { heard.append(payload) }
                    }
                }
            }
        }
        back += 1
        _ = machine.step(
            .backOpened(id: back, acknowledged: confirmed, isPolling: false, wait: .zero), now: now)
        while case .frame(let text, _) = machine.take(back: back, now: now) {
            for (_, payload) in Self.arrays(text) { if let payload { heard.append(payload) } }
        }
        #expect(heard == Array(1..<(said + 1)), "seed \(seed)")
        #expect(delivered == (0..<sent).map { "\($0)" }, "seed \(seed)")
    }

    /// Returns the numbers and payloads; nil for a noop.
    private static func arrays(_ frame: String) -> [(Int, Int?)] {
        frame.matches(of: /\[(\d+),(\d+|\["noop"\])\]/).map { (Int($0.1) ?? 0, Int($0.2)) }
    }
}

/// Returns the same numbers for the same seed.
struct SeededDice {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func number(_ limit: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(limit))
    }
}
