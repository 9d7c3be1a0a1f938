import Foundation
import Testing
import Tidemark
import TidemarkApp

struct `A prefetch predictor` {
    private let utc = TimeZone(identifier: "UTC")!
    /// Monday, 6 November 2023, midnight.
    private let monday = Timestamp(seconds: 1_699_228_800, nanoseconds: 0)

    private func time(_ day: Int, _ hour: Int, _ minute: Int = 0) -> Timestamp {
        monday.advanced(by: .seconds(day * 86_400 + hour * 3_600 + minute * 60))
    }

    /// Returns a predictor after `days` days, with an opening at 8:20 on each weekday.
    private func commuter(_ days: Int) -> PrefetchPredictor {
        var predictor = PrefetchPredictor(timeZone: utc)
        for day in 0..<days where day % 7 < 5 { predictor.opened("chats", at: time(day, 8, 20)) }
        return predictor
    }

    @Test func `finds the hour of a habit, and is there before it`() {
        let predictor = commuter(12)
        let next = predictor.warmings(after: time(14, 6))
        #expect(next.count == 1)
        #expect(next.first?.at == time(14, 8, 10), "ten minutes before the usual time")
        #expect(next.first?.context == "chats" && next.first?.probability == 1)
    }

    @Test func `tells weekdays and weekends apart`() {
        let predictor = commuter(12)
        #expect(predictor.warmings(after: time(12, 0), within: .seconds(2 * 86_400)).isEmpty)
        #expect(
            predictor.warmings(after: time(11, 12), within: .seconds(4 * 86_400)).map(\.at)
                == [time(14, 8, 10), time(15, 8, 10)])
    }

    @Test func `makes no habit of few days or of chance`() {
        var two = commuter(2)
        #expect(two.warmings(after: time(2, 6)).isEmpty)
        two.minimumDays = 2
        #expect(two.warmings(after: time(2, 6)).count == 1)
        var random = SeededRandom(seed: 3)
        var predictor = PrefetchPredictor(timeZone: utc)
        for day in 0..<28 {
            predictor.opened("chats", at: time(day, Int.random(in: 0..<24, using: &random)))
        }
        #expect(predictor.warmings(after: time(28, 0)).isEmpty)
    }

    @Test func `forgets a habit that is no more`() {
        let predictor = commuter(12)
        #expect(predictor.warmings(after: time(30, 6)).isEmpty, "seen on too few of the days since")
        #expect(predictor.warmings(after: time(60, 6)).isEmpty)
    }

    @Test func `goes by the wall's clock, also when summer ends`() throws {
        var predictor = PrefetchPredictor(
            timeZone: try #require(TimeZone(identifier: "Europe/Berlin")))
        // The openings are at 8:20 in summer time, from 23 to 27 October 2023. Clocks change on the
        // 29th.
        for day in 0..<5 {
            predictor.opened("chats", at: time(day - 14, 6, 20))
        }
        #expect(predictor.warmings(after: time(-7, 0)).first?.at == time(-7, 7, 10))
    }

    @Test func `is bounded`() {
        var predictor = PrefetchPredictor(timeZone: utc)
        for context in 0..<PrefetchPredictor.maxContexts + 10 {
            predictor.opened("c\(context)", at: time(0, 0, context))
        }
        #expect(predictor.contexts.count == PrefetchPredictor.maxContexts)
        #expect(!predictor.contexts.contains("c0"))
        for second in 0..<1_000 {
            predictor.opened("busy", at: time(1, 0).advanced(by: .seconds(second)))
        }
        let bytes = try! JSONEncoder().encode(predictor)
        #expect(bytes.count < 20_000)
        let fields = try! JSONSerialization.jsonObject(with: bytes) as! [String: Any]
        let kept = (fields["openings"] as! [String: [Int]])["busy"]
        #expect(kept?.count == PrefetchPredictor.maxOpenings)
        #expect(kept?.last == Int(time(1, 0).seconds) + 999, "the newest are kept")
        #expect(try! JSONDecoder().decode(PrefetchPredictor.self, from: bytes) == predictor)
    }

    /// Compares the openings that a prediction from midnight served with all openings, and with the
    /// number of warmings.
    @Test func `serves most openings of a person of habits at a moderate price`() {
        var random = SeededRandom(seed: 11)
        var predictor = PrefetchPredictor(timeZone: utc)
        var served = 0
        var opened = 0
        var warmed = 0
        for day in 0..<56 {
            var openings: [Timestamp] = []
            for (hour, chance) in [(8, 0.9), (12, 0.7), (21, 0.8), (15, 0.1)]
            where Double.random(in: 0..<1, using: &random) < chance {
                openings.append(time(day, hour, Int.random(in: 15..<45, using: &random)))
            }
            let warmings = predictor.warmings(after: time(day, 0))
            if day >= 28 {
                opened += openings.count
                warmed += warmings.count
                served += openings.count { opening in
                    warmings.contains {
                        $0.at <= opening && opening.duration(since: $0.at) < .seconds(3_600)
                    }
                }
            }
            for opening in openings { predictor.opened("chats", at: opening) }
        }
        #expect(Double(served) >= 0.6 * Double(opened), "\(served) of \(opened)")
        #expect(Double(warmed) <= 1.5 * Double(served), "\(warmed) for \(served)")
    }
}
