/// The pages of an encrypted file behind those that SQLite reads one behind the other, as a scan does: they are
/// read ahead in a ``PageBatch``, and decrypted by another thread. Nothing is until there is a scan; 512 KB then.
///
/// The file is this process's alone while it is locked, and who writes a page, or locks the file, says so here.
struct ReadAhead {
    /// How far a page may be behind the one that was read before: those between are of other tables.
    private static let gap: Int64 = 4
    /// So many pages in order are a scan.
    private static let leastInOrder = 3

    private var last: Int64?
    private var inOrder = 0
    private var current: PageBatch?
    private var next: PageBatch?

    /// To be called with each page that SQLite reads.
    ///
    /// - Returns: Whether it ends a row of pages in order.
    mutating func isScan(to number: Int64) -> Bool {
        let isBehind = last.map { $0 < number && number <= $0 + Self.gap } ?? false
        inOrder = isBehind ? inOrder + 1 : 0
        last = number
        return inOrder >= Self.leastInOrder
    }

    /// The batch with a page, where one was read.
    mutating func batch(with number: Int64) -> PageBatch? {
        if let current, current.numbers.contains(number) { return current }
        guard let next, next.numbers.contains(number) else { return nil }
        swap(&current, &self.next)
        self.next?.forget()
        return next
    }

    /// Reads the pages from this one on.
    ///
    /// - Parameters:
    ///   - end: Of the file, in pages.
    ///   - read: Reads pages as they lie in the file.
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

    /// Reads the pages behind the batch that is in use, and has them decrypted, unless that was done.
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

    /// Of a page that is written.
    mutating func forget(_ number: Int64) {
        if let current, current.numbers.contains(number) { current.forget() }
        if let next, next.numbers.contains(number) { next.forget() }
    }

    mutating func forget() {
        current?.forget()
        next?.forget()
    }
}
