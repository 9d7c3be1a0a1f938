package import NIOCore
import Synchronization

/// The factor of this process for the times that slow connections have: 1, or less in a test of a
/// whole server, which need not wait for minutes then.
package enum PatienceScale {
    private static let thousandths = Atomic(1_000)

    /// Shortens all times of connections that are accepted from now on.
    ///
    /// - Parameter factor: From 0.001 to 1.
    package static func set(_ factor: Double) {
        precondition(0.001...1 ~= factor)
        thousandths.store(Int((factor * 1_000).rounded()), ordering: .relaxed)
    }

    package static func scaled(_ time: TimeAmount) -> TimeAmount {
        .nanoseconds(time.nanoseconds / 1_000 * Int64(thousandths.load(ordering: .relaxed)))
    }
}
