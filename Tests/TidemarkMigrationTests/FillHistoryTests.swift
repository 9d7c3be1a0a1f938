import Testing
import TestSupport
import TidemarkModel

@testable import TidemarkMigration

/// Plays migrations against a collection that others change at the same time, with lost answers
/// and kills at any moment. `TIDEMARK_MIGRATION_SEEDS=17` plays one seed, `0..<1000` more.
struct FillHistoryTests {
    /// A collection that keeps everything that happened to it.
    private struct World {
        struct Row {
            var version: Int64
            var changeTime: ChangeTime
            /// The version in which the migration has written, if it has.
            var filledFrom: Int64?
            var filledAt: Int64?
            /// The number of writes by others.
            var others = 0
        }

        var rows: [String: Row] = [:]
        /// The ids of all documents that others may change.
        var ids: [String] = []
        var now: Int64 = 1_000
        var random: SeededRandom

        mutating func tick() -> Int64 {
            now += 1
            return now
        }

        mutating func chance(_ percent: UInt64) -> Bool { random.next() % 100 < percent }

        /// Lets other writers do something.
        mutating func others() {
            for _ in 0..<8 {
                let id = ids[Int(random.next() % UInt64(ids.count))]
                if rows[id] == nil { continue }
                if chance(15) {
                    rows[id] = nil
                    continue
                }
                let version = tick()
                rows[id]?.version = version
                rows[id]?.others += 1
                let stamped = ChangeTime.time(time(version))
                if chance(30) { rows[id]?.changeTime = stamped }
            }
            if chance(10) {
                let id = "n\(random.next() % 10_000)"
                if rows[id] == nil {
                    let version = tick()
                    rows[id] = Row(version: version, changeTime: .time(time(version)))
                }
            }
        }

        func time(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds, nanoseconds: 0) }

        func seen(_ id: String) -> SeenDocument? {
            rows[id].map {
                SeenDocument(
                    path: DocumentPath(unchecked: "c/\(id)"), changeTime: $0.changeTime,
                    updateTime: time($0.version))
            }
        }

        mutating func write(_ stamp: FillMachine.Stamp) -> FillMachine.Written {
            let id = stamp.path.id
            guard let row = rows[id], time(row.version) == stamp.updateTime else {
                return .failed(RPCStatus(.failedPrecondition, "other version"))
            }
            let version = tick()
            rows[id] = Row(
                version: version, changeTime: .time(stamp.updateTime), filledFrom: row.version,
                filledAt: version, others: row.others)
            return .done(updateTime: time(now))
        }
    }

    /// Plays one process until it ends or is killed. Returns true if it ended.
    private func play(
        _ world: inout World, _ saved: inout FillProgress, steps: Int
    ) throws -> Bool {
        var machine = FillMachine(saved, rate: 3)
        var effect = machine.start()
        var clock = Duration.zero
        for _ in 0..<steps {
            world.others()
            let event: FillMachine.Event
            switch effect {
            case .end(.finished): return true
            case .end(.stopped(let status)):
                #expect(status.code == .unavailable)
                return false
            case .wait(let time):
                clock += time
                event = .woke
            case .save(let progress):
                saved = progress
                event = .saved
            case _ where world.chance(10):
                // The request never arrives.
                event = .failed(RPCStatus(.unavailable, "lost"))
            case .read(let last, let limit):
                let ids = world.rows.keys.sorted().filter { last.map(\.id) ?? "" < $0 }
                event = .page(
                    ids.prefix(limit).compactMap(world.seen), readTime: world.time(world.now))
            case .look(let paths):
                event = .found(paths.compactMap { world.seen($0.id) })
            case .write(let stamps):
                let results = stamps.map { world.write($0) }
                // The answer is lost after the server has written.
                event =
                    world.chance(10)
                    ? .failed(RPCStatus(.unavailable, "lost")) : .written(results)
            }
            effect = machine.step(event, at: clock)
        }
        return false
    }

    @Test(arguments: SeedRange("TIDEMARK_MIGRATION_SEEDS", 0..<200).all)
    func `every document gets its time, and no change of others is lost`(seed: UInt64) throws {
        var world = World(random: SeededRandom(seed: seed))
        for number in 0..<(700 + Int(world.random.next() % 600)) {
            let changeTime: ChangeTime =
                switch world.random.next() % 10 {
                case 0: .time(world.time(900))
                case 1: .other("number")
                default: .missing
                }
            let version = world.tick()
            world.rows["d\(10_000 + number)"] = World.Row(version: version, changeTime: changeTime)
        }
        // Few documents lack the time, and others change the same ones.
        for id in world.rows.keys.sorted() {
            if world.chance(96) {
                let early = ChangeTime.time(world.time(900))
                world.rows[id]?.changeTime = early
            }
            if world.rows[id]?.changeTime == .missing || world.chance(2) { world.ids.append(id) }
        }
        var saved = FillProgress()
        var rounds = 0
        while !saved.isFinished {
            rounds += 1
            try #require(rounds < 200, "seed \(seed): it makes no progress")
            let steps = 3 + Int(world.random.next() % 120)
            _ = try play(&world, &saved, steps: steps)
        }
        let window = try #require(saved.window)
        var open = 0
        for (id, row) in world.rows.sorted(by: { $0.key < $1.key }) {
            if row.changeTime == .missing { open += 1 }
            if let from = row.filledFrom, row.others == 0 {
                #expect(row.changeTime == .time(world.time(from)), "seed \(seed): \(id)")
            }
            if let at = row.filledAt {
                #expect(window.contains(world.time(at)), "seed \(seed): \(id) outside \(window)")
            }
        }
        #expect(open <= saved.unsettled.count, "seed \(seed)")
    }
}
