package import TidemarkModel
package import TidemarkSync

/// A transfer of an amount between two accounts, by a transaction or a batch.
package struct WorldTransfer {
    package enum State: Equatable {
        /// In progress, or the process ended before the result was known.
        case running
        case applied(Timestamp)
        /// The transfer changed nothing.
        case failed(SyncError)
        /// The response to the commit was lost.
        case unknown(SyncError)
    }

    let id: String
    let writer: WorldWriter
    let from: DocumentPath
    let to: DocumentPath
    let amount: Int64
    /// True if a batch made the transfer. Its receipt is then the ledger entry.
    let isBatch: Bool
    var state = State.running
    /// True if a commit of the transfer was ever sent.
    var wasSent = false
}

/// Accounts between which transactions and batches transfer amounts. The balances always sum to
/// zero, and each balance equals the transfers applied to it, each exactly once.
package struct WorldBank {
    static let receipts = "transfers"
    static let accounts = ["k0", "k1", "k2"].map { DocumentPath(unchecked: "accounts/\($0)") }

    package private(set) var transfers: [String: WorldTransfer] = [:]
    private(set) var order: [String] = []

    mutating func add(_ transfer: WorldTransfer) {
        precondition(transfers[transfer.id] == nil)
        transfers[transfer.id] = transfer
        order.append(transfer.id)
    }

    mutating func set(_ id: String, _ state: WorldTransfer.State) { transfers[id]!.state = state }
    mutating func sent(_ id: String) { transfers[id]!.wasSent = true }

    static func balance(_ document: Document?) -> Int64 { number("b", document) }
    static func count(_ document: Document?) -> Int64 { number("n", document) }

    private static func number(_ field: String, _ document: Document?) -> Int64 {
        guard case .integer(let number)? = document?.fields[field] else { return 0 }
        return number
    }

    /// Returns the mutation that a batch applies to an account, independent of its balance.
    static func increment(_ account: DocumentPath, by amount: Int64) -> Mutation {
        Mutation(
            path: account, .patch([:], mask: []),
            transforms: [
                FieldTransform(FieldPath(name: "b"), .increment(.integer(amount))),
                FieldTransform(FieldPath(name: "n"), .increment(.integer(1))),
            ])
    }

    // MARK: What the server holds in the end

    /// - Parameter journal: The ledger's documents, which are the receipts of batches.
    func check(
        accounts: [Document], receipts: [Document], journal: [Document]
    ) throws(WorldViolation) {
        let entries = Set(journal.map(\.path.id))
        var held: [String: Document] = [:]
        for receipt in receipts { held[receipt.path.id] = receipt }
        var balances: [DocumentPath: (sum: Int64, count: Int64)] = [:]
        for id in order {
            let transfer = transfers[id]!
            if !transfer.isBatch { try check(transfer, held[id]) }
            guard transfer.isBatch ? entries.contains(id) : held[id] != nil else { continue }
            for (account, amount) in [
                (transfer.from, -transfer.amount), (transfer.to, transfer.amount),
            ] {
                balances[account, default: (0, 0)].sum += amount
                balances[account]!.count += 1
            }
        }
        for account in Self.accounts {
            let document = accounts.first { $0.path == account }
            let (sum, count) = balances[account] ?? (0, 0)
            if Self.balance(document) == sum, Self.count(document) == count { continue }
            throw WorldViolation(
                .transfers,
                "\(account.text) holds \(document?.worldText ?? "nothing"), but \(count) transfers "
                    + "come to \(sum): some were applied twice, in part, or over one another")
        }
    }

    private func check(
        _ transfer: WorldTransfer, _ receipt: Document?
    ) throws(WorldViolation) {
        switch transfer.state {
        case .applied(let time):
            if receipt?.updateTime == time { return }
            throw WorldViolation(
                .transfers,
                "\(transfer.id) was committed at \(time), and is of \(String(describing: receipt))")
        case .failed(let error):
            guard receipt != nil else { return }
            throw WorldViolation(.transfers, "\(transfer.id) failed (\(error)), and was applied")
        case .running, .unknown:
            if receipt == nil || transfer.wasSent { return }
            throw WorldViolation(.transfers, "\(transfer.id) was never committed, and was applied")
        }
    }
}
