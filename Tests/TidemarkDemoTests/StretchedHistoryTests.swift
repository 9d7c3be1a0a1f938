import Testing

@testable import TidemarkDemo

struct `A history that is too short` {
    private func history(_ times: [Int64]) -> History {
        let events = times.enumerated().map { index, time in
            HistoryEvent(
                id: "e\(index)", author: "a", authoredAt: time, committedAt: time, text: "")
        }
        return History(events, source: .file("a test"), limit: nil)
    }

    @Test func `comes again before itself, in order, each event once`() {
        let stretched = history([10, 20, 30]).stretched(to: 8)
        #expect(stretched.count == 8)
        #expect(Set(stretched.map(\.id)).count == 8)
        #expect(stretched.suffix(3).map(\.id) == ["e0", "e1", "e2"])
        let times = stretched.map(\.committedAt)
        #expect(times == times.sorted())
        #expect(stretched.last?.committedAt == 30)
    }

    @Test func `is left as it is where it is long enough`() {
        #expect(history([10, 20, 30]).stretched(to: 2).map(\.id) == ["e1", "e2"])
    }

    @Test func `has a busiest week`() {
        let day: Int64 = 86_400
        let times = [0, 30, 60, 90, 91, 92, 97, 120].map { $0 * day }
        #expect(history(times).busiestWeek == 3..<6)
    }
}
