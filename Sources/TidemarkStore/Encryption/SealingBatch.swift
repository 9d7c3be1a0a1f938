import GRDBSQLite

/// Pages that are to be written to an encrypted file, as SQLite has them, and as they will lie there. The thread
/// that moves the log collects them, and another one may encrypt them (``HandedWork``).
// @unchecked: from ``seal(_:_:)`` until the work is settled everything here is the other thread's.
final class SealingBatch: @unchecked Sendable {
    private var numbers: [Int64] = []
    private let pages = PageMemory()
    private let sealed = PageMemory()
    private let work = HandedWork()
    /// Whether all were encrypted by the other thread.
    private var isSealed = false

    deinit {
        pages.deallocate()
        sealed.deallocate()
    }

    var isFull: Bool { numbers.count == PageMemory.most }

    /// To be called while it is not full and nobody encrypts.
    func add(_ page: UnsafeRawBufferPointer, _ number: Int64) {
        pages[numbers.count].copyMemory(from: page)
        numbers.append(number)
    }

    /// Has the pages encrypted by the other thread.
    func seal(_ header: SealedHeader, _ cipher: any PageCipher) {
        work.hand { [self] in isSealed = sealAll(header, cipher) }
    }

    private func sealAll(_ header: SealedHeader, _ cipher: any PageCipher) -> Bool {
        for (place, number) in numbers.enumerated() {
            guard
                SealedPage.seal(
                    pages[place], into: sealed[place], number: number, header, cipher)
            else { return false }
        }
        return true
    }

    /// Writes the pages, those that are side by side together, and has none then.
    ///
    /// - Parameter write: Writes to an offset of the file.
    /// - Returns: SQLite's code.
    func write(
        _ header: SealedHeader, _ cipher: any PageCipher,
        _ write: (UnsafeMutableRawBufferPointer, Int64) -> Int32
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
