package import TidemarkModel

/// What a pager knows of the documents on its device; stored in the transaction that stores them.
///
/// Unlike a feed, which reads everything above its clear mark once, a pager reads page by page from the
/// newest down: its coverage has gaps, and what is held may be as of different times.
package struct PageProgress: Hashable, Sendable {
    /// Intervals that are kept. Beyond, two that touch become one as of the earlier time; where none
    /// touch, the lowest is forgotten, and read again if anybody gets there.
    package static let maxIntervals = 100

    /// Where changes are asked for; without a read time where nobody asks.
    package private(set) var cursor: ChangeCursor
    package private(set) var coverage = Coverage()

    package init(overlap: Duration = ChangeCursor.defaultOverlap) {
        cursor = ChangeCursor(overlap: overlap)
    }

    /// How the place right below a position is known.
    package enum Part: Hashable, Sendable {
        /// Everything down to there is on the device.
        case held(downTo: CoveragePosition)
        /// Nothing is known down to there; nil for all the way.
        case gap(downTo: CoveragePosition?)
    }

    /// - Parameter oldest: What is known as of an earlier time does not count.
    package func part(below position: CoveragePosition, asOf oldest: Timestamp) -> Part {
        let known = coverage.intervals.reversed().filter { $0.asOf >= oldest }
        var reached: CoveragePosition?
        for interval in known where interval.lower < position {
            if let lower = reached {
                guard interval.upper == lower else { break }
            } else if interval.upper < position {
                return .gap(downTo: interval.upper)
            }
            reached = interval.lower
        }
        return reached.map { .held(downTo: $0) } ?? .gap(downTo: nil)
    }

    /// Takes note of a range that was read completely.
    package mutating func insert(_ range: Range<CoveragePosition>, asOf readTime: Timestamp) {
        coverage.insert(range, asOf: readTime)
        // Changes after the first read are to be asked for: nothing older is held.
        if cursor.readTime == nil, cursor.drain == nil {
            cursor.begin(at: readTime)
        }
        while coverage.intervals.count > Self.maxIntervals {
            if !coverage.joinNearest() { coverage.cut(below: coverage.intervals[0].upper) }
        }
    }

    /// Takes a page of changes; all that is held is as of its read time when it was the last one.
    ///
    /// - Returns: The rows that were not seen before in this version.
    package mutating func receive(
        _ page: [ChangeCursor.Row], readTime: Timestamp, isLast: Bool
    ) -> [ChangeCursor.Row] {
        let fresh = cursor.receive(page, readTime: readTime, isLast: isLast)
        if isLast, let asOf = cursor.readTime { coverage.confirm(asOf: asOf) }
        return fresh
    }
}

extension PageProgress {
    private static let format: UInt8 = 1

    package var encoded: [UInt8] {
        var writer = RecordWriter(format: Self.format)
        cursor.write(to: &writer)
        coverage.write(to: &writer)
        return writer.bytes
    }

    /// Nil when the bytes are none that ``encoded`` made.
    package init?(
        encoded bytes: [UInt8], overlap: Duration = ChangeCursor.defaultOverlap
    ) {
        guard var reader = RecordReader(bytes, format: Self.format),
            let cursor = ChangeCursor(from: &reader, overlap: overlap),
            let coverage = Coverage(from: &reader), reader.isAtEnd
        else { return nil }
        self.cursor = cursor
        self.coverage = coverage
    }
}

// MARK: - Cursors

extension CoveragePosition {
    /// The line in a query that is ordered by the time and the name, both descending: a start for what
    /// is below, an end for what is above. ``highest`` and ``lowest`` need none.
    package func cursor(in database: DatabaseID) -> Cursor {
        func item(_ path: DocumentPath, before: Bool) -> Cursor {
            let name = ReferenceValue(database: database, path: path)
            return Cursor(values: [.timestamp(time), .reference(name)], before: before)
        }
        // What comes first in time comes last in the query.
        return switch place {
        case .before(let path): item(path, before: false)
        case .after(let path): item(path, before: true)
        case .start: Cursor(values: [.timestamp(time)], before: false)
        case .end: Cursor(values: [.timestamp(time)], before: true)
        }
    }
}
