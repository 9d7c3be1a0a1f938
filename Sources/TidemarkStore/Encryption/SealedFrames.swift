/// How pages lie in the log of an encrypted file: up to ``most`` that one transaction appends, encrypted
/// together. What SQLite has as header and page, one after the other (sqlite.org/fileformat2.html, 4.1), is one
/// box of a ``PageCipher`` of the same length, since SQLite leaves room at the end of each page.
///
/// ```
/// the first header's page, length of the file, salts   16 bytes, in the clear
/// how many pages                                         4
/// a box: the first header's sums, the first page, the other headers and pages
/// ```
///
/// Together, because a call of the library costs as much as the encryption of three pages. SQLite's sums are of
/// what it wrote, and run from page to page: in the clear they would say something of it. They stay, because
/// they tell what a transaction left behind that was undone.
enum SealedFrames {
    /// Of one box. More would make a single page that is read dearer.
    static let most = 8
    static let logHeader = 32
    static let header = 24
    /// Of one header and its page.
    static let size = header + SealedPage.size
    private static let clear = 16
    private static let box = clear + 4

    /// Marks the header of an encrypted log, and takes the mark away: who reads a log without the key sees by it
    /// how pages lie there.
    static func toggleMark(_ header: UnsafeMutableRawBufferPointer) { header[0] ^= marked }

    /// No log of SQLite begins so.
    static func isMarked(_ firstByte: UInt8) -> Bool { firstByte & marked != 0 }

    private static let marked: UInt8 = 0x80

    /// How many lie in the box that begins here; nil where none does.
    ///
    /// - Parameter sealed: At least its first header.
    static func count(_ sealed: UnsafeRawBufferPointer) -> Int? {
        let count = UInt32(
            littleEndian: sealed.loadUnaligned(fromByteOffset: clear, as: UInt32.self))
        return 1...UInt32(most) ~= count ? Int(count) : nil
    }

    /// Whether SQLite's transaction ends with the page of this header, of which the file's length is known
    /// then.
    static func isLast(_ header: UnsafeRawBufferPointer) -> Bool {
        header.loadUnaligned(fromByteOffset: 4, as: UInt32.self) != 0
    }

    /// - Parameters:
    ///   - frames: Headers and pages as SQLite has them.
    ///   - sealed: Where they are written to, as they lie in the log. Of the same length.
    ///   - place: Of the first, in the log, from 0.
    /// - Returns: False when the cipher failed.
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
    ///   - frames: Where headers and pages are written to. Of the same length.
    ///   - verifies: False for contents that may be damaged.
    /// - Returns: False for what is not as it was written.
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

    /// What is encrypted. The room at the end of the last page is that of the box.
    private static func message(_ count: Int) -> Range<Int> {
        clear..<count * size - SealedPage.roomSize
    }

    /// Eight bytes by which a box differs from every other one, also from one that was at its place before.
    static func mark(_ sealed: UnsafeRawBufferPointer) -> UInt64 {
        sealed.loadUnaligned(fromByteOffset: sealed.count - 8, as: UInt64.self)
    }
}
