/// The layout of pages in the log of an encrypted file. Up to ``most`` pages that one transaction
/// appends are encrypted together. SQLite's sequence of headers and pages
/// (sqlite.org/fileformat2.html, 4.1) becomes a box of a ``PageCipher`` of the same length, because
/// SQLite leaves space at the end of each page.
///
/// ```
/// the first header's page, length of the file, salts   16 bytes, not encrypted
/// number of pages                                       4
/// a box: the first header's checksums, the first page, the other headers and pages
/// ```
///
/// Pages are encrypted together because a call of the library costs as much as encrypting three
/// pages. SQLite's checksums cover the plain pages and run from page to page, so unencrypted they
/// would reveal something about the pages. They are kept because they mark the end of the valid
/// pages after a transaction was rolled back.
enum SealedFrames {
    /// The maximum number of pages in a box. A larger box would make reading a single page slower.
    static let most = 8
    static let logHeader = 32
    static let header = 24
    /// The size of a header and its page.
    static let size = header + SealedPage.size
    private static let clear = 16
    private static let box = clear + 4

    /// Sets or clears the mark in the header of an encrypted log. A reader without the key
    /// recognizes the layout by the mark.
    static func toggleMark(_ header: UnsafeMutableRawBufferPointer) { header[0] ^= marked }

    /// Returns true if the log is marked. No log of SQLite begins with such a byte.
    static func isMarked(_ firstByte: UInt8) -> Bool { firstByte & marked != 0 }

    private static let marked: UInt8 = 0x80

    /// Returns the number of pages in the box that begins here; nil if there is no box.
    ///
    /// - Parameter sealed: The start of the box, at least its first header.
    static func count(_ sealed: UnsafeRawBufferPointer) -> Int? {
        let count = UInt32(
            littleEndian: sealed.loadUnaligned(fromByteOffset: clear, as: UInt32.self))
        return 1...UInt32(most) ~= count ? Int(count) : nil
    }

    /// Returns true if SQLite's transaction ends with the page of this header, which then contains
    /// the file's length.
    static func isLast(_ header: UnsafeRawBufferPointer) -> Bool {
        header.loadUnaligned(fromByteOffset: 4, as: UInt32.self) != 0
    }

    /// - Parameters:
    ///   - frames: The headers and pages in SQLite's form.
    ///   - sealed: The memory for their encrypted form, of the same length.
    ///   - place: The position of the first page in the log, from 0.
    /// - Returns: False if the cipher failed.
    static func seal(
        _ frames: UnsafeRawBufferPointer, into sealed: UnsafeMutableRawBufferPointer,
        place: Int, _ cipher: any PageCipher
    ) -> Bool {
        let count = frames.count / size
        sealed.copyMemory(from: UnsafeRawBufferPointer(rebasing: frames[..<clear]))
        sealed.storeBytes(of: UInt32(count).littleEndian, toByteOffset: clear, as: UInt32.self)
        return cipher.seal(
            UnsafeRawBufferPointer(rebasing: frames[message(count)]),
            into: UnsafeMutableRawBufferPointer(rebasing: sealed[box...]),
            at: PagePlace(log: place, count: count, frames))
    }

    /// - Parameters:
    ///   - frames: The memory for headers and pages, of the same length.
    ///   - verifies: False for contents that may be damaged.
    /// - Returns: False if the contents differ from those that were written.
    static func open(
        _ sealed: UnsafeRawBufferPointer, into frames: UnsafeMutableRawBufferPointer,
        place: Int, _ cipher: any PageCipher, verifies: Bool
    ) -> Bool {
        let count = frames.count / size
        let box = UnsafeRawBufferPointer(rebasing: sealed[box...])
        let contents = UnsafeMutableRawBufferPointer(rebasing: frames[message(count)])
        let isOpen =
            verifies
            ? cipher.open(
                box, into: contents, at: PagePlace(log: place, count: count, sealed))
            : cipher.decrypt(box, into: contents)
        guard isOpen else { return false }
        frames.copyMemory(from: UnsafeRawBufferPointer(rebasing: sealed[..<clear]))
        UnsafeMutableRawBufferPointer(rebasing: frames[message(count).upperBound...])
            .initializeMemory(as: UInt8.self, repeating: 0)
        return true
    }

    /// Returns the range to encrypt. The space at the end of the last page holds the rest of the
    /// box.
    private static func message(_ count: Int) -> Range<Int> {
        clear..<count * size - SealedPage.roomSize
    }

    /// Returns eight bytes that distinguish a box from every other box, including earlier boxes at
    /// the same position.
    static func mark(_ sealed: UnsafeRawBufferPointer) -> UInt64 {
        sealed.loadUnaligned(fromByteOffset: sealed.count - 8, as: UInt64.self)
    }
}
