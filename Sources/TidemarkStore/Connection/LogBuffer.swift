/// Collects the bytes that a transaction appends to SQLite's log until the transaction ends or the
/// buffer is full.
///
/// SQLite passes each changed page to the system with two calls, for the header and the page: 1,700
/// calls for 500 documents in a large cache. The buffer writes the same bytes in pieces of up to
/// 128 KB.
///
/// A transaction is in the log once its last page is, and the last page is never held back.
struct LogBuffer: Equatable {
    enum Step: Equatable {
        case kept
        /// Write the buffered bytes, which now include the last page of the transaction.
        case complete
        /// Write and drop the buffered bytes, and then write the new bytes, which are not buffered.
        case refused
    }

    /// SQLite's layer for Unix truncates a count to 17 bits, so exactly 128 KB would become 0.
    static let capacity = 128 * 1_024 - 1
    /// The sizes in bytes of the log's header and of each page's header
    /// (sqlite.org/fileformat2.html, 4.1).
    private static let (logHeader, pageHeader) = (32, 24)

    /// The position of the buffered bytes in the file.
    private(set) var offset: Int64 = 0
    private(set) var bytes: [UInt8] = []
    private var isLastPage = false

    var isEmpty: Bool { bytes.isEmpty }

    mutating func forget() { bytes.removeAll(keepingCapacity: true) }

    mutating func add(_ new: UnsafeRawBufferPointer, at place: Int64) -> Step {
        let header = Self.header(new)
        if isEmpty {
            // A header that ends a transaction may correct an old one, with no page after it.
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

    /// Returns nil for a page, which has at least 512 bytes.
    private static func header(_ bytes: UnsafeRawBufferPointer) -> Header? {
        switch bytes.count {
        case logHeader: .ofLog
        // The header of a transaction's last page holds the number of pages of the file; other
        // headers hold 0.
        case pageHeader: .ofPage(isLast: bytes[4..<8].contains { $0 != 0 })
        default: nil
        }
    }
}
