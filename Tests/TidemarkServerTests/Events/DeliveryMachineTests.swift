import Testing
import TidemarkModel

@testable import TidemarkServer

struct `The delivery machine` {
    /// A machine, and what it has asked for.
    private struct Play {
        var machine: DeliveryMachine
        /// The attempts under way, by their number.
        var underWay: [Int: DeliveryMachine.Item] = [:]
        var timers: [(number: Int, pause: Duration)] = []
        var effects: [DeliveryMachine.Effect] = []

        init(attempts: Int = 3) {
            var policy = DeliveryPolicy()
            policy.maxAttempts = attempts
            machine = DeliveryMachine(policy: policy)
        }

        mutating func step(_ event: DeliveryMachine.Event) {
            effects = machine.step(event)
            for effect in effects {
                switch effect {
                case .deliver(let number, let item):
                    #expect(underWay.updateValue(item, forKey: number) == nil)
                case .startTimer(let number, let pause): timers.append((number, pause))
                default: break
                }
            }
        }

        /// The ids of the events under way.
        var ids: [Int64] { underWay.values.map(\.id).sorted() }

        mutating func answer(_ id: Int64, _ answer: DeliveryAnswer = .delivered) throws {
            let number = try #require(underWay.first { $0.value.id == id }?.key, "not under way")
            underWay[number] = nil
            step(.answered(number, answer))
        }

        mutating func ring() throws {
            try #require(!timers.isEmpty, "no timer")
            step(.timer(timers.removeFirst().number))
        }
    }

    private func item(
        _ id: Int64, _ path: String, trigger: Int64 = 1, change: Int64? = nil, depth: Int = 0
    ) throws -> DeliveryMachine.Item {
        DeliveryMachine.Item(
            id: id, trigger: trigger,
            document: DeliveryMachine.DocumentKey(
                database: try DatabaseID(project: "test"), path: try DocumentPath(path)),
            change: change ?? id, depth: depth)
    }

    @Test func `delivers a document's events one by one, and documents at once`() throws {
        var play = Play()
        play.step(.recorded([try item(1, "c/a"), try item(2, "c/b"), try item(3, "c/a")]))
        #expect(play.ids == [1, 2])
        try play.answer(2)
        #expect(play.ids == [1])
        try play.answer(1)
        #expect(play.ids == [3])
        try play.answer(3)
        #expect(play.machine.waitingCount == 0 && play.effects.count == 1)
    }

    @Test func `gives a change to all functions before the next`() throws {
        var play = Play()
        play.step(
            .recorded([
                try item(1, "c/a", trigger: 1, change: 5),
                try item(2, "c/a", trigger: 2, change: 5),
                try item(3, "c/a", trigger: 2, change: 6),
            ]))
        #expect(play.ids == [1, 2])
        try play.answer(2)
        #expect(play.ids == [1], "the other function has not taken the earlier change yet")
        try play.answer(1)
        #expect(play.ids == [3])
    }

    @Test func `lets only its own events wait for a function that fails`() throws {
        var play = Play()
        play.step(
            .recorded([
                try item(1, "c/a", trigger: 1), try item(2, "c/a", trigger: 2),
                try item(3, "c/a", trigger: 1),
            ]))
        #expect(play.ids == [1])
        try play.answer(1, .failed("500"))
        #expect(play.ids == [2])
        try play.answer(2)
        #expect(play.ids == [], "the later event of the failing function waits")
        #expect(play.timers.map { $0.pause } == [.milliseconds(250)])
        try play.ring()
        #expect(play.ids == [1])
        try play.answer(1)
        #expect(play.ids == [3])
    }

    @Test func `sets an event aside after its last attempt, and goes on`() throws {
        var play = Play(attempts: 3)
        let first = try item(1, "c/a")
        play.step(.recorded([first, try item(2, "c/a")]))
        for pause in [250, 1_000] {
            try play.answer(1, .failed("500"))
            #expect(play.timers.map { $0.pause } == [.milliseconds(pause)])
            try play.ring()
        }
        try play.answer(1, .failed("still 500"))
        var last = first
        last.attempts = 3
        #expect(play.effects.first == .setAside(last, reason: "still 500"))
        #expect(play.ids == [2])
    }

    @Test func `sets a refused event aside at once`() throws {
        var play = Play()
        let first = try item(1, "c/a")
        play.step(.recorded([first]))
        try play.answer(1, .refused("400"))
        #expect(play.effects == [.setAside(first, reason: "400")])
    }

    @Test func `asks an unreachable receiver again without an end, and counts no attempt`() throws {
        var play = Play(attempts: 1)
        play.step(
            .recorded([
                try item(1, "c/a"), try item(2, "c/b"), try item(3, "c/a", trigger: 2),
            ]))
        #expect(play.ids == [1, 2])
        try play.answer(1, .unreachable("refused"))
        #expect(play.ids == [2, 3], "another function is not held up")
        try play.answer(2, .unreachable("refused"))
        try play.answer(3)
        #expect(play.timers.count == 1, "the receiver is asked by one timer")
        var pauses: [Duration] = []
        for _ in 0..<12 {
            pauses.append(play.timers[0].pause)
            try play.ring()
            #expect(play.ids == [1, 2])
            try play.answer(1, .unreachable("refused"))
            try play.answer(2, .unreachable("refused"))
        }
        #expect(pauses[0] == .milliseconds(50) && pauses[1] == .milliseconds(100))
        #expect(pauses[11] == .seconds(5))
        try play.ring()
        try play.answer(1)
        try play.answer(2)
        #expect(play.machine.waitingCount == 0)
    }

