package import Tidemark

/// The number of changes since a feed's last read.
package struct CountedChanges: Hashable, Sendable {
    /// The change time from which the changes were counted.
    package let since: Timestamp
    /// The number of changes, counted up to the number of wanted items.
    package let count: Int

    package init(since: Timestamp, count: Int) {
        self.since = since
        self.count = count
    }
}
