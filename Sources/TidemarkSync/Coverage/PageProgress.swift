package import TidemarkModel

/// A pager's knowledge of the documents on its device. Stored in the transaction that stores the
/// documents.
///
/// A feed reads everything above its clear mark once. A pager reads page by page from the newest
/// item down, so its coverage has gaps, and its parts can be as of different times.
package struct PageProgress: Hashable, Sendable {
    /// The maximum number of intervals. Beyond it, two adjacent intervals are joined as of the
    /// earlier time. If none are adjacent, the lowest is dropped, and read again if the pager gets
    /// there.
    package static let maxIntervals = 100

    /// The cursor of changes; without a read time if no feed asks for changes.
    package private(set) var cursor: ChangeCursor
    package private(set) var coverage = Coverage()

    package init(overlap: Duration = ChangeCursor.defaultOverlap) {
        cursor = ChangeCursor(overlap: overlap)
    }

    /// The state of the range directly below a position.
    package enum Part: Hashable, Sendable {
        /// Everything down to the position is on the device.
        case held(downTo: CoveragePosition)
        /// Nothing is known down to the position; nil for everything below.
        case gap(downTo: CoveragePosition?)
    }

    /// - Parameter oldest: The minimum time. Parts known as of an earlier time do not count.
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

    /// Records a range that was read completely.
    package mutating func insert(_ range: Range<CoveragePosition>, asOf readTime: Timestamp) {
        coverage.insert(range, asOf: readTime)
        // Changes after the first read must be requested, because nothing older is held.
        if cursor.readTime == nil, cursor.drain == nil {
            cursor.begin(at: readTime)
        }
        while coverage.intervals.count > Self.maxIntervals {
            if !coverage.joinNearest() { coverage.cut(below: coverage.intervals[0].upper) }
        }
    }

    /// Receives a page of changes. After the last page, everything held is as of its read time.
    ///
    /// - Returns: The rows not seen before in this version.
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

    /// Returns nil if ``encoded`` did not make the bytes.
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
    /// Returns the position as a cursor of a query that is ordered by the time and the name, both
    /// descending: a start for items below, an end for items above. ``highest`` and ``lowest`` need
    /// no cursor.
    package func cursor(in database: DatabaseID) -> Cursor {
        func item(_ path: DocumentPath, before: Bool) -> Cursor {
            let name = ReferenceValue(database: database, path: path)
            return Cursor(values: [.timestamp(time), .reference(name)], before: before)
        }
        // The query is descending, so the first in time is the last in the query.
        return switch place {
        case .before(let path): item(path, before: false)
        case .after(let path): item(path, before: true)
        case .start: Cursor(values: [.timestamp(time)], before: false)
        case .end: Cursor(values: [.timestamp(time)], before: true)
        }
    }
}
