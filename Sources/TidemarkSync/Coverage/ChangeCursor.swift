package import TidemarkModel

/// The position up to which the changes of a feed are known, by the server's change time.
///
/// The next delta asks for everything changed since the last read time minus an overlap, because a
/// server timestamp is the time when the request was processed, and not the order of commits. Rows
/// of the overlap that were seen before are recognized by path and update time. The cursor moves
/// only when all pages have arrived. An interrupted drain continues where it stopped.
package struct ChangeCursor: Hashable, Sendable {
    /// The properties of a row that the cursor needs.
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

    /// The pages received so far, if more will follow.
    package struct Drain: Hashable, Sendable {
        /// The change time from which changes are requested.
        package var since: Timestamp
        /// The read time of the first page. Later commits may be missing from earlier pages.
        package var readTime: Timestamp
        package var lastChangeTime: Timestamp
        package var lastPath: DocumentPath
    }

    /// The minimum overlap. The deadline of a commit is 60 s, so a shorter overlap can lose one.
    package static let minimumOverlap = Duration.seconds(60)
    package static let defaultOverlap = Duration.seconds(300)
    /// The maximum number of remembered rows of the overlap. A forgotten row is treated as new once
    /// more.
    package static let maxSeen = 10_000

    package let overlap: Duration
    /// The time as of which every change is known; nil before the first read.
    package private(set) var readTime: Timestamp?
    package private(set) var drain: Drain?
    /// The rows of the last overlap.
    package private(set) var seen: [DocumentPath: Row] = [:]

    /// - Parameter overlap: The overlap. A shorter time than ``minimumOverlap`` is raised to it.
    package init(overlap: Duration = defaultOverlap) {
        self.overlap = max(overlap, Self.minimumOverlap)
    }

    /// The change time from which the next delta asks; nil for everything.
    package var since: Timestamp? { readTime?.advanced(by: .zero - overlap) }

    /// Begins to follow changes, at the first page of any read.
    package mutating func begin(at pageTime: Timestamp) {
        if readTime == nil { readTime = pageTime }
    }

    /// Remembers rows that arrived by other means than a delta, if the next delta will contain them
    /// again.
    package mutating func note(_ rows: [Row]) {
        guard let since else { return }
        for row in rows where row.changeTime >= since { seen[row.path] = row }
        forget(olderThan: since)
    }

    /// Forgets the rows that a page of a delta should contain and does not: they no longer exist,
    /// and no later delta will contain them. Call before the page is received.
    package mutating func forgetGone(from page: [Row], isLast: Bool) {
        guard !seen.isEmpty, let since = drain?.since ?? since else { return }
        let (drain, last) = (drain, isLast ? nil : page.last)
        func isExpected(_ row: Row) -> Bool {
            if row.changeTime < since { return false }
            if let drain, row.isAtMost(drain.lastChangeTime, drain.lastPath) { return false }
            return last.map { row.isAtMost($0.changeTime, $0.path) } ?? true
        }
        // Usually no row is missing. Counting hashes only the page's paths, and not up to 10,000
        // others.
        let expected = seen.values.count(where: isExpected)
        if expected == page.count(where: { seen[$0.path].map(isExpected) ?? false }) { return }
        let paths = Set(page.map(\.path))
        seen = seen.filter { paths.contains($0.key) || !isExpected($0.value) }
    }

    /// Receives a page of a delta, in the order of change time and path.
    ///
    /// - Parameter isLast: True if the page was shorter than its limit.
    /// - Returns: The rows not seen before in this version.
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

    /// Receives all changes that a listener shows since its start, as of a confirmed time. Does not
    /// affect a delta in progress, unless that began no later.
    package mutating func hear(_ rows: [Row], readTime heardAt: Timestamp) {
        for row in rows { seen[row.path] = row }
        readTime = max(heardAt, readTime ?? heardAt)
        if let drain, drain.readTime <= heardAt { self.drain = nil }
        forget(olderThan: heardAt.advanced(by: .zero - overlap))
    }

    /// Forgets the rows that no later delta will contain, and the oldest beyond the maximum.
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
