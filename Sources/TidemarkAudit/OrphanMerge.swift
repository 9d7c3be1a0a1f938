import TidemarkModel

/// Goes through two lists of ids, each in the order of its bytes, and keeps what only one of them has.
///
/// It holds a page of each and what it found, whatever the lists' length: what it needs next it asks
/// for.
struct OrphanMerge: Sendable {
    enum Side: Hashable, Sendable { case accounts, profiles }

    enum Demand: Hashable, Sendable {
        /// The page that follows the one before.
        case page(Side)
        case done
    }

    /// What one list has and the other has not.
    struct Found: Hashable, Sendable {
        /// The first of them, at most ``OrphanMerge/maxKept``.
        var ids: [String] = []
        var count = 0

        mutating func add(_ id: String) {
            count += 1
            if ids.count < OrphanMerge.maxKept { ids.append(id) }
        }
    }

    /// Ids that are kept of each kind; more are only counted.
    static let maxKept = 10_000

    private struct List {
        var ids: [String] = []
        var next = 0
        var last: String?
        var isEnd = false
        var count = 0

        var first: String? { next < ids.count ? ids[next] : nil }
        var wantsPage: Bool { next == ids.count && !isEnd }
    }

    private var accounts = List()
    private var profiles = List()
    private(set) var accountsWithoutProfile = Found()
    private(set) var profilesWithoutAccount = Found()

    /// Ids taken so far, of each side.
    var counts: (accounts: Int, profiles: Int) { (accounts.count, profiles.count) }

    /// - Parameter isLast: Whether no page follows.
    /// - Throws: ``AuditError`` for ids that are not in order: what follows could not be believed.
    mutating func take(
        _ ids: [String], of side: Side, isLast: Bool
    ) throws(AuditError) {
        var list = side == .accounts ? accounts : profiles
        precondition(list.wantsPage, "no page was asked for")
        var last = list.last
        for id in ids {
            if let last, !last.precedesInBytes(id) {
                throw AuditError("The \(side) do not come in the order of their ids, at \(id).")
            }
            last = id
        }
        list.ids = ids
        list.next = 0
        list.last = last
        list.isEnd = isLast
        list.count += ids.count
        if side == .accounts { accounts = list } else { profiles = list }
    }

    /// Compares as far as it can.
    mutating func step() -> Demand {
        while true {
            if accounts.wantsPage { return .page(.accounts) }
            if profiles.wantsPage { return .page(.profiles) }
            switch (accounts.first, profiles.first) {
            case (nil, nil): return .done
            case (let account?, nil):
                accountsWithoutProfile.add(account)
                accounts.next += 1
            case (nil, let profile?):
                profilesWithoutAccount.add(profile)
                profiles.next += 1
            case (let account?, let profile?):
                compare(account, profile)
            }
        }
    }

    private mutating func compare(_ account: String, _ profile: String) {
        switch Comparison.bytes(account, profile) {
        case .equal:
            accounts.next += 1
            profiles.next += 1
        case .ascending:
            accountsWithoutProfile.add(account)
            accounts.next += 1
        case .descending:
            profilesWithoutAccount.add(profile)
            profiles.next += 1
        }
    }
}

/// Why an audit could not be made; nothing was written or repaired then.
public struct AuditError: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String
    public var description: String { message }

    public init(_ message: String) { self.message = message }
}
