/// A cache whose values together cost at most a limit; it evicts the least recently used value
/// first. The time of each operation does not depend on the size of the cache. A pure value: a
/// caller that shares it must lock it.
struct CostCache<Key: Hashable, Value> {
    private struct Node {
        let key: Key
        var value: Value
        var cost: Int
        var newer: Int?
        var older: Int?
    }

    let limit: Int
    private(set) var cost = 0
    private var places: [Key: Int] = [:]
    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var newest: Int?
    private var oldest: Int?

    /// - Precondition: `limit` is not negative. With 0 the cache keeps nothing.
    init(limit: Int) {
        precondition(limit >= 0)
        self.limit = limit
    }

    var count: Int { places.count }
    /// The keys, in no defined order.
    var keys: some Sequence<Key> { places.keys }

    /// Returns a value without marking it as used.
    func peek(_ key: Key) -> Value? { places[key].flatMap { nodes[$0]?.value } }

    /// The least recently used entry.
    var last: (key: Key, value: Value)? {
        oldest.flatMap { nodes[$0] }.map { ($0.key, $0.value) }
    }

    /// Returns a value and marks it as used.
    mutating func value(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        unlink(place)
        link(place)
        return nodes[place]?.value
    }

    /// Replaces the value of the key and makes it the newest.
    ///
    /// - Returns: The evicted values; the value itself if its cost exceeds the limit. The replaced
    ///   value is not included.
    mutating func insert(_ value: Value, for key: Key, cost: Int) -> [(key: Key, value: Value)] {
        precondition(cost >= 0)
        _ = remove(key)
        if cost > limit { return [(key, value)] }
        let node = Node(key: key, value: value, cost: cost)
        let place: Int
        if let reused = free.popLast() {
            nodes[reused] = node
            place = reused
        } else {
            nodes.append(node)
            place = nodes.count - 1
        }
        places[key] = place
        self.cost += cost
        link(place)
        var gone: [(key: Key, value: Value)] = []
        while self.cost > limit, let one = removeLast() { gone.append(one) }
        return gone
    }

    mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key), let node = nodes[place] else {
            return nil
        }
        unlink(place)
        nodes[place] = nil
        free.append(place)
        cost -= node.cost
        return node.value
    }

    mutating func removeLast() -> (key: Key, value: Value)? {
        guard let last else { return nil }
        _ = remove(last.key)
        return last
    }

    /// Evicts the least recently used values until the total cost is at most `cost`.
    mutating func trim(to cost: Int) -> [(key: Key, value: Value)] {
        var gone: [(key: Key, value: Value)] = []
        while self.cost > max(0, cost), let one = removeLast() { gone.append(one) }
        return gone
    }

    private mutating func unlink(_ place: Int) {
        guard let node = nodes[place] else { return }
        if let newer = node.newer { nodes[newer]?.older = node.older } else { newest = node.older }
        if let older = node.older { nodes[older]?.newer = node.newer } else { oldest = node.newer }
        nodes[place]?.newer = nil
        nodes[place]?.older = nil
    }

    private mutating func link(_ place: Int) {
        nodes[place]?.older = newest
        if let newest { nodes[newest]?.newer = place } else { oldest = place }
        newest = place
    }
}
