import TidemarkModel
import TidemarkServer

/// The tokens that have opened streams, indexed by account.
///
/// The number of watches is at most the number of open streams.
struct CallerWatches {
    struct Watch {
        let facts: TokenFacts
        let end: @Sendable (AccountRefusal) -> Void
    }

    private var watches: [Int: Watch] = [:]
    private var byAccount: [ChangedAccounts.Account: Set<Int>] = [:]
    private var last = 0

    var count: Int { watches.count }

    mutating func add(
        _ facts: TokenFacts, _ end: @escaping @Sendable (AccountRefusal) -> Void
    ) -> Int {
        last += 1
        watches[last] = Watch(facts: facts, end: end)
        byAccount[Self.account(facts), default: []].insert(last)
        return last
    }

    mutating func remove(_ number: Int) {
        guard let watch = watches.removeValue(forKey: number) else { return }
        let account = Self.account(watch.facts)
        byAccount[account]?.remove(number)
        if byAccount[account]?.isEmpty == true { byAccount[account] = nil }
    }

    /// Returns the watches of tokens whose accounts have changed.
    func watches(over changed: ChangedAccounts) -> [(number: Int, watch: Watch)] {
        if changed.isEmpty || watches.isEmpty { return [] }
        var numbers: Set<Int> = []
        for account in changed.accounts { numbers.formUnion(byAccount[account] ?? []) }
        if !changed.pools.isEmpty {
            for (account, found) in byAccount where changed.pools.contains(account.pool) {
                numbers.formUnion(found)
            }
        }
        return numbers.sorted().compactMap { number in watches[number].map { (number, $0) } }
    }

    private static func account(_ facts: TokenFacts) -> ChangedAccounts.Account {
        ChangedAccounts.Account(pool: facts.pool, localID: facts.localID)
    }
}
