/// Pages of an encrypted file in order, as they lie there, and decrypted. The thread that scans reads them together,
/// and another one decrypts them while it is at the pages before (``HandedWork``).
// @unchecked: from ``decrypt(with:)`` until the work is settled everything here is the other thread's.
final class PageBatch: @unchecked Sendable {
    private(set) var numbers: Range<Int64> = 0..<0
    private let sealed = PageMemory()
    private let pages = PageMemory()
    /// By their places.
    private var isOpen = [Bool](repeating: false, count: PageMemory.most)
    private let work = HandedWork()

    deinit {
        sealed.deallocate()
        pages.deallocate()
    }

    /// Fills it with other pages.
    ///
    /// - Parameter read: Reads them to where it is told, as they lie in the file.
    /// - Returns: False when that failed; there are none then.
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

    /// Has the pages decrypted by the other thread.
    func decrypt(with cipher: any PageCipher) {
        work.hand { [self] in
            for (place, number) in numbers.enumerated() {
                isOpen[place] = SealedPage.open(
                    sealed[place], into: pages[place], number: number, cipher, verifies: true)
            }
        }
    }

    /// Decrypts one of the pages, where that is not done.
    ///
    /// - Returns: False for a page that is not as it was written.
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
