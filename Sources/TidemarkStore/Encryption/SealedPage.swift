/// How a page lies in an encrypted file: one box of a ``PageCipher``, with the page and its number, in the
/// length of a page, since SQLite leaves room at the end of each.
///
/// Page 1 begins with a ``SealedHeader``, and its box lies behind that. What the header displaces is known:
/// SQLite's magic text, and twenty bytes that SQLite keeps at zero (sqlite.org/fileformat2.html, 1.3).
enum SealedPage {
    static let size = 4_096
    /// The room at the end of each page, for number and box. SQLite has zeros there.
    static let roomSize = 4 + SealedBox.overhead
    static let plainBeginning = Array("SQLite format 3\0".utf8)

    /// In page 1 as SQLite has it: between the magic text and the bytes that stay zero.
    private static let kept = 16..<72
    private static let zeros = 72..<92
    /// Behind the page's contents, where the page's number is encrypted with them.
    private static let number = size - roomSize..<size - SealedBox.overhead

    /// Whether a page can be written so that it reads the same.
    static func isFit(_ page: UnsafeRawBufferPointer, isFirst: Bool) -> Bool {
        guard page.count == size, page.suffix(roomSize).allSatisfy({ $0 == 0 }) else {
            return false
        }
        if !isFirst { return true }
        return page.starts(with: plainBeginning) && page[16] == UInt8(size >> 8) && page[17] == 0
            && page[20] == UInt8(roomSize) && page[zeros].allSatisfy { $0 == 0 }
    }

    /// - Parameters:
    ///   - page: As SQLite has it; other bytes afterwards.
    ///   - sealed: Where it is written to, as it lies in the file.
    /// - Returns: False when the cipher failed.
    static func seal(
        _ page: UnsafeMutableRawBufferPointer, into sealed: UnsafeMutableRawBufferPointer,
        number: Int64, _ header: SealedHeader, _ cipher: any PageCipher
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
    ///   - sealed: As it lies in the file.
    ///   - page: Where it is written to, as SQLite has it.
    ///   - verifies: False for a page that may be damaged.
    /// - Returns: False for a page that is not as it was written.
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

    /// SQLite has no page whose number is longer.
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

    /// What SQLite may be told of the header of a page 1 that does not open: how long a page is, which of
    /// every encrypted file is the same. So it comes to look for the journal or the log that mends it.
    static func writeKnownHeader(to page: UnsafeMutableRawBufferPointer) {
        fill(page)
        page.copyBytes(from: plainBeginning)
        page[16] = UInt8(size >> 8)
        (page[18], page[19], page[20]) = (2, 2, UInt8(roomSize))
        (page[21], page[22], page[23]) = (64, 32, 32)
    }
}
