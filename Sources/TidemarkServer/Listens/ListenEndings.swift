import TidemarkModel

/// The newest endings of streams, by the place of each stream at its end.
struct ListenEndings {
    /// The number of endings that are always kept. Above twice this number, the oldest are
    /// forgotten, and their listens are billed by the age of their tokens.
    static let capacity = 10_000

    struct Place: Hashable {
        let database: DatabaseID
        /// The read time of the last sent boundary, which a token also contains.
        let readTime: Timestamp

        init(_ database: DatabaseID, _ readTime: Timestamp) {
            self.database = database
            self.readTime = readTime
        }
    }

    private var times: [Place: Timestamp] = [:]
    private var order: [Place] = []

    subscript(place: Place) -> Timestamp? { times[place] }

    mutating func note(_ time: Timestamp, _ place: Place) {
        if times.updateValue(time, forKey: place) == nil { order.append(place) }
        guard order.count > 2 * Self.capacity else { return }
        for old in order.prefix(Self.capacity) { times[old] = nil }
        order.removeFirst(Self.capacity)
    }
}
