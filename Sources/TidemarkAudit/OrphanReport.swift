public import TidemarkModel

/// What an audit found.
public struct OrphanReport: Hashable, Sendable {
    /// How many there are, and the ids of the first 10,000 at most.
    public struct Orphans: Hashable, Sendable {
        public var count: Int
        public var ids: [String]
    }

    public var detectedAt: Timestamp
    public var accounts: Int
    public var profiles: Int
    public var accountsWithoutProfile: Orphans
    public var profilesWithoutAccount: Orphans
    /// Accounts without a profile that were made too short a time ago to count: somebody may be
    /// signing up.
    public var tooYoung: Int
    /// Documents that Firestore bills for it, by its documented rules.
    public var reads: Int
    public var repaired = 0

    public var count: Int { accountsWithoutProfile.count + profilesWithoutAccount.count }

    /// Bytes of ids in the report's document, which may have a mebibyte.
    static let maxDocumentBytes = 512 << 10

    /// Of the first field alone: the other one holds the same ids again.
    static let maxUserBytes = 384 << 10

    /// As `admin/orphanedUsers` has it: `count`, `userIds` and `detectedAt` are of accounts without a
    /// profile, as the job before this one wrote them. Beside them `orphans` and `ids`, of both kinds, and
    /// how many of each kind there are. Where not all ids fit, `idsLeftOut` says how many.
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

/// What may be done about orphans, by name: nothing is ever repaired by itself.
public enum OrphanRepair: String, Hashable, Sendable, CaseIterable {
    /// Deletes accounts that have no profile.
    case deleteAccounts = "delete-accounts"
    /// Writes a profile for accounts that have none: only who made it and when.
    case writeProfiles = "write-profiles"
    /// Deletes profiles that have no account: the document, not what lies below it.
    case deleteProfiles = "delete-profiles"
}
