/// Read-ahead for scans of an encrypted file. When SQLite reads consecutive pages, the following
/// pages are read in a ``PageBatch`` and decrypted by another thread. Uses no memory until a scan
/// begins, and 512 KB then.
///
/// While it is locked, the file belongs to this process. The code that writes a page or locks the
/// file reports it here.
struct ReadAhead {
    /// The maximum distance of consecutive pages in a scan. Pages between them belong to other
    /// tables.
    private static let gap: Int64 = 4
    /// The number of consecutive pages that count as a scan.
    private static let leastInOrder = 3

    private var last: Int64?
    private var inOrder = 0
    private var current: PageBatch?
    private var next: PageBatch?

    /// Records a page that SQLite reads.
    ///
    /// - Returns: True if the page continues a scan.
    mutating func isScan(to number: Int64) -> Bool {
        let isBehind = last.map { $0 < number && number <= $0 + Self.gap } ?? false
        inOrder = isBehind ? inOrder + 1 : 0
        last = number
        return inOrder >= Self.leastInOrder
    }

    /// Returns the batch that contains a page, if one does.
    mutating func batch(with number: Int64) -> PageBatch? {
        if let current, current.numbers.contains(number) { return current }
        guard let next, next.numbers.contains(number) else { return nil }
        swap(&current, &self.next)
        self.next?.forget()
        return next
    }

    /// Reads pages starting with `number`.
    ///
    /// - Parameters:
    ///   - end: The number of pages in the file.
    ///   - read: Reads encrypted pages.
    mutating func begin(
        at number: Int64, end: Int64,
        _ read: (Range<Int64>, UnsafeMutableRawBufferPointer) -> Bool
    ) -> PageBatch? {
        let batch = current ?? PageBatch()
        current = batch
        next?.forget()
        guard number + 1 < end else { return nil }
        let numbers = number..<min(end, number + Int64(PageMemory.most))
        return batch.fill(numbers) { read(numbers, $0) } ? batch : nil
    }

    /// Reads and starts decrypting the pages after the current batch, unless that was done.
    mutating func goOn(
        to end: Int64, _ cipher: any PageCipher,
        _ read: (Range<Int64>, UnsafeMutableRawBufferPointer) -> Bool
    ) {
        guard let start = current?.numbers.upperBound, start < end,
            next?.numbers.isEmpty ?? true
        else { return }
        let batch = next ?? PageBatch()
        next = batch
        let numbers = start..<min(end, start + Int64(PageMemory.most))
        if batch.fill(numbers, { read(numbers, $0) }) { batch.decrypt(with: cipher) }
    }

    /// Drops the batch that contains a page, because the page is being written.
    mutating func forget(_ number: Int64) {
        if let current, current.numbers.contains(number) { current.forget() }
        if let next, next.numbers.contains(number) { next.forget() }
    }

    mutating func forget() {
        current?.forget()
        next?.forget()
    }
}
