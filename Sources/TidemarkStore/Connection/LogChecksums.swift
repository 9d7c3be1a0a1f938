/// The checksums of the pages in SQLite's log, in memory. They were computed when the pages were
/// written, or when SQLite read and checked a log left by a killed process.
///
/// The log has its own checksums on disk, but SQLite checks them only when it opens the log, and
/// trusts the disk afterwards. These checksums verify each page that is read for a query or for
/// moving it into the file.
///
/// They use 8 bytes for each page written to the log since its beginning.
struct LogChecksums {
    /// The sizes in bytes of the log's header and of each page's header
    /// (sqlite.org/fileformat2.html, 4.1).
    private static let (logHeader, pageHeader) = (32, 24)
    /// The maximum capacity that is kept when the log begins again.
    private static let keptAtMost = 65_536

    private var pageSize = 0
    /// The checksums by position in the log; 0 for an unknown page.
    private var sums: [UInt64] = []

    /// Records bytes that are written.
    mutating func note(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        if offset == 0 {
            pageSize = 0
            if sums.count > Self.keptAtMost {
                sums = []
            } else {
                sums.removeAll(keepingCapacity: true)
            }
        }
        switch bytes.count {
        case Self.logHeader, Self.pageHeader: return
        default:
            guard let place = pagePlace(bytes.count, offset) else {
                return forget(from: offset, to: offset + Int64(bytes.count))
            }
            pageSize = bytes.count
            set(place, Self.sum(bytes, place))
        }
    }

    /// Verifies bytes that were read.
    ///
    /// - Returns: False if a page differs from the page that was written.
    mutating func accepts(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
        if let place = pagePlace(bytes.count, offset) { return holds(bytes, place) }
        // A page with its header: SQLite opens a log, or corrects the headers of a transaction.
        let size = bytes.count - Self.pageHeader
        guard let place = pagePlace(size, offset + Int64(Self.pageHeader)) else { return true }
        let page = UnsafeRawBufferPointer(rebasing: bytes[Self.pageHeader...])
        if place < sums.count, sums[place] != 0 { return holds(page, place) }
        pageSize = size
        set(place, Self.sum(page, place))
        return true
    }

    private func holds(_ page: UnsafeRawBufferPointer, _ place: Int) -> Bool {
        guard place < sums.count, sums[place] != 0 else { return true }
        return sums[place] == Self.sum(page, place)
    }

    private static func sum(_ page: UnsafeRawBufferPointer, _ place: Int) -> UInt64 {
        max(1, PageChecksum.of(page, number: UInt64(place)))
    }

    /// Returns the position of a page; nil if the bytes are not a whole page.
    private func pagePlace(_ size: Int, _ offset: Int64) -> Int? {
        guard size >= 512, size & (size - 1) == 0, pageSize == 0 || size == pageSize else {
            return nil
        }
        let start = Int(offset) - Self.logHeader - Self.pageHeader
        let length = size + Self.pageHeader
        return start >= 0 && start.isMultiple(of: length) ? start / length : nil
    }

    private mutating func set(_ place: Int, _ sum: UInt64) {
        while sums.count <= place { sums.append(0) }
        sums[place] = sum
    }

    /// Forgets pages that were written in part, as SQLite does on disks with large sectors.
    private mutating func forget(from start: Int64, to end: Int64) {
        guard pageSize > 0 else { return sums.removeAll() }
        let length = pageSize + Self.pageHeader
        let first = max(0, Int(start) - Self.logHeader) / length
        let last = max(0, Int(end) - 1 - Self.logHeader) / length
        for place in first...max(first, last) where place < sums.count { sums[place] = 0 }
    }
}
