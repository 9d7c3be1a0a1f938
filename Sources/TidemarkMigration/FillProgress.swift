package import TidemarkModel

/// The state of the migration of one collection, as the progress file keeps it.
package struct FillProgress: Codable, Hashable, Sendable {
    /// The last document up to which everything is done; nil before the first page.
    package var cursor: String?
    package var isFinished = false
    /// The number of documents that were looked at.
    package var documents = 0
    /// The number of documents that had a change time already.
    package var present = 0
    /// The number of documents that the migration has given a change time.
    package var filled = 0
    /// The number of documents that got a change time from another writer during the migration.
    package var filledByOthers = 0
    /// The number of documents that were deleted during the migration.
    package var deleted = 0
    /// The documents whose field is no time. They stay as they are.
    package var wrongType = Examples()
    /// The documents that changed at each attempt.
    package var unsettled = Examples()
    /// The documents whose change the server has refused.
    package var refused = Examples()
    package var reads = 0
    package var writes = 0
    /// The times between which the migration has written, by the server's clock.
    package var window: WrittenWindow?

    package init() {}

    /// The number of documents that still have no usable change time.
    package var open: Int { wrongType.count + unsettled.count + refused.count }
}

/// A range of the server's times, in microseconds since 1970, both ends included.
package struct WrittenWindow: Codable, Hashable, Sendable {
    package var from: Int64
    package var to: Int64

    package init(from: Timestamp, to: Timestamp) {
        self.from = from.microseconds
        self.to = to.microseconds
    }

    package func contains(_ time: Timestamp) -> Bool {
        (from...max(from, to)).contains(time.microseconds)
    }

    package mutating func extend(to time: Timestamp) { to = max(to, time.microseconds) }
}
