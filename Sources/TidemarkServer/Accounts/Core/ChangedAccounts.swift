package import TidemarkModel

/// The accounts that transactions have changed or removed, for the holders of their tokens.
package struct ChangedAccounts: Sendable {
    package struct Account: Hashable, Sendable {
        package let project: ByteString
        package let localID: ByteString

        package init(project: String, localID: String) {
            self.project = ByteString(project)
            self.localID = ByteString(localID)
        }
    }

    package private(set) var accounts: Set<Account> = []
    /// The projects whose accounts were all removed.
    package private(set) var projects: Set<ByteString> = []

    package var isEmpty: Bool { accounts.isEmpty && projects.isEmpty }

    mutating func note(_ localID: String, in project: String) {
        accounts.insert(Account(project: project, localID: localID))
    }

    mutating func noteAll(in project: String) { projects.insert(ByteString(project)) }

    mutating func add(_ other: ChangedAccounts) {
        accounts.formUnion(other.accounts)
        projects.formUnion(other.projects)
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
    func void(_ localID: String, in project: String, second: Int64) {
        voided[ChangedAccounts.Account(project: project, localID: localID)] =
            VoidedTokens.Moment(second: second, mark: mark)
    }
}
