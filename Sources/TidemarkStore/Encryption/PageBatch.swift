/// Consecutive pages of an encrypted file, in encrypted and decrypted form. The scanning thread
/// reads the pages together, and another thread decrypts them while the first handles earlier pages
/// (``HandedWork``).
// @unchecked: from ``decrypt(with:)`` until the work is settled, only the other thread uses this
// object.
final class PageBatch: @unchecked Sendable {
    private(set) var numbers: Range<Int64> = 0..<0
    private let sealed = PageMemory()
    private let pages = PageMemory()
    /// True for each page that has been decrypted, by position.
    private var isOpen = [Bool](repeating: false, count: PageMemory.most)
    private let work = HandedWork()

    deinit {
        sealed.deallocate()
        pages.deallocate()
    }

    /// Fills the batch with other pages.
    ///
    /// - Parameter read: Reads the encrypted pages into memory.
    /// - Returns: False if reading failed; the batch is then empty.
    func fill(_ numbers: Range<Int64>, _ read: (UnsafeMutableRawBufferPointer) -> Bool) -> Bool {
        work.settle()
        let isRead = read(sealed[0..<numbers.count])
        self.numbers = isRead ? numbers : 0..<0
        for place in isOpen.indices { isOpen[place] = false }
        return isRead
    }

    func forget() {
        work.settle()
        numbers = 0..<0
    }

    /// Starts decrypting the pages on the other thread.
    func decrypt(with cipher: any PageCipher) {
        work.hand { [self] in
            for (place, number) in numbers.enumerated() {
                isOpen[place] = SealedPage.open(
                    sealed[place], into: pages[place], number: number, cipher, verifies: true)
            }
        }
    }

    /// Copies a decrypted page; decrypts the page first if the other thread has not.
    ///
    /// - Returns: False if the page differs from the page that was written.
    func open(
        _ number: Int64, into page: UnsafeMutableRawBufferPointer, _ cipher: any PageCipher
    ) -> Bool {
        work.settle()
        let place = Int(number - numbers.lowerBound)
        if isOpen[place] {
            page.copyMemory(from: UnsafeRawBufferPointer(pages[place]))
            return true
        }
        return SealedPage.open(
            sealed[place], into: page, number: number, cipher, verifies: true)
    }
}
