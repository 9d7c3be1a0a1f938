import TidemarkSystem

/// The position up to which a SQLite log was read, to detect later additions.
///
/// A log begins with a header whose salts change when the log begins again, and each page repeats
/// the salts. So the last page is followed by a page of an older log or by nothing
/// (sqlite.org/fileformat2.html, 4.1). In an encrypted log, only the first page of each box has the
/// salts (``SealedFrames``).
struct LogEnd: Equatable, Sendable {
    private static let (headerSize, pageHeaderSize) = (32, 24)
    private static let (saltsInHeader, saltsInPage) = (16..<24, 8..<16)

    /// The header of the log; empty if there is no log.
    private let header: [UInt8]
    /// The offset after the last page.
    private let offset: Int

    /// Finds the end of a log.
    ///
    /// - Parameter path: The path of the database.
    init(of path: String) {
        let log = OpenLogFile(path)
        header = log?.bytes(Self.headerSize, at: 0) ?? []
        guard let log, !header.isEmpty else {
            offset = 0
            return
        }
        var end = Self.headerSize
        let size = Self.pageHeaderSize + Self.pageSize(header)
        while let count = Self.pages(at: end, in: log, header) { end += count * size }
        offset = end
    }

    func isOfSameLog(as other: LogEnd) -> Bool { header == other.header }

    /// Returns true if the log is the same and nothing was added.
    func isEnd(of path: String) -> Bool {
        guard let log = OpenLogFile(path), let now = log.bytes(Self.headerSize, at: 0) else {
            return header.isEmpty
        }
        return now == header && Self.pages(at: offset, in: log, header) == nil
    }

    /// Returns the number of pages in the box at an offset; nil if none of this log begins there.
    private static func pages(at offset: Int, in log: OpenLogFile, _ header: [UInt8]) -> Int? {
        guard let page = log.bytes(pageHeaderSize, at: offset),
            page[saltsInPage] == header[saltsInHeader]
        else { return nil }
        return SealedFrames.isMarked(header[0]) ? page.withUnsafeBytes(SealedFrames.count) : 1
    }

    /// Returns the page size. The value 1 means 65,536, which does not fit into the field.
    private static func pageSize(_ header: [UInt8]) -> Int {
        let size = header[8..<12].reduce(0) { $0 << 8 | Int($1) }
        return size == 1 ? 65_536 : size
    }
}

/// The log beside a database, opened for reading. SQLite has no lock on the log, so closing a
/// descriptor releases none.
private final class OpenLogFile {
    private let descriptor: Int32

    init?(_ path: String) {
        descriptor = open(path + "-wal", O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Returns nil if there are fewer bytes.
    func bytes(_ count: Int, at offset: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let length = bytes.withUnsafeMutableBytes {
            pread(descriptor, $0.baseAddress!, count, off_t(offset))
        }
        return length == count ? bytes : nil
    }
}
