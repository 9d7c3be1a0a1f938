import Testing
import Tidemark

@testable import TidemarkApp

/// Plays backfills against a disk, a server and a process that fail and die at every point.
struct `A backfill under faults` {
    private struct Dice {
        var state: UInt64
        mutating func roll(_ count: Int) -> Int {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return Int((z ^ (z >> 31)) % UInt64(count))
        }
    }

    /// A machine with its source and its disk. A kill keeps the stored items, the uploaded items
    /// and the coverage.
    private struct World {
        static let end: Int64 = 400 * 86_400

        var dice: Dice
        let job: BackfillJob
        let items: [Int64]
        var stored: Set<Int64> = []
        var uploaded: Set<Int64> = []
        var uploads = 0
        var coverage = Coverage()
        var machine: BackfillMachine
        var part: [Int64] = []
        var pending: [BackfillMachine.Effect] = []
        var timers: [Int] = []
        var conditions = BackfillConditions()
        var now = Duration.zero
        var kills = 0

        init(seed: UInt64) {
            var dice = Dice(state: seed)
            let days = Int64(8 + dice.roll(200))
            job = BackfillJob(
                name: "history", from: Timestamp(seconds: Self.end - days * 86_400, nanoseconds: 0),
                to: Timestamp(seconds: Self.end, nanoseconds: 0))
            let count = dice.roll(120)
            let length = Int(days * 86_400)
            let times = (0..<count).map { _ in Self.end - 1 - Int64(dice.roll(length)) }
            items = Set(times).sorted()
            self.dice = dice
            machine = BackfillMachine([job])
        }

        mutating func launch() {
            machine = BackfillMachine([job], budget: BackfillBudget(reads: 20 + dice.roll(50)))
            part = []
            pending = []
            timers = []
            take(machine.step(.started([coverage]), now: now))
        }

        mutating func take(_ effects: [BackfillMachine.Effect]) {
            for effect in effects {
                switch effect {
                case .show: break
                case .startTimer(let number, _): timers.append(number)
                default: pending.append(effect)
                }
            }
        }

        mutating func answer(_ event: BackfillMachine.Event) {
            take(machine.step(event, now: now))
        }

        /// Returns the part that a source finds: at most the newest ten items of the range.
        mutating func fetch(_ range: Range<CoveragePosition>) -> BackfillMachine.Part {
            let inside = items.filter { item in
                let time = Timestamp(seconds: item, nanoseconds: 0)
                return range.lowerBound <= .start(of: time) && .start(of: time) < range.upperBound
            }
            part = Array(inside.suffix(10))
            let isWhole = part.count == inside.count
            return BackfillMachine.Part(
                reached: isWhole
                    ? range.lowerBound
                    : .start(of: Timestamp(seconds: part[0], nanoseconds: 0)),
                asOf: Timestamp(seconds: Self.end, nanoseconds: 0), samples: part.count, bytes: 1,
                reads: max(1, part.count))
        }

        /// - Parameter faulty: True if faults happen.
        mutating func tick(faulty: Bool) {
            now += .seconds(1)
            if faulty { disturb() }
            if faulty, dice.roll(12) == 0 { return die() }
            guard !pending.isEmpty else { return wake(faulty: faulty) }
            let effect = pending.removeFirst()
            let fate = faulty ? dice.roll(6) : 5
            if fate == 0 { return answer(.failed(.transient("before"))) }
            let event: BackfillMachine.Event
            switch effect {
            case .fetch(_, let range): event = .fetched(fetch(range))
            case .store:
                stored.formUnion(part)
                event = .stored
            case .upload:
                uploaded.formUnion(part)
                uploads += 1
                event = .uploaded(writes: part.count)
            case .cover(_, let next):
                coverage = next
                event = .covered
            case .show, .startTimer: return
            }
            // The act succeeded, but its answer is lost, alone or together with the process.
            if fate == 1 { return die() }
            if fate == 2 { return answer(.failed(.transient("after"))) }
            answer(event)
        }

        private mutating func disturb() {
            switch dice.roll(10) {
            case 0: conditions.isOnline.toggle()
            case 1: conditions.isLowPower.toggle()
            case 2: conditions.peopleWaiting = dice.roll(2)
            default: return
            }
            answer(.conditionsChanged(conditions))
        }

        private mutating func wake(faulty: Bool) {
            if !timers.isEmpty { return answer(.timerFired(timers.removeFirst())) }
            if case .held(.budget) = machine.progress.phase { return answer(.budgetRenewed) }
            if machine.progress.phase == .failed { answer(.retried) }
        }

        private mutating func die() {
            kills += 1
            launch()
        }

        /// Returns an item that is covered but not both stored and uploaded; nil if there is none.
        func broken() -> Int64? {
            items.first { item in
                let position = CoveragePosition.start(
                    of: Timestamp(seconds: item, nanoseconds: 0))
                let isCovered = coverage.intervals.contains {
                    $0.lower <= position && position < $0.upper
                }
                return isCovered && !(stored.contains(item) && uploaded.contains(item))
            }
        }
    }

    @Test(arguments: UInt64(0)..<300)
    func `covers nothing that is not stored and uploaded, and all in the end`(seed: UInt64) {
        var world = World(seed: seed)
        world.launch()
        for _ in 0..<200 {
            world.tick(faulty: true)
            #expect(world.broken() == nil, "seed \(seed)")
        }
        world.conditions = BackfillConditions()
        world.answer(.conditionsChanged(world.conditions))
        for _ in 0..<3_000 where world.machine.progress.phase != .complete {
            world.tick(faulty: false)
            #expect(world.broken() == nil, "seed \(seed)")
        }
        #expect(world.machine.progress.phase == .complete, "seed \(seed)")
        #expect(world.uploaded == Set(world.items), "seed \(seed)")
        #expect(world.stored == Set(world.items), "seed \(seed)")
        #expect(world.coverage.contains(world.job.range), "seed \(seed)")
    }
}
