/// The limits for the reads of Tidemark's client and for the time of the three clients, for a
/// history of any size.
///
/// The reference is 10,000 reads and 90 s for 8,648 events and 120 opens.
struct OpensBar: Hashable, Sendable {
    /// The maximum number of billed reads.
    let reads: Int
    /// The maximum time of all clients in seconds. A longer time is only a remark.
    let seconds: Double

    /// - Parameters:
    ///   - events: The number of items in the history.
    ///   - writes: The number of items plus their edits and deletes.
    ///
    /// The limit of reads is in proportion to the events, and at least one read for each write and
    /// each open, because an open that finds nothing new is billed one read. The time is in
    /// proportion to the events and the opens, because the oldest client reads all events at each
    /// open. It is at least five seconds, which the start takes.
    init(events: Int, writes: Int, opens: Int) {
        precondition(events > 0 && writes >= events && opens > 0)
        reads = max(events * 10_000 / 8_648, writes + opens)
        let size = Double(events) * Double(opens) / (8_648 * 120)
        seconds = max(5, 90 * size)
    }

    /// Returns the failed requirements as sentences; empty if all hold.
    func complaints(reads: Int) -> [String] {
        var complaints: [String] = []
        if reads > self.reads {
            complaints.append("Tidemark was billed \(reads) reads, but the limit is \(self.reads).")
        }
        if reads == 0 { complaints.append("The server counted no reads of Tidemark's client.") }
        return complaints
    }

    func slow(seconds: Double) -> [SlowTime] {
        [SlowTime("the three clients s", seconds, limit: self.seconds)].compactMap(\.self)
    }

    /// The limits in words, for the line under the table.
    var text: String {
        "Limit: tidemark shows everything, with at most \(reads) reads; \(Bar.number(seconds)) s."
    }
}
