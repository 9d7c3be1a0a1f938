import TidemarkStore
package import TidemarkSync

/// A client's disk: full when the world says so, and the place where a process is killed, just before
/// or just after one of its transactions is committed.
// @unchecked: a world lives in one thread.
package final class WorldDisk: @unchecked Sendable {
    /// A process ends at the n-th transaction from now that writes.
    package struct Killing: Hashable, Sendable {
        package var transactions: Int
        /// Whether the transaction is still committed.
        package var commits: Bool

        package init(transactions: Int, commits: Bool) {
            precondition(transactions > 0)
            self.transactions = transactions
            self.commits = commits
        }
    }

    /// Kinds of transactions that find the disk full.
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
