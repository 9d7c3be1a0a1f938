/// A set of accounts in which an address, a number and an id belong to one account: the accounts of
/// a project, or those of one of its tenants. Source: Identity Platform, "Multi-tenancy".
package struct AccountPool: Hashable, Sendable {
    package let project: String
    /// The tenant's id; nil for the project's own accounts.
    package let tenant: String?

    package init(project: String, tenant: String? = nil) {
        self.project = project
        self.tenant = tenant
    }

    /// - Parameter name: A ``name``.
    init(name: String) {
        let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
        self.init(project: parts.first ?? "", tenant: parts.count == 2 ? parts[1] : nil)
    }

    /// The name under which the tables keep the pool. No id of a project contains a slash.
    var name: String { tenant.map { "\(project)/\($0)" } ?? project }

    /// The pool in the names of its resources, behind `projects/`.
    var path: String { tenant.map { "\(project)/tenants/\($0)" } ?? project }

    /// Returns true if the text can be a tenant's id.
    package static func isTenant(_ text: String) -> Bool {
        isPlain(text, or: "-_") && (1...128).contains(text.utf8.count)
    }

    /// Returns true if a text has only the letters and digits of ASCII, and the given signs.
    static func isPlain(_ text: String, or signs: String) -> Bool {
        text.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: signs.utf8.contains($0)
            }
        }
    }
}
