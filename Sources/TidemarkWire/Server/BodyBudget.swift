import Synchronization

/// Bounds what all requests hold together before they are performed: bodies and messages on their way,
/// what is made of them, and maps of a WebChannel that came before their turn.
///
/// Each has a bound of its own, and many of them together would hold more than a machine has. What finds no
/// room is refused with `UNAVAILABLE`, after which clients try again.
package final class BodyBudget: Sendable {
    /// What this process holds for all of its ports.
    package static let process = BodyBudget(limit: 256 << 20)

    private let limit: Int
    private let held = Atomic(0)

    /// - Parameter limit: In bytes.
    package init(limit: Int) {
        precondition(limit > 0)
        self.limit = limit
    }

    /// Bytes that are held now.
    package var heldBytes: Int { held.load(ordering: .relaxed) }

    /// A part of the budget, of nothing at first. It goes back when nobody has it any more.
    package func share() -> Share { Share(self) }

    package final class Share: Sendable {
        private let budget: BodyBudget
        private let bytes = Atomic(0)

        fileprivate init(_ budget: BodyBudget) { self.budget = budget }

        deinit { budget.held.subtract(bytes.load(ordering: .relaxed), ordering: .relaxed) }

        /// - Returns: False where the budget has no room for so many bytes more; nothing has changed then.
        package func grow(by more: Int) -> Bool {
            precondition(more >= 0)
            if budget.held.add(more, ordering: .relaxed).newValue > budget.limit, more > 0 {
                budget.held.subtract(more, ordering: .relaxed)
                return false
            }
            bytes.add(more, ordering: .relaxed)
            return true
        }

        /// Gives back so many bytes of those that it has.
        package func shrink(by fewer: Int) {
            let rest = bytes.subtract(fewer, ordering: .relaxed).newValue
            precondition(fewer >= 0 && rest >= 0, "a share gives back what it has at most")
            budget.held.subtract(fewer, ordering: .relaxed)
        }
    }
}
