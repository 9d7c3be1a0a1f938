import Dispatch
import Synchronization

/// Pages of an encrypted file in order, as they lie there, and decrypted. The thread that scans reads them together,
/// and another one decrypts them while it is at the pages before.
///
/// What the other thread has not begun with when they are needed, the first one takes back and decrypts itself,
/// page by page: it never waits for a thread that waits for its turn.
// @unchecked: from ``decrypt(with:)`` to ``settle()`` everything here is the other thread's.
final class PageBatch: @unchecked Sendable {
    /// 128 KB, and as many decrypted.
    static let most: Int64 = 32

    private enum Work: Int, AtomicRepresentable { case none, waits, runs }

    private static let helper = DispatchQueue(
        label: "tidemark.decryption", qos: .userInitiated, attributes: .concurrent)

    private(set) var numbers: Range<Int64> = 0..<0
    private let sealed: UnsafeMutableRawBufferPointer
    private let pages: UnsafeMutableRawBufferPointer
    /// By their places.
    private var isOpen = [Bool](repeating: false, count: Int(most))
    private let work = Atomic(Work.none)
    private let finished = DispatchSemaphore(value: 0)

    init() {
        let length = Int(Self.most) * SealedPage.size
        sealed = .allocate(byteCount: length, alignment: 16)
        pages = .allocate(byteCount: length, alignment: 16)
    }

    deinit {
        sealed.deallocate()
        pages.deallocate()
    }

    /// Fills it with other pages.
    ///
    /// - Parameter read: Reads them to where it is told, as they lie in the file.
    /// - Returns: False when that failed; there are none then.
    func fill(_ numbers: Range<Int64>, _ read: (UnsafeMutableRawBufferPointer) -> Bool) -> Bool {
        settle()
        let length = numbers.count * SealedPage.size
        let isRead = read(UnsafeMutableRawBufferPointer(rebasing: sealed[..<length]))
        self.numbers = isRead ? numbers : 0..<0
        for place in isOpen.indices { isOpen[place] = false }
        return isRead
    }

    func forget() {
        settle()
        numbers = 0..<0
    }

    /// Has the pages decrypted by the other thread.
    func decrypt(with cipher: any PageCipher) {
        // May be used by two threads to decrypt.
        nonisolated(unsafe) let cipher = cipher
        work.store(.waits, ordering: .releasing)
        Self.helper.async { self.run(cipher) }
    }

    private func run(_ cipher: any PageCipher) {
        let (isMine, _) = work.compareExchange(
            expected: .waits, desired: .runs, ordering: .acquiringAndReleasing)
        guard isMine else { return }
        for (place, number) in numbers.enumerated() {
            isOpen[place] = SealedPage.open(
                part(sealed, place), into: part(pages, place), number: number, cipher,
                verifies: true)
        }
        finished.signal()
    }

    /// What the other thread has begun is done afterwards, and what it has not begun it does not do.
    private func settle() {
        let (isTakenBack, state) = work.compareExchange(
            expected: .waits, desired: .none, ordering: .acquiringAndReleasing)
        if isTakenBack || state == .none { return }
        finished.wait()
        work.store(.none, ordering: .releasing)
    }

    /// Decrypts one of the pages, where that is not done.
    ///
    /// - Returns: False for a page that is not as it was written.
    func open(
        _ number: Int64, into page: UnsafeMutableRawBufferPointer, _ cipher: any PageCipher
    ) -> Bool {
        settle()
        let place = Int(number - numbers.lowerBound)
        if isOpen[place] {
            page.copyMemory(from: UnsafeRawBufferPointer(part(pages, place)))
            return true
        }
        return SealedPage.open(
            part(sealed, place), into: page, number: number, cipher, verifies: true)
    }

    private func part(
        _ bytes: UnsafeMutableRawBufferPointer, _ place: Int
    ) -> UnsafeMutableRawBufferPointer {
        let start = place * SealedPage.size
        return UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + SealedPage.size])
    }
}
