/// What Tidemark's client may read, and how long the three clients may take, on a history of any size.
///
/// Set for 8,648 events and 120 opens: 10,000 reads and 90 s.
struct OpensBar: Hashable, Sendable {
    /// At most this many reads are billed.
    let reads: Int
    /// At most this long in all, in a release build.
    let seconds: Double

    /// - Parameters:
    ///   - events: Items of the history.
    ///   - writes: The same with their edits and deletes.
    ///
    /// Reads are in proportion to the events, and never fewer than each write and each open once: an
    /// open that finds nothing new is billed a read. The time is the same for everything smaller, and in
    /// proportion to events and opens above: the oldest client reads all events at each open.
    init(events: Int, writes: Int, opens: Int) {
        precondition(events > 0 && writes >= events && opens > 0)
        reads = max(events * 10_000 / 8_648, writes + opens)
        let size = Double(events) * Double(opens) / (8_648 * 120)
        seconds = 90 * max(1, size)
    }

    /// Sentences; none when it holds.
    func complaints(reads: Int, seconds: Double, isRelease: Bool = Bar.isRelease) -> [String] {
        var complaints: [String] = []
        if reads > self.reads {
            complaints.append("Tidemark was billed \(reads) reads, and \(self.reads) are the most.")
        }
        if reads == 0 { complaints.append("The server counted no reads of Tidemark's client.") }
        if isRelease, seconds > self.seconds {
            complaints.append(
                "The three clients took \(Bar.number(seconds)) s, and \(limit) s are the most.")
        }
        return complaints
    }

    /// In words, for under the table.
    var text: String {
        "Bar: tidemark shows what is there, with at most \(reads) reads; \(limit) s\(Bar.remark)."
    }

    private var limit: String { Bar.number(seconds) }
}
