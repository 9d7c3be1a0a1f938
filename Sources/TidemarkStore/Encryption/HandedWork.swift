import Dispatch
import Synchronization

/// Work that one thread hands to a second, and needs to be done later. What the second has not begun by then, the
/// first takes back and does itself: it never waits for a thread that waits for its turn.
///
/// ``hand(_:)`` and ``settle()`` are called by one thread at a time.
final class HandedWork: Sendable {
    private enum Phase: UInt64 { case none, waits, runs }

    private static let helper = DispatchQueue(
        label: "tidemark.encryption", qos: .userInitiated, attributes: .concurrent)

    /// Each work has a number, so that the call for one that was taken back does not begin a later one.
    private let state = Atomic<UInt64>(0)
    private let finished = DispatchSemaphore(value: 0)

    private static func state(_ number: UInt64, _ phase: Phase) -> UInt64 {
        number << 2 | phase.rawValue
    }

    /// The work before has been settled.
    func hand(_ body: @escaping @Sendable () -> Void) {
        let number = (state.load(ordering: .relaxed) >> 2) &+ 1
        state.store(Self.state(number, .waits), ordering: .releasing)
        Self.helper.async {
            let (isMine, _) = self.state.compareExchange(
                expected: Self.state(number, .waits), desired: Self.state(number, .runs),
                ordering: .acquiringAndReleasing)
            guard isMine else { return }
            body()
            self.finished.signal()
        }
    }

    /// Afterwards the second thread is not at it, and will not begin.
    ///
    /// - Returns: Whether there was work, and it is done.
    @discardableResult func settle() -> Bool {
        let number = state.load(ordering: .relaxed) >> 2
        let (isTakenBack, found) = state.compareExchange(
            expected: Self.state(number, .waits), desired: Self.state(number, .none),
            ordering: .acquiringAndReleasing)
        guard !isTakenBack, found == Self.state(number, .runs) else { return false }
        finished.wait()
        state.store(Self.state(number, .none), ordering: .releasing)
        return true
    }
}
