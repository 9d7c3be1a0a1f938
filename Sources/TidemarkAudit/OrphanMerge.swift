import TidemarkModel

/// Compares two lists of ids, both in byte order, and keeps the ids that only one list has.
///
/// Holds one page of each list and the result, however long the lists are, and requests the next
/// page when it needs one.
struct OrphanMerge: Sendable {
    enum Side: Hashable, Sendable { case accounts, profiles }

    enum Demand: Hashable, Sendable {
        /// The next page of a side.
        case page(Side)
        case done
    }

    /// The ids that only one list has.
    struct Found: Hashable, Sendable {
        /// The first ids, at most ``OrphanMerge/maxKept``.
        var ids: [String] = []
        var count = 0

        mutating func add(_ id: String) {
            count += 1
            if ids.count < OrphanMerge.maxKept { ids.append(id) }
        }
    }

    /// The maximum number of ids kept of each kind. Further ids are only counted.
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

    /// The number of ids taken so far from each side.
    var counts: (accounts: Int, profiles: Int) { (accounts.count, profiles.count) }

    /// - Parameter isLast: True if no page follows.
    /// - Throws: ``AuditError`` if the ids are not in order, because the comparison would then be
    ///   wrong.
    mutating func take(
        _ ids: [String], of side: Side, isLast: Bool
    ) throws(AuditError) {
        var list = side == .accounts ? accounts : profiles
        precondition(list.wantsPage, "no page was asked for")
        var last = list.last
        for id in ids {
            if let last, !last.precedesInBytes(id) {
                throw AuditError("The \(side) are not sorted by id, at \(id).")
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

    /// Compares as far as the current pages allow.
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

/// The reason why an audit failed. A failed audit writes and repairs nothing.
public struct AuditError: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String
    public var description: String { message }

    public init(_ message: String) { self.message = message }
}
