import CTidemarkSQLite

/// Pages to be written to an encrypted file, in plain and encrypted form. The thread that moves the
/// log collects them, and another thread can encrypt them (``HandedWork``).
// @unchecked: from ``seal(_:_:)`` until the work is settled, only the other thread uses this
// object.
final class SealingBatch: @unchecked Sendable {
    private var numbers: [Int64] = []
    private let pages = PageMemory()
    private let sealed = PageMemory()
    private let work = HandedWork()
    /// True if the other thread has encrypted all pages.
    private var isSealed = false

    deinit {
        pages.deallocate()
        sealed.deallocate()
    }

    var isFull: Bool { numbers.count == PageMemory.most }

    /// Adds a page. Must be called only if the batch is not full and not being encrypted.
    func add(_ page: UnsafeRawBufferPointer, _ number: Int64) {
        pages[numbers.count].copyMemory(from: page)
        numbers.append(number)
    }

    /// Starts encrypting the pages on the other thread.
    func seal(_ header: SealedHeader, _ cipher: any PageCipher) {
        work.hand { [self] in isSealed = sealAll(header, cipher) }
    }

    private func sealAll(_ header: SealedHeader, _ cipher: any PageCipher) -> Bool {
        for (place, number) in numbers.enumerated() {
            guard
                SealedPage.seal(
                    pages[place], into: sealed[place], number: number, header: header,
                    cipher: cipher)
            else { return false }
        }
        return true
    }

    /// Writes the pages, consecutive pages together, and empties the batch.
    ///
    /// - Parameter write: Writes to an offset of the file.
    /// - Returns: SQLite's code.
    func write(
        _ header: SealedHeader, cipher: any PageCipher,
        write: (UnsafeMutableRawBufferPointer, Int64) -> Int32
    ) -> Int32 {
        let isDone = work.settle()
        defer {
            numbers.removeAll(keepingCapacity: true)
            isSealed = false
        }
        guard isDone ? isSealed : sealAll(header, cipher) else { return LayeredFile.failedWrite }
        var start = 0
        while start < numbers.count {
            var end = start + 1
            while end < numbers.count, numbers[end] == numbers[end - 1] + 1 { end += 1 }
            let code = write(sealed[start..<end], numbers[start] * Int64(SealedPage.size))
            guard code == SQLITE_OK else { return code }
            start = end
        }
        return SQLITE_OK
    }
}
