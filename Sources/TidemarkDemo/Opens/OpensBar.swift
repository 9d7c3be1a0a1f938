/// What Tidemark's client may read, and how long the three clients may take, on a history of any size.
///
/// Set for 8,648 events and 120 opens: 10,000 reads and 90 s.
struct OpensBar: Hashable, Sendable {
    /// At most this many reads are billed.
    let reads: Int
    /// At most this long in all. One that is longer is a remark.
    let seconds: Double

    /// - Parameters:
    ///   - events: Items of the history.
    ///   - writes: The same with their edits and deletes.
    ///
    /// Reads are in proportion to the events, and never fewer than each write and each open once: an
    /// open that finds nothing new is billed a read. The time is in proportion to events and opens, for the
    /// oldest client reads all events at each open; and never under five seconds, which starting takes.
    init(events: Int, writes: Int, opens: Int) {
        precondition(events > 0 && writes >= events && opens > 0)
        reads = max(events * 10_000 / 8_648, writes + opens)
        let size = Double(events) * Double(opens) / (8_648 * 120)
        seconds = max(5, 90 * size)
    }

    /// Sentences; none when it holds.
    func complaints(reads: Int) -> [String] {
        var complaints: [String] = []
        if reads > self.reads {
            complaints.append("Tidemark was billed \(reads) reads, and \(self.reads) are the most.")
        }
        if reads == 0 { complaints.append("The server counted no reads of Tidemark's client.") }
        return complaints
    }

    func slow(seconds: Double) -> [SlowTime] {
        [SlowTime("the three clients s", seconds, limit: self.seconds)].compactMap(\.self)
    }

    /// In words, for under the table.
    var text: String {
        "Bar: tidemark shows what is there, with at most \(reads) reads; \(Bar.number(seconds)) s."
    }
}
