import TidemarkStore
package import TidemarkSync

/// A client's disk. It can be full, and it can kill the process just before or just after a
/// transaction is committed.
// @unchecked: a world uses only one thread.
package final class WorldDisk: @unchecked Sendable {
    /// Kills the process at the n-th writing transaction from now.
    package struct Killing: Hashable, Sendable {
        package var transactions: Int
        /// True if the transaction is still committed.
        package var commits: Bool

        package init(transactions: Int, commits: Bool) {
            precondition(transactions > 0)
            self.transactions = transactions
            self.commits = commits
        }
    }

    /// The kinds of transactions for which the disk is full.
    package var full: Set<StorageStep> = []
    package var killing: Killing?
    /// Ends the process that has the file open.
    var onKill: (StorageStep) -> Void = { _ in }
    private(set) var failures = 0

    static let gone = StoreError.unreadable(detail: "the process is gone")

    func fault(_ process: WorldProcess) -> SyncEnvironment.StorageFaultSource {
        { [self] step in
            guard process.isAlive else { return Self.gone }
            if step == .read { return nil }
            if full.contains(step) {
                failures += 1
                return .full
            }
            guard var next = killing else { return nil }
            next.transactions -= 1
            killing = next.transactions == 0 ? nil : next
            guard killing == nil else { return nil }
            onKill(step)
            return next.commits ? nil : Self.gone
        }
    }
}
