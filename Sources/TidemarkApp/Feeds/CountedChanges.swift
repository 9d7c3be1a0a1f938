package import Tidemark

/// The number of changes since a feed's last read.
package struct CountedChanges: Hashable, Sendable {
    /// The change time from which they were counted.
    package let since: Timestamp
    /// Their number, counted up to the number of wanted items.
    package let count: Int

    package init(since: Timestamp, count: Int) {
        self.since = since
        self.count = count
    }
}
