package import TidemarkModel

/// The accounts that transactions have changed or removed, for those who hold tokens of theirs.
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
    /// Projects all of whose accounts were removed.
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

/// What one transaction has changed so far. Used by one transaction, on one thread.
final class AccountChanges {
    var changed = ChangedAccounts()
}
