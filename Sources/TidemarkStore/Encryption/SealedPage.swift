/// How a page lies in an encrypted file: its contents, encrypted, and its seal in the room that SQLite
/// leaves free.
///
/// Page 1 begins with a ``SealedHeader``. What that displaces is known: SQLite's magic text, and twenty
/// bytes that SQLite keeps at zero (sqlite.org/fileformat2.html, 1.3).
enum SealedPage {
    static let size = 4_096
    /// At the end of each page. SQLite has zeros there.
    static let sealSize = 32
    static let plainBeginning = Array("SQLite format 3\0".utf8)

    /// In page 1 as SQLite has it: between the magic text and the bytes that stay zero.
    private static let kept = 16..<72
    private static let zeros = 72..<92

    /// Whether a page can be written so that it reads the same.
    static func isFit(_ page: UnsafeRawBufferPointer, isFirst: Bool) -> Bool {
        guard page.count == size, page.suffix(sealSize).allSatisfy({ $0 == 0 }) else {
            return false
        }
        if !isFirst { return true }
        return page.starts(with: plainBeginning) && page[16] == UInt8(size >> 8) && page[17] == 0
            && page[20] == UInt8(sealSize) && page[zeros].allSatisfy { $0 == 0 }
    }

    /// - Returns: False when the cipher failed.
    static func seal(
        _ page: UnsafeMutableRawBufferPointer, number: Int64, _ header: SealedHeader,
        _ cipher: any PageCipher
    ) -> Bool {
        if number == 0 {
            let kept = UnsafeMutableRawBufferPointer(rebasing: page[Self.kept])
            UnsafeMutableRawBufferPointer(rebasing: page[SealedHeader.size..<zeros.upperBound])
                .copyMemory(from: UnsafeRawBufferPointer(kept))
            header.write(to: page)
        }
        let (contents, seal) = parts(page, number)
        return cipher.seal(contents, seal, PagePlace(page: number))
    }

    /// - Parameter verifies: False for contents that may be damaged.
    /// - Returns: False for a page that is not as it was written.
    static func open(
        _ page: UnsafeMutableRawBufferPointer, number: Int64, _ cipher: any PageCipher,
        verifies: Bool
    ) -> Bool {
        let (contents, seal) = parts(page, number)
        let isOpen =
            verifies
            ? cipher.open(contents, UnsafeRawBufferPointer(seal), PagePlace(page: number))
            : cipher.decrypt(contents, UnsafeRawBufferPointer(seal))
        guard isOpen else { return false }
        fill(seal)
        if number == 0 {
            let moved = UnsafeRawBufferPointer(
                rebasing: page[SealedHeader.size..<zeros.upperBound])
            UnsafeMutableRawBufferPointer(rebasing: page[kept]).copyMemory(from: moved)
            page.copyBytes(from: plainBeginning)
            fill(UnsafeMutableRawBufferPointer(rebasing: page[zeros]))
        }
        return true
    }

    private static func parts(
        _ page: UnsafeMutableRawBufferPointer, _ number: Int64
    ) -> (contents: UnsafeMutableRawBufferPointer, seal: UnsafeMutableRawBufferPointer) {
        let start = number == 0 ? SealedHeader.size : 0
        return (
            UnsafeMutableRawBufferPointer(rebasing: page[start..<size - sealSize]),
            UnsafeMutableRawBufferPointer(rebasing: page[(size - sealSize)...])
        )
    }

    private static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// What SQLite may be told of the header of a page 1 that does not open: how long a page is, which of
    /// every encrypted file is the same. So it comes to look for the journal or the log that mends it.
    static func writeKnownHeader(to page: UnsafeMutableRawBufferPointer) {
        fill(page)
        page.copyBytes(from: plainBeginning)
        page[16] = UInt8(size >> 8)
        (page[18], page[19], page[20]) = (2, 2, UInt8(sealSize))
        (page[21], page[22], page[23]) = (64, 32, 32)
    }
}
