package import TidemarkModel

/// What a feed knows of the documents on its device; stored in the transaction that stores them.
package struct FeedProgress: Hashable, Sendable {
    package private(set) var cursor: ChangeCursor
    package private(set) var coverage: Coverage

    package init(overlap: Duration) {
        cursor = ChangeCursor(overlap: overlap)
        coverage = Coverage()
    }

    /// Takes a page of changes.
    ///
    /// - Parameter action: The clear mark, below which nothing need be held.
    /// - Returns: The rows that were not seen before in this version.
    package mutating func receive(
        _ page: [ChangeCursor.Row], readTime: Timestamp, action: Timestamp?, floor: Timestamp?,
        isLast: Bool
    ) -> [ChangeCursor.Row] {
        let isFirstRead = cursor.readTime == nil
        let readFloor = cursor.drain?.floor ?? floor
        let fresh = cursor.receive(page, readTime: readTime, floor: floor, isLast: isLast)
        if isLast, let asOf = cursor.readTime {
            if isFirstRead {
                let lower = readFloor.map(CoveragePosition.end) ?? .lowest
                coverage.insert(lower..<CoveragePosition.highest, asOf: asOf)
            } else {
                coverage.confirm(asOf: asOf)
            }
        }
        if let action { cut(action: action) }
        return fresh
    }

    /// As of when every change is known; nil before the first read has ended.
    package var readTime: Timestamp? { cursor.readTime }
    /// Whether no read was cut off.
    package var isDrained: Bool { cursor.drain == nil }

    /// Forgets what a clear has hidden: nothing below the mark need be held.
    package mutating func cut(action: Timestamp) { coverage.cut(below: .end(of: action)) }
}

extension FeedProgress {
    private static let format: UInt8 = 1

    package var encoded: [UInt8] {
        var writer = RecordWriter(format: Self.format)
        cursor.write(to: &writer)
        coverage.write(to: &writer)
        return writer.bytes
    }

    /// Nil when the bytes are none that ``encoded`` made.
    package init?(encoded bytes: [UInt8], overlap: Duration) {
        guard var reader = RecordReader(bytes, format: Self.format),
            let cursor = ChangeCursor(from: &reader, overlap: overlap),
            let coverage = Coverage(from: &reader), reader.isAtEnd
        else { return nil }
        self.cursor = cursor
        self.coverage = coverage
    }
}
