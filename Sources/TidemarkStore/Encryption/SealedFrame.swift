/// How a page lies in the log of an encrypted file: SQLite's header of it, whose sums are encrypted
/// together with the page, and the page with its seal (sqlite.org/fileformat2.html, 4.1).
///
/// SQLite's sums are of what it wrote, and run from page to page: in the clear they would say something
/// of it. They stay, because they tell what a transaction left behind that was undone.
enum SealedFrame {
    static let logHeader = 32
    static let header = 24
    static let size = header + SealedPage.size
    /// In the header: page, length of the file and salts are in the clear.
    static let sums = 16..<header

    /// What is found of a page in the log.
    struct Place: Equatable {
        /// From 0.
        let number: Int
        /// Within the header and the page.
        let offset: Int

        /// - Parameter offset: In the log, behind its header.
        init(_ offset: Int64) {
            let place = Int(offset) - logHeader
            number = place / size
            self.offset = place % size
        }

        /// Where header and page begin in the log.
        var start: Int64 { Int64(logHeader + number * size) }
    }

    /// - Returns: False when the cipher failed.
    static func seal(
        _ frame: UnsafeMutableRawBufferPointer, _ place: Place, _ cipher: any PageCipher
    ) -> Bool {
        let (contents, seal) = parts(frame)
        return cipher.seal(
            contents, seal, PagePlace(log: place.number, UnsafeRawBufferPointer(frame)))
    }

    /// - Parameter verifies: False for contents that may be damaged.
    /// - Returns: False for what is not as it was written.
    static func open(
        _ frame: UnsafeMutableRawBufferPointer, _ place: Place, _ cipher: any PageCipher,
        verifies: Bool
    ) -> Bool {
        let (contents, seal) = parts(frame)
        let isOpen =
            verifies
            ? cipher.open(
                contents, UnsafeRawBufferPointer(seal),
                PagePlace(log: place.number, UnsafeRawBufferPointer(frame)))
            : cipher.decrypt(contents, UnsafeRawBufferPointer(seal))
        if isOpen { seal.initializeMemory(as: UInt8.self, repeating: 0) }
        return isOpen
    }

    /// Eight bytes by which a sealed page differs from every other one, also from one that was at its
    /// place before.
    static func mark(_ frame: UnsafeMutableRawBufferPointer) -> UInt64 {
        let seal = UnsafeRawBufferPointer(parts(frame).seal)
        // Of the cipher's tag, behind the number used once.
        return max(1, seal.loadUnaligned(fromByteOffset: 12, as: UInt64.self))
    }

    private static func parts(
        _ frame: UnsafeMutableRawBufferPointer
    ) -> (contents: UnsafeMutableRawBufferPointer, seal: UnsafeMutableRawBufferPointer) {
        let end = size - SealedPage.sealSize
        return (
            UnsafeMutableRawBufferPointer(rebasing: frame[sums.lowerBound..<end]),
            UnsafeMutableRawBufferPointer(rebasing: frame[end...])
        )
    }
}

/// The marks of the pages in an encrypted log, by their place: as ``LogChecksums``, they tell a page that
/// the disk has put back as it once was.
struct SealMarks {
    /// More are given back when the log begins anew.
    private static let keptAtMost = 65_536

    /// 0 where none is known.
    private var marks: [UInt64] = []

    func mark(at place: Int) -> UInt64? {
        place < marks.count && marks[place] != 0 ? marks[place] : nil
    }

    mutating func set(_ mark: UInt64, at place: Int) {
        while marks.count <= place { marks.append(0) }
        marks[place] = mark
    }

    mutating func forget() {
        if marks.count > Self.keptAtMost {
            marks = []
        } else {
            marks.removeAll(keepingCapacity: true)
        }
    }
}
