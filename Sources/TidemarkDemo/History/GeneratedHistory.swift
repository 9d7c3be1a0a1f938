import TidemarkModel

extension History {
    /// Generates a history that shows the errors of simple caches: it has bursts and pauses, one
    /// item in twenty arrives hours or weeks after its own time, and some items share a second.
    static func generated(count: Int, seed: UInt64, limit: Int?) throws -> History {
        var random = SeededRandom(seed: seed)
        var clock: Int64 = 1_600_000_000
        var events: [HistoryEvent] = []
        var burst = 0
        for index in 0..<count {
            if burst == 0 {
                clock += Int64.random(in: 3_600...500_000, using: &random)
                burst = Int.random(in: 1...40, using: &random)
            }
            burst -= 1
            let sharesSecond = Int.random(in: 0..<15, using: &random) == 0
            if !sharesSecond { clock += Int64.random(in: 1...900, using: &random) }
            let isLate = Int.random(in: 0..<20, using: &random) == 0
            let delay = isLate ? Int64.random(in: 3_600...2_000_000, using: &random) : 0
            events.append(
                HistoryEvent(
                    id: "g\(index)", author: "u\(Int.random(in: 1...30, using: &random))",
                    authoredAt: clock - delay, committedAt: clock,
                    text: "Generated item \(index)"))
        }
        return try History(events, source: .generated, limit: limit).checked()
    }
}
