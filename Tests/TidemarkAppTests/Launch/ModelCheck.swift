/// Walks through every state that a machine can reach, under every order of its events.
struct Graph<Node: Hashable, Event> {
    struct Edge {
        let from: Int
        let event: Event
        let to: Int
    }

    private(set) var nodes: [Node] = []
    private(set) var edges: [Edge] = []
    /// The edge by which the walk first reached each node; nil for a start node.
    private var arrivals: [Int?] = []
    /// The number of steps from a start node to the farthest node.
    private(set) var depth = 0

    /// - Parameters:
    ///   - limit: The maximum number of nodes. A larger graph counts as infinite, and `init`
    ///     returns nil.
    ///   - next: Returns every event that can happen in a node, each with the node after it.
    init?(from starts: [Node], limit: Int = 100_000, next: (Node) -> [(Event, Node)]) {
        var index: [Node: Int] = [:]
        var depths: [Int] = []
        for start in starts where index[start] == nil {
            index[start] = nodes.count
            nodes.append(start)
            arrivals.append(nil)
            depths.append(0)
        }
        var current = 0
        while current < nodes.count {
            for (event, node) in next(nodes[current]) {
                let target: Int
                if let known = index[node] {
                    target = known
                } else {
                    target = nodes.count
                    if target == limit { return nil }
                    index[node] = target
                    nodes.append(node)
                    arrivals.append(edges.count)
                    depths.append(depths[current] + 1)
                    depth = max(depth, depths[target])
                }
                edges.append(Edge(from: current, event: event, to: target))
            }
            current += 1
        }
    }

    /// Returns the events by which the walk reached a node.
    func path(to node: Int) -> [Event] {
        var path: [Event] = []
        var node = node
        while let arrival = arrivals[node] {
            path.append(edges[arrival].event)
            node = edges[arrival].from
        }
        return path.reversed()
    }

    /// Returns an edge for which `acts` is true, from a circle of taken edges; nil if there is
    /// none.
    func circle(along isTaken: (Edge) -> Bool, that acts: (Edge) -> Bool) -> Edge? {
        let taken = edges.filter(isTaken)
        let group = components(of: taken)
        return taken.first { group[$0.from] == group[$0.to] && acts($0) }
    }

    /// Numbers the nodes: nodes that reach each other get the same number (Kosaraju's algorithm).
    private func components(of taken: [Edge]) -> [Int] {
        var (after, before) = (
            Array(repeating: [Int](), count: nodes.count),
            Array(repeating: [Int](), count: nodes.count)
        )
        for edge in taken where edge.from != edge.to {
            after[edge.from].append(edge.to)
            before[edge.to].append(edge.from)
        }
        var (order, isSeen) = ([Int](), Array(repeating: false, count: nodes.count))
        for root in nodes.indices where !isSeen[root] {
            isSeen[root] = true
            var stack = [(root, 0)]
            while let (node, place) = stack.popLast() {
                guard place < after[node].count else {
                    order.append(node)
                    continue
                }
                stack.append((node, place + 1))
                let next = after[node][place]
                if !isSeen[next] {
                    isSeen[next] = true
                    stack.append((next, 0))
                }
            }
        }
        var group = Array(repeating: -1, count: nodes.count)
        for root in order.reversed() where group[root] < 0 {
            group[root] = root
            var stack = [root]
            while let node = stack.popLast() {
                for previous in before[node] where group[previous] < 0 {
                    group[previous] = root
                    stack.append(previous)
                }
            }
        }
        return group
    }

    /// Returns the nodes from which the taken edges reach no goal.
    func stranded(
        from goals: (Node) -> Bool, along isTaken: (Edge) -> Bool = { _ in true }
    ) -> [Int] {
        var before = Array(repeating: [Int](), count: nodes.count)
        for edge in edges where isTaken(edge) { before[edge.to].append(edge.from) }
        var open = nodes.indices.filter { goals(nodes[$0]) }
        var isReached = Array(repeating: false, count: nodes.count)
        for node in open { isReached[node] = true }
        while let node = open.popLast() {
            for previous in before[node] where !isReached[previous] {
                isReached[previous] = true
                open.append(previous)
            }
        }
        return nodes.indices.filter { !isReached[$0] }
    }
}
