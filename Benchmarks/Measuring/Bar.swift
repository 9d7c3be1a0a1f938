/// A figure's name and limit.
struct Bar: Sendable {
    let name: String
    let limit: Double
    let unit: String
    /// True if the figure must be below the limit; else it must be at least the limit.
    let isAtMost: Bool

    func holds(_ figure: Double) -> Bool { isAtMost ? figure < limit : figure >= limit }

    init(_ name: String, below limit: Double, _ unit: String) {
        self.init(name: name, limit: limit, unit: unit, isAtMost: true)
    }

    init(_ name: String, atLeast limit: Double, _ unit: String) {
        self.init(name: name, limit: limit, unit: unit, isAtMost: false)
    }

    private init(name: String, limit: Double, unit: String, isAtMost: Bool) {
        self.name = name
        self.limit = limit
        self.unit = unit
        self.isAtMost = isAtMost
    }
}
