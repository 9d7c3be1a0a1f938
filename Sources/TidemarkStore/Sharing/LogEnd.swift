import TidemarkSystem

/// Up to where a log of SQLite was read: whether there is more in it by now.
///
/// A log begins with a header whose salts change when the log is begun anew, and each of its pages repeats
/// them: what follows the last page is a page of an older log, or nothing (sqlite.org/fileformat2.html, 4.1).
/// In an encrypted log it is the first of several in a box that does (``SealedFrames``).
struct LogEnd: Equatable, Sendable {
    private static let (headerSize, pageHeaderSize) = (32, 24)
    private static let (saltsInHeader, saltsInPage) = (16..<24, 8..<16)

    /// Empty without a log.
    private let header: [UInt8]
    /// Behind its last page.
    private let offset: Int

    /// Looks for the end of a log.
    ///
    /// - Parameter path: The database's.
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

    /// Whether nothing was appended since, and the log is the same one.
    func isEnd(of path: String) -> Bool {
        guard let log = OpenLogFile(path), let now = log.bytes(Self.headerSize, at: 0) else {
            return header.isEmpty
        }
        return now == header && Self.pages(at: offset, in: log, header) == nil
    }

    /// How many lie together here; nil where none of this log does.
    private static func pages(at offset: Int, in log: OpenLogFile, _ header: [UInt8]) -> Int? {
        guard let page = log.bytes(pageHeaderSize, at: offset),
            page[saltsInPage] == header[saltsInHeader]
        else { return nil }
        return SealedFrames.isMarked(header[0]) ? page.withUnsafeBytes(SealedFrames.count) : 1
    }

    /// 1 stands for 65,536, which does not fit.
    private static func pageSize(_ header: [UInt8]) -> Int {
        let size = header[8..<12].reduce(0) { $0 << 8 | Int($1) }
        return size == 1 ? 65_536 : size
    }
}

/// The log beside a database, for reading. SQLite has no lock on it that a closed descriptor could end.
private final class OpenLogFile {
    private let descriptor: Int32

    init?(_ path: String) {
        descriptor = open(path + "-wal", O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Nil when there are not as many.
    func bytes(_ count: Int, at offset: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let length = bytes.withUnsafeMutableBytes {
            pread(descriptor, $0.baseAddress!, count, off_t(offset))
        }
        return length == count ? bytes : nil
    }
}