    @Test func `forgets a key that its receiver does not know`() throws {
        var play = Play()
        play.step(.registered(1))
        play.step(.recorded([try item(1, "c/a"), try item(2, "c/b"), try item(3, "c/a")]))
        try play.answer(1, .unknownKey)
        #expect(play.effects == [.forget(1)])
        #expect(play.machine.waitingCount == 0 && play.machine.underWayCount == 0)
        try play.answer(2)
        #expect(play.effects.isEmpty, "an answer for a removed event has no effect")
    }

    @Test func `waits for a key of an earlier process to be registered again`() throws {
        var play = Play()
        play.step(.recorded([try item(1, "c/a")]))
        try play.answer(1, .unknownKey)
        #expect(play.machine.waitingCount == 1 && play.machine.isHeld(1))
        play.step(.registered(1))
        #expect(play.ids == [1])
        try play.answer(1, .unknownKey)
        #expect(play.effects == [.forget(1)])
    }

    @Test func `forgets a key of an earlier process that does not come back`() throws {
        var play = Play()
        play.step(.recorded([try item(1, "c/a")]))
        var rounds = 0
        while play.machine.waitingCount > 0 {
            try play.answer(1, .unknownKey)
            rounds += 1
            if play.machine.waitingCount > 0 { try play.ring() }
            try #require(rounds < 100)
        }
        #expect(rounds == play.machine.policy.maxHoldsOfUnknownKey + 1)
    }

    @Test func `bounds what is under way, for a trigger and for all`() throws {
        var play = Play()
        var items: [DeliveryMachine.Item] = []
        for id in 0..<500 {
            items.append(try item(Int64(id), "c/\(id)", trigger: Int64(id % 5)))
        }
        play.step(.recorded(items))
        #expect(play.underWay.count == DeliveryMachine.maxTotal)
        let most = Dictionary(grouping: play.underWay.values, by: \.trigger).mapValues(\.count)
        #expect(most.values.allSatisfy { $0 <= DeliveryMachine.maxPerTrigger })
        for id in play.ids { try play.answer(id) }
        #expect(play.underWay.count == DeliveryMachine.maxTotal)
    }

    @Test func `pauses and resumes`() throws {
        var play = Play()
        play.step(.paused)
        play.step(.recorded([try item(1, "c/a")]))
        #expect(play.ids.isEmpty)
        play.step(.resumed)
        #expect(play.ids == [1])
    }

    @Test func `is idle when all is delivered, and not before`() throws {
        var play = Play()
        play.step(.awaited(7))
        #expect(play.effects == [.idle([7])])
        play.step(.recorded([try item(1, "c/a")]))
        play.step(.awaited(8))
        play.step(.awaited(9))
        play.step(.abandoned(8))
        // The function writes while it runs.
        play.step(.recorded([try item(2, "c/b")]))
        try play.answer(1)
        #expect(!play.effects.contains(.idle([9])))
        try play.answer(2)
        #expect(play.effects.last == .idle([9]))
    }

    @Test func `finds the event that caused a write`() throws {
        var play = Play()
        let (a, b) = (try item(0, "c/a").document, try item(0, "c/b").document)
        #expect(play.machine.depth(of: a) == 0)
        play.step(.recorded([try item(1, "c/a", depth: 4)]))
        #expect(play.machine.depth(of: a) == 5 && play.machine.depth(of: b) == 5)
        play.step(.recorded([try item(2, "c/x"), try item(3, "c/a", depth: 9)]))
        #expect(play.machine.depth(of: a) == 5, "event 3 is not under way")
        #expect(play.machine.depth(of: b) == 0, "two events are under way")
        #expect(play.effects.allSatisfy { if case .loop = $0 { false } else { true } })
        let deep = try item(4, "c/y", depth: 10)
        play.step(.recorded([deep]))
        #expect(play.effects.first == .loop(deep))
    }

    @Test(arguments: UInt64(0)..<200)
    func `keeps each document's order, whatever functions answer`(seed: UInt64) throws {
        var chance = SeededRandom(seed: seed)
        func pick(_ count: Int) -> Int { Int(chance.next() % UInt64(count)) }
        var play = Play(attempts: 1_000)
        for trigger in 1...3 { play.step(.registered(Int64(trigger))) }
        var made: Int64 = 0
        var taken: [Int64: Set<Int64>] = [:]
        var newest: [String: Int64] = [:]
        var rounds = 0
        while made < 120 || play.machine.waitingCount > 0 {
            rounds += 1
            try #require(rounds < 20_000, "seed \(seed): no progress")
            switch pick(10) {
            case 0..<4 where made < 120:
                let path = "c/\(pick(4))"
                var items: [DeliveryMachine.Item] = []
                let change = made + 1
                for trigger in 1...3 where pick(2) == 0 {
                    made += 1
                    items.append(try item(made, path, trigger: Int64(trigger), change: change))
                }
                play.step(.recorded(items))
            case 4: if !play.timers.isEmpty { try play.ring() }
            case 5: play.step(pick(2) == 0 ? .paused : .resumed)
            default:
                guard let (_, event) = play.underWay.min(by: { $0.key < $1.key }) else {
                    play.step(.resumed)
                    if !play.timers.isEmpty { try play.ring() }
                    continue
                }
                switch pick(6) {
                case 0: try play.answer(event.id, .failed("500"))
                case 1: try play.answer(event.id, .unreachable("refused"))
                default:
                    let document = "\(event.trigger) \(event.document.path)"
                    #expect(newest[document] ?? 0 < event.id, "seed \(seed): out of order")
                    newest[document] = event.id
                    #expect(taken[event.trigger, default: []].insert(event.id).inserted)
                    try play.answer(event.id)
                }
            }
            #expect(play.underWay.count == play.machine.underWayCount)
        }
        #expect(taken.values.reduce(0) { $0 + $1.count } == made, "seed \(seed): lost events")
    }
}
