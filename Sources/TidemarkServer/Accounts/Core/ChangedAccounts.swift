package import TidemarkModel

/// The accounts that transactions have changed or removed, for the holders of their tokens.
package struct ChangedAccounts: Sendable {
    package struct Account: Hashable, Sendable {
        package let pool: ByteString
        package let localID: ByteString

        package init(pool: AccountPool, localID: String) {
            self.pool = ByteString(pool.name)
            self.localID = ByteString(localID)
        }
    }

    package private(set) var accounts: Set<Account> = []
    /// The names of the pools whose accounts were all removed.
    package private(set) var pools: Set<ByteString> = []

    package var isEmpty: Bool { accounts.isEmpty && pools.isEmpty }

    mutating func note(_ localID: String, in pool: AccountPool) {
        accounts.insert(Account(pool: pool, localID: localID))
    }

    mutating func noteAll(in pool: AccountPool) { pools.insert(ByteString(pool.name)) }

    mutating func add(_ other: ChangedAccounts) {
        accounts.formUnion(other.accounts)
        pools.formUnion(other.pools)
    }
}

/// The changes of one transaction so far. Used by a single transaction, on one thread.
final class AccountChanges {
    /// The transaction's place in the order of all: larger than those of all before it.
    let mark: Int64
    var changed = ChangedAccounts()
    /// The accounts whose tokens it has voided.
    private(set) var voided: [ChangedAccounts.Account: VoidedTokens.Moment] = [:]
    /// The id that the call has chosen for a new account; nil for none.
    var newID: String?

    init(mark: Int64) { self.mark = mark }

    /// Voids the tokens of an account that were issued in this second, before this transaction.
    func void(_ localID: String, in pool: AccountPool, second: Int64) {
        voided[ChangedAccounts.Account(pool: pool, localID: localID)] =
            VoidedTokens.Moment(second: second, mark: mark)
    }
}
