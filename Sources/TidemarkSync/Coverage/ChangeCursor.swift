package import TidemarkModel

/// Up to where the changes of a feed are known, by the server's time of change.
///
/// The next delta asks for everything changed since the last read time less an overlap, because a
/// server timestamp is the time the request was processed and not the order of commits. What was seen
/// in the overlap before is recognised by path and update time. The cursor moves only when all pages
/// have arrived; a drain that was cut off goes on where it stopped.
package struct ChangeCursor: Hashable, Sendable {
    /// A row as the cursor sees it.
    package struct Row: Hashable, Sendable {
        package var path: DocumentPath
        package var changeTime: Timestamp
        package var updateTime: Timestamp

        package init(path: DocumentPath, changeTime: Timestamp, updateTime: Timestamp) {
            self.path = path
            self.changeTime = changeTime
            self.updateTime = updateTime
        }

        fileprivate func isAtMost(_ time: Timestamp, _ path: DocumentPath) -> Bool {
            (changeTime, self.path) <= (time, path)
        }
    }

    /// Pages that have arrived, with more to come.
    package struct Drain: Hashable, Sendable {
        /// Changes from this time on are asked for.
        package var since: Timestamp
        /// Of the first page: what was committed later may be missing from the pages before.
        package var readTime: Timestamp
        package var lastChangeTime: Timestamp
        package var lastPath: DocumentPath
    }

    /// A commit's own deadline is 60 s, so a shorter overlap can lose one.
    package static let minimumOverlap = Duration.seconds(60)
    package static let defaultOverlap = Duration.seconds(300)
    /// Rows of the overlap that are remembered. One forgotten is merely taken for new once more.
    package static let maxSeen = 10_000

    package let overlap: Duration
    /// As of when every change is known, and nothing is missing but what was never read; nil before
    /// the first read.
    package private(set) var readTime: Timestamp?
    package private(set) var drain: Drain?
    /// The rows of the last overlap.
    package private(set) var seen: [DocumentPath: Row] = [:]

    /// - Parameter overlap: Shorter ones count as ``minimumOverlap``.
    package init(overlap: Duration = defaultOverlap) {
        self.overlap = max(overlap, Self.minimumOverlap)
    }

    /// From when on the next delta asks; nil for everything.
    package var since: Timestamp? { readTime?.advanced(by: .zero - overlap) }

    /// Begins to follow the changes, at the first page of whatever is read.
    package mutating func begin(at pageTime: Timestamp) {
        if readTime == nil { readTime = pageTime }
    }

    /// Remembers rows that came otherwise than by a delta, where the next delta will bring them again.
    package mutating func note(_ rows: [Row]) {
        guard let since else { return }
        for row in rows where row.changeTime >= since { seen[row.path] = row }
        forget(olderThan: since)
    }

    /// Forgets the rows that a page of a delta would have brought, and has not: they are no longer there,
    /// and no later delta will bring them. Before the page is taken.
    package mutating func forgetGone(from page: [Row], isLast: Bool) {
        guard !seen.isEmpty, let since = drain?.since ?? since else { return }
        let (drain, last) = (drain, isLast ? nil : page.last)
        func isTold(_ row: Row) -> Bool {
            if row.changeTime < since { return false }
            if let drain, row.isAtMost(drain.lastChangeTime, drain.lastPath) { return false }
            return last.map { row.isAtMost($0.changeTime, $0.path) } ?? true
        }
        // Mostly nothing is gone: counting hashes only the page's paths, and there may be 10,000 others.
        let expected = seen.values.count(where: isTold)
        if expected == page.count(where: { seen[$0.path].map(isTold) ?? false }) { return }
        let paths = Set(page.map(\.path))
        seen = seen.filter { paths.contains($0.key) || !isTold($0.value) }
    }

    /// Takes one page of a delta, in the order of change time and path.
    ///
    /// - Parameter isLast: The page was shorter than its limit.
    /// - Returns: The rows that were not seen before in this version.
    package mutating func receive(
        _ page: [Row], readTime pageTime: Timestamp, isLast: Bool
    ) -> [Row] {
        precondition(isLast || !page.isEmpty, "a page with nothing on it is the last")
        let fresh = page.filter { seen[$0.path]?.updateTime != $0.updateTime }
        for row in page { seen[row.path] = row }
        let start = drain?.readTime ?? pageTime
        if !isLast, let last = page.last {
            drain = Drain(
                since: drain?.since ?? since ?? .min, readTime: start,
                lastChangeTime: last.changeTime, lastPath: last.path)
        } else {
            readTime = max(start, readTime ?? start)
            drain = nil
        }
        forget(olderThan: start.advanced(by: .zero - overlap))
        return fresh
    }

    /// Takes all that a listener shows of the changes since its start, as of a time that the server has
    /// confirmed. Says nothing of a delta whose pages are still coming, unless that began no later.
    package mutating func hear(_ rows: [Row], readTime heardAt: Timestamp) {
        for row in rows { seen[row.path] = row }
        readTime = max(heardAt, readTime ?? heardAt)
        if let drain, drain.readTime <= heardAt { self.drain = nil }
        forget(olderThan: heardAt.advanced(by: .zero - overlap))
    }

    /// The rows that no later delta will bring again, and the oldest beyond the bound.
    private mutating func forget(olderThan bound: Timestamp) {
        seen = seen.filter { $0.value.changeTime >= bound }
        guard seen.count > Self.maxSeen else { return }
        let newest = seen.values.sorted { $0.changeTime > $1.changeTime }.prefix(Self.maxSeen)
        seen = Dictionary(uniqueKeysWithValues: newest.map { ($0.path, $0) })
    }
}

extension ChangeCursor {
    func write(to writer: inout RecordWriter) {
        writer.optional(readTime) { $0.time($1) }
        writer.optional(drain) { writer, drain in
            writer.time(drain.since)
            writer.time(drain.readTime)
            writer.time(drain.lastChangeTime)
            writer.path(drain.lastPath)
        }
        writer.unsigned(UInt64(seen.count))
        for row in seen.values.sorted(by: { $0.path < $1.path }) {
            writer.path(row.path)
            writer.time(row.changeTime)
            writer.time(row.updateTime)
        }
    }

    init?(from reader: inout RecordReader, overlap: Duration) {
        self.init(overlap: overlap)
        guard let readTime = reader.optional({ $0.time() }),
            let drain = reader.optional({ Drain(from: &$0) }), let count = reader.count()
        else { return nil }
        self.readTime = readTime
        self.drain = drain
        for _ in 0..<count {
            guard let path = reader.path(), let changeTime = reader.time(),
                let updateTime = reader.time()
            else { return nil }
            seen[path] = Row(path: path, changeTime: changeTime, updateTime: updateTime)
        }
    }
}

extension ChangeCursor.Drain {
    fileprivate init?(from reader: inout RecordReader) {
        guard let since = reader.time(), let readTime = reader.time(),
            let lastChangeTime = reader.time(),
            let lastPath = reader.path()
        else { return nil }
        self.init(
            since: since, readTime: readTime, lastChangeTime: lastChangeTime, lastPath: lastPath)
    }
}
