package import TidemarkModel

/// Finds the differences between the device and the server by counting ranges, and halving the
/// ranges that differ.
///
/// All figures of the server are as of one read time: the given one, or that of the first figures.
/// If a range differs, the audit asks for its lower half; the figures of the upper half are the
/// difference. A range in which the device holds few items or none is read again: that costs a read
/// per item, and further halving would cost as much.
///
/// The audit finds deletes, items that arrived behind newer ones, items that left or joined the
/// query's filters, and edits if there is a version. It does not find changes that leave the
/// figures unchanged: with counts alone, an edit, or a delete beside an insert in the same range;
/// with a version, several changes whose versions have the same sum. If no two documents share a
/// version, such as the milliseconds of the last write, this is extremely improbable.
package struct FeedAudit: Hashable, Sendable {
    /// The figures of a range.
    package struct Figures: Hashable, Sendable {
        package var count: Int
        /// The sum of the versions; 0 without versions.
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
        /// Compare the figures of the held items in a range with the server's. Ask the server if
        /// its figures are not known.
        case compare(Range<CoveragePosition>, expected: Figures?, at: Timestamp?)
        /// Read the range again, and remove held items that were not read.
        case read(Range<CoveragePosition>)
    }

    private struct Part: Hashable {
        let range: Range<CoveragePosition>
        /// The server's figures of the range; nil if the server must be asked.
        var server: Figures?
        /// The server's figures of this part and the part before it together.
        var together: Figures?
    }

    /// The maximum number of held items in a range that is read again and not halved.
    package static let readAgain = 8

    #if TIDEMARK_DEFECTS
        package var defects: PlantedDefects = []
    #endif
    /// The parts to compare; the last one is next.
    private var parts: [Part]
    private var different: [Range<CoveragePosition>] = []
    /// The time as of which the server was asked.
    package private(set) var readTime: Timestamp?
    /// The ranges that agree.
    package private(set) var confirmed: [Range<CoveragePosition>] = []

    /// - Parameter time: The time as of which the server is asked; nil for the time of the first
    ///   request.
    package init(_ ranges: [Range<CoveragePosition>], asOf time: Timestamp? = nil) {
        parts = ranges.reversed().map { Part(range: $0) }
        readTime = time
    }

    /// The next step; nil when everything is compared and read.
    package var next: Step? {
        if let part = parts.last {
            return .compare(part.range, expected: part.server, at: readTime)
        }
        return different.last.map { .read($0) }
    }

    /// Receives the figures of the part that ``next`` named.
    ///
    /// - Parameters:
    ///   - server: The server's figures; nil if the server was not asked.
    ///   - middle: A position with half of the held items below it; nil if there is none.
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

    /// Records a read of the range that ``next`` named.
    ///
    /// - Parameter rest: The rest of the range to read; nil if none.
    package mutating func wasRead(rest: Range<CoveragePosition>?) {
        guard parts.isEmpty, let range = different.popLast() else { return }
        let done = (rest?.upperBound ?? range.lowerBound)..<range.upperBound
        confirmed.append(done)
        if let rest { different.append(rest) }
    }
}
