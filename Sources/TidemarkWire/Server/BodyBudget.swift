import Synchronization

/// Bounds the memory of all requests that are not performed yet: incomplete bodies and messages,
/// the values that are decoded from them, and WebChannel maps that arrived before their turn.
///
/// Every single request has a limit too, but many requests together would exceed a machine's
/// memory. A request that does not fit is refused with `UNAVAILABLE`, and clients try again.
package final class BodyBudget: Sendable {
    /// The budget that all ports of this process share.
    package static let process = BodyBudget(limit: 256 << 20)

    private let limit: Int
    private let held = Atomic(0)

    /// - Parameter limit: The maximum number of bytes.
    package init(limit: Int) {
        precondition(limit > 0)
        self.limit = limit
    }

    /// The number of bytes that are held now.
    package var heldBytes: Int { held.load(ordering: .relaxed) }

    /// Returns an empty share. Its bytes are released when the share is deallocated.
    package func share() -> Share { Share(self) }

    package final class Share: Sendable {
        private let budget: BodyBudget
        private let bytes = Atomic(0)

        fileprivate init(_ budget: BodyBudget) { self.budget = budget }

        deinit { budget.held.subtract(bytes.load(ordering: .relaxed), ordering: .relaxed) }

        /// - Returns: False if the budget has too little room. Then nothing is changed.
        package func grow(by more: Int) -> Bool {
            precondition(more >= 0)
            if budget.held.add(more, ordering: .relaxed).newValue > budget.limit, more > 0 {
                budget.held.subtract(more, ordering: .relaxed)
                return false
            }
            bytes.add(more, ordering: .relaxed)
            return true
        }

        /// Releases a part of the share's bytes.
        package func shrink(by fewer: Int) {
            let rest = bytes.subtract(fewer, ordering: .relaxed).newValue
            precondition(fewer >= 0 && rest >= 0, "a share gives back what it has at most")
            budget.held.subtract(fewer, ordering: .relaxed)
        }
    }
}
