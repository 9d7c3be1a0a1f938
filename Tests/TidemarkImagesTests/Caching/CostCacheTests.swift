import Testing

@testable import TidemarkImages

struct CostCacheTests {
    /// The same cache as a list, with the newest entry first.
    private struct Oracle {
        let limit: Int
        var list: [(key: Int, value: Int, cost: Int)] = []
        var cost: Int { list.reduce(0) { $0 + $1.cost } }

        mutating func value(_ key: Int) -> Int? {
            guard let place = list.firstIndex(where: { $0.key == key }) else { return nil }
            let one = list.remove(at: place)
            list.insert(one, at: 0)
            return one.value
        }

        mutating func insert(_ value: Int, _ key: Int, _ cost: Int) -> [Int] {
            list.removeAll { $0.key == key }
            if cost > limit { return [key] }
            list.insert((key, value, cost), at: 0)
            var gone: [Int] = []
            while self.cost > limit { gone.append(list.removeLast().key) }
            return gone
        }
    }

    @Test func `does as a list does, whatever the order of calls`() {
        for seed in 1...20 as ClosedRange<UInt64> {
            var dice = PictureGenerator(seed: seed)
            var cache = CostCache<Int, Int>(limit: 100)
            var oracle = Oracle(limit: 100)
            for step in 0..<600 {
                let key = Int(dice.next() % 30)
                switch dice.next() % 8 {
                case 0...3:
                    let cost = Int(dice.next() % (step % 50 == 0 ? 130 : 25))
                    let gone = cache.insert(step, for: key, cost: cost).map(\.key)
                    #expect(gone == oracle.insert(step, key, cost), "seed \(seed)")
                case 4, 5: #expect(cache.value(key) == oracle.value(key), "seed \(seed)")
                case 6:
                    let had = oracle.list.first { $0.key == key }?.value
                    #expect(cache.remove(key) == had, "seed \(seed)")
                    oracle.list.removeAll { $0.key == key }
                default:
                    #expect(cache.peek(key) == oracle.list.first { $0.key == key }?.value)
                    #expect(cache.last?.key == oracle.list.last?.key, "seed \(seed)")
                }
                #expect(cache.cost == oracle.cost && cache.count == oracle.list.count)
            }
            let all = cache.trim(to: 0).map(\.key)
            #expect(all == oracle.list.map(\.key).reversed(), "the oldest first, seed \(seed)")
        }
    }

    @Test func `a limit of nothing keeps nothing`() {
        var cache = CostCache<Int, Int>(limit: 0)
        #expect(cache.insert(1, for: 1, cost: 1).count == 1)
        #expect(cache.count == 0)
    }
}
