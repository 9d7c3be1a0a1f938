import Dispatch
import Synchronization

/// Work that one thread passes to a second and needs later. If the second thread has not begun the
/// work by then, the first thread takes it back and does it itself, so it never waits for a thread
/// that has not started.
///
/// ``hand(_:)`` and ``settle()`` must not be called concurrently.
final class HandedWork: Sendable {
    private enum Phase: UInt64 { case none, waits, runs }

    private static let helper = DispatchQueue(
        label: "tidemark.encryption", qos: .userInitiated, attributes: .concurrent)

    /// The number of the work and its phase. The number prevents a late call for work that was
    /// taken back from starting later work.
    private let state = Atomic<UInt64>(0)
    private let finished = DispatchSemaphore(value: 0)

    private static func state(_ number: UInt64, _ phase: Phase) -> UInt64 {
        number << 2 | phase.rawValue
    }

    /// Passes work to the second thread. The previous work must be settled.
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

    /// Takes the work back or waits for it. Afterwards the second thread neither runs the work nor
    /// starts it.
    ///
    /// - Returns: True if there was work and the second thread has done it.
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
