package import TidemarkModel

/// Finds what differs between the device and the server by counting, and halving what does not agree.
///
/// All figures of the server are as of one read time, the one given or that of the first. Where a range differs, its
/// lower half is asked for; what the upper one has is the difference. A range in which few items are
/// held, or none, is read again: that costs a read an item, and halving it further would cost as much.
///
/// Found are deletes, items that arrived behind newer ones, those that left or joined the query's
/// filters, and, with a version, edits. Not found is what leaves the figures as they were: by count
/// alone an edit, or a delete beside an insert in one range; with a version a change of several
/// documents whose versions come to the same sum. A version that no two documents share, such as the
/// milliseconds of the last write, makes that a coincidence nobody will see.
package struct FeedAudit: Hashable, Sendable {
    /// What a range holds.
    package struct Figures: Hashable, Sendable {
        package var count: Int
        /// Of the versions; 0 without one.
        package var sum: Double

        package init(count: Int, sum: Double = 0) {
            self.count = count
            self.sum = sum
        }

        static func - (left: Figures, right: Figures) -> Figures {
            Figures(count: left.count - right.count, sum: left.sum - right.sum)
        }
    }

    package enum Step: Hashable, Sendable {
        /// Figures of what is held in a range, to be compared with the server's, which it is asked for
        /// where they are not known yet.
        case compare(Range<CoveragePosition>, expected: Figures?, at: Timestamp?)
        /// What is there in a range is read again, and what is held beside it goes.
        case read(Range<CoveragePosition>)
    }

    private struct Part: Hashable {
        let range: Range<CoveragePosition>
        /// The server's figures for it; nil where it is still to be asked.
        var server: Figures?
        /// Of it and the part before it together.
        var together: Figures?
    }

    /// Items that are read again rather than halved.
    package static let readAgain = 8

    #if TIDEMARK_DEFECTS
        package var defects: PlantedDefects = []
    #endif
    /// The next is the last.
    private var parts: [Part]
    private var different: [Range<CoveragePosition>] = []
    /// As of when the server was asked.
    package private(set) var readTime: Timestamp?
    /// What agrees.
    package private(set) var confirmed: [Range<CoveragePosition>] = []

    /// - Parameter time: As of when the server is asked; nil for when it is asked first.
    package init(_ ranges: [Range<CoveragePosition>], asOf time: Timestamp? = nil) {
        parts = ranges.reversed().map { Part(range: $0) }
        readTime = time
    }

    /// What is to be done next; nil when all is compared and read.
    package var next: Step? {
        if let part = parts.last {
            return .compare(part.range, expected: part.server, at: readTime)
        }
        return different.last.map { .read($0) }
    }

    /// Takes the figures of the part that ``next`` named.
    ///
    /// - Parameters:
    ///   - server: Nil where the server was not to be asked.
    ///   - middle: A position with half of what is held below it; nil where there is none.
    package mutating func compared(
        held: Figures, server: Figures?, middle: CoveragePosition?, at time: Timestamp?
    ) {
        guard var part = parts.popLast() else { return }
        readTime = readTime ?? time
        if let server {
            part.server = server
            if let above = parts.last, let together = above.together {
                parts[parts.count - 1].server = together - server
                parts[parts.count - 1].together = nil
            }
        }
        guard let server = part.server else { preconditionFailure("nothing to compare with") }
        if server == held {
            confirmed.append(part.range)
        } else if let middle, held.count > Self.readAgain,
            part.range.lowerBound < middle, middle < part.range.upperBound
        {
            parts.append(Part(range: middle..<part.range.upperBound, together: server))
            #if TIDEMARK_DEFECTS
                if defects.contains(.upperHalfSkipped) { parts.removeLast() }
            #endif
            parts.append(Part(range: part.range.lowerBound..<middle))
        } else {
            different.append(part.range)
        }
    }

    /// Takes what was read of the range that ``next`` named.
    ///
    /// - Parameter rest: What of the range is still to be read; nil for nothing.
    package mutating func wasRead(rest: Range<CoveragePosition>?) {
        guard parts.isEmpty, let range = different.popLast() else { return }
        let done = (rest?.upperBound ?? range.lowerBound)..<range.upperBound
        confirmed.append(done)
        if let rest { different.append(rest) }
    }
}
