/// The layout of a page in an encrypted file: a box of a ``PageCipher`` with the page and its
/// number, of the length of a page, because SQLite leaves space at the end of each page.
///
/// Page 1 begins with a ``SealedHeader``, followed by its box. The header replaces known bytes:
/// SQLite's magic text, and twenty bytes that SQLite keeps at zero (sqlite.org/fileformat2.html,
/// 1.3).
enum SealedPage {
    static let size = 4_096
    /// The space at the end of each page, for the page number and the box. SQLite keeps it at zero.
    static let roomSize = 4 + SealedBox.overhead
    static let plainBeginning = Array("SQLite format 3\0".utf8)

    /// The ranges of page 1 in SQLite's form, after the magic text: the bytes to keep, and the
    /// bytes that are always zero.
    private static let kept = 16..<72
    private static let zeros = 72..<92
    /// The range after the page's contents in which the page's number is encrypted.
    private static let number = size - roomSize..<size - SealedBox.overhead

    /// Returns true if the page can be written and read back unchanged.
    static func isFit(_ page: UnsafeRawBufferPointer, isFirst: Bool) -> Bool {
        guard page.count == size, page.suffix(roomSize).allSatisfy({ $0 == 0 }) else {
            return false
        }
        if !isFirst { return true }
        return page.starts(with: plainBeginning) && page[16] == UInt8(size >> 8) && page[17] == 0
            && page[20] == UInt8(roomSize) && page[zeros].allSatisfy { $0 == 0 }
    }

    /// - Parameters:
    ///   - page: The page in SQLite's form. Its contents change.
    ///   - sealed: The memory for the encrypted page.
    /// - Returns: False if the cipher failed.
    static func seal(
        _ page: UnsafeMutableRawBufferPointer, into sealed: UnsafeMutableRawBufferPointer,
        number: Int64, header: SealedHeader, cipher: any PageCipher
    ) -> Bool {
        if number == 0 {
            let kept = UnsafeMutableRawBufferPointer(rebasing: page[Self.kept])
            UnsafeMutableRawBufferPointer(rebasing: page[SealedHeader.size..<zeros.upperBound])
                .copyMemory(from: UnsafeRawBufferPointer(kept))
            header.write(to: sealed)
        }
        page.storeBytes(
            of: word(number), toByteOffset: Self.number.lowerBound, as: UInt32.self)
        return cipher.seal(
            UnsafeRawBufferPointer(message(page, number)), into: box(sealed, number), at: nil)
    }

    /// - Parameters:
    ///   - sealed: The encrypted page.
    ///   - page: The memory for the page in SQLite's form.
    ///   - verifies: False for a page that may be damaged.
    /// - Returns: False if the page differs from the page that was written.
    static func open(
        _ sealed: UnsafeMutableRawBufferPointer, into page: UnsafeMutableRawBufferPointer,
        number: Int64, _ cipher: any PageCipher, verifies: Bool
    ) -> Bool {
        let (box, message) = (UnsafeRawBufferPointer(box(sealed, number)), message(page, number))
        if verifies {
            guard cipher.open(box, into: message, at: nil),
                page.loadUnaligned(fromByteOffset: Self.number.lowerBound, as: UInt32.self)
                    == word(number)
            else { return false }
        } else {
            guard cipher.decrypt(box, into: message) else { return false }
        }
        fill(UnsafeMutableRawBufferPointer(rebasing: page[Self.number.lowerBound...]))
        if number == 0 {
            let moved = UnsafeRawBufferPointer(
                rebasing: page[SealedHeader.size..<zeros.upperBound])
            UnsafeMutableRawBufferPointer(rebasing: page[kept]).copyMemory(from: moved)
            page.copyBytes(from: plainBeginning)
            fill(UnsafeMutableRawBufferPointer(rebasing: page[zeros]))
        }
        return true
    }

    /// Returns the page number in 32 bits, the size of SQLite's page numbers.
    private static func word(_ number: Int64) -> UInt32 {
        UInt32(truncatingIfNeeded: number).littleEndian
    }

    private static func message(
        _ page: UnsafeMutableRawBufferPointer, _ number: Int64
    ) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: page[start(number)..<Self.number.upperBound])
    }

    private static func box(
        _ sealed: UnsafeMutableRawBufferPointer, _ number: Int64
    ) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: sealed[start(number)..<size])
    }

    private static func start(_ number: Int64) -> Int { number == 0 ? SealedHeader.size : 0 }

    private static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// Writes the parts of page 1's header that are the same in every encrypted file, such as the
    /// page size. With them SQLite looks for the journal or the log that repairs a page 1 that
    /// cannot be decrypted.
    static func writeKnownHeader(to page: UnsafeMutableRawBufferPointer) {
        fill(page)
        page.copyBytes(from: plainBeginning)
        page[16] = UInt8(size >> 8)
        (page[18], page[19], page[20]) = (2, 2, UInt8(roomSize))
        (page[21], page[22], page[23]) = (64, 32, 32)
    }
}
