public import TidemarkModel

/// The result of an audit.
public struct OrphanReport: Hashable, Sendable {
    /// The number of orphans, and the ids of the first 10,000.
    public struct Orphans: Hashable, Sendable {
        public var count: Int
        public var ids: [String]
    }

    public var detectedAt: Timestamp
    public var accounts: Int
    public var profiles: Int
    public var accountsWithoutProfile: Orphans
    public var profilesWithoutAccount: Orphans
    /// The number of accounts without a profile that are too young to count, because they may still
    /// be signing up.
    public var tooYoung: Int
    /// The number of documents that Firestore bills for the audit, by its documented rules.
    public var reads: Int
    public var repaired = 0

    public var count: Int { accountsWithoutProfile.count + profilesWithoutAccount.count }

    /// The maximum size of all ids in the report's document, in bytes. A document can have a
    /// mebibyte.
    static let maxDocumentBytes = 512 << 10

    /// The maximum size of the ids in the field `userIds`. The field `ids` repeats them.
    static let maxUserBytes = 384 << 10

    /// The content of the document `admin/orphanedUsers`. `count`, `userIds` and `detectedAt`
    /// describe accounts without a profile, as the earlier job wrote them. `orphans` and `ids`
    /// describe both kinds, and further fields count each kind. If not all ids fit, `idsLeftOut` is
    /// the number of missing ids.
    var fields: MapValue {
        let users = Self.fitting(accountsWithoutProfile.ids, bytes: Self.maxUserBytes)
        let ids = Self.fitting(
            accountsWithoutProfile.ids + profilesWithoutAccount.ids, bytes: Self.maxDocumentBytes)
        return [
            "count": .integer(Int64(accountsWithoutProfile.count)), "userIds": .array(users),
            "orphans": .integer(Int64(count)), "ids": .array(ids),
            "detectedAt": .timestamp(detectedAt),
            "accountsWithoutProfile": .integer(Int64(accountsWithoutProfile.count)),
            "profilesWithoutAccount": .integer(Int64(profilesWithoutAccount.count)),
            "idsLeftOut": .integer(Int64(count - ids.count)),
        ]
    }

    private static func fitting(_ ids: [String], bytes limit: Int) -> [Value] {
        var fitting: [Value] = []
        var bytes = 0
        for id in ids.prefix(OrphanMerge.maxKept) {
            bytes += id.utf8.count + 1
            if bytes > limit { break }
            fitting.append(.string(id))
        }
        return fitting
    }
}

/// The available repairs of orphans. An audit repairs only on request.
public enum OrphanRepair: String, Hashable, Sendable, CaseIterable {
    /// Deletes accounts that have no profile.
    case deleteAccounts = "delete-accounts"
    /// Writes a profile for accounts without one: only its author and time.
    case writeProfiles = "write-profiles"
    /// Deletes profiles without an account: the document, but not the documents below it.
    case deleteProfiles = "delete-profiles"
}
