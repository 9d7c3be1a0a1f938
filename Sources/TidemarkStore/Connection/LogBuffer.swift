/// What a transaction appends to SQLite's log, gathered until it ends or there is no more room.
///
/// SQLite hands each changed page to the system with two calls, of its header and of the page: 1,700 for
/// 500 documents in a large cache. Here the same bytes go in pieces of up to 128 KB.
///
/// A transaction is in the log when the last of its pages is: that one is never kept back.
struct LogBuffer: Equatable {
    enum Step: Equatable {
        case kept
        /// All that is kept is to be written: this is the last of it.
        case complete
        /// What is kept is to be written and forgotten, and then this, which is not kept.
        case refused
    }

    /// SQLite's layer for Unix cuts a count to 17 bits, and of 128 KB nothing would be left.
    static let capacity = 128 * 1_024 - 1
    /// Bytes, of the log and of each page in it (sqlite.org/fileformat2.html, 4.1).
    private static let (logHeader, pageHeader) = (32, 24)

    /// Where in the file they belong.
    private(set) var offset: Int64 = 0
    private(set) var bytes: [UInt8] = []
    private var isLastPage = false

    var isEmpty: Bool { bytes.isEmpty }

    mutating func forget() { bytes.removeAll(keepingCapacity: true) }

    mutating func add(_ new: UnsafeRawBufferPointer, at place: Int64) -> Step {
        let header = Self.header(new)
        if isEmpty {
            // One that ends a transaction may be an old one corrected, with no page to follow.
            guard header == .ofLog || header == .ofPage(isLast: false) else { return .refused }
            bytes.reserveCapacity(Self.capacity)
            offset = place
        }
        guard place == offset + Int64(bytes.count), bytes.count + new.count <= Self.capacity
        else { return .refused }
        bytes.append(contentsOf: new)
        defer { isLastPage = header == .ofPage(isLast: true) }
        return isLastPage ? .complete : .kept
    }

    private enum Header: Equatable { case ofLog, ofPage(isLast: Bool) }

    /// Nil for a page, which has 512 bytes at least.
    private static func header(_ bytes: UnsafeRawBufferPointer) -> Header? {
        switch bytes.count {
        case logHeader: .ofLog
        // The last of a transaction says how many pages the file has after it, others say 0.
        case pageHeader: .ofPage(isLast: bytes[4..<8].contains { $0 != 0 })
        default: nil
        }
    }
}
