import Foundation
import Testing
import Tidemark
import TidemarkModel
import TidemarkRules

/// Checks the deployed rules of Stamps and Homes. In the apps' own tests, the server enforces that
/// queries need only the indexes of `firestore.indexes.json`.
struct FilesTests {
    private let now = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)

    private func file(_ path: String) throws -> Data {
        let root = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try Data(contentsOf: root.appending(path: "Examples/\(path)"))
    }

    private func rules(_ app: String) throws -> RulesSandbox {
        try RulesSandbox(
            String(decoding: try file("\(app)/firestore.rules"), as: UTF8.self), at: now)
    }

    @Test func `stamps are read by who is signed in, and those of others are changed by nobody`()
        throws
    {
        var rules = try rules("Stamps")
        let stamp = MapValue([("name", .string("Comet"))])
        rules["stamps/s1"] = stamp
        #expect(rules.allows(.get("stamps/s1"), as: .user("ada")))
        #expect(!rules.allows(.get("stamps/s1"), as: .nobody))
        #expect(!rules.allows(.set("stamps/s1", stamp), as: .user("ada")))
        #expect(rules.allows(.set("users/ada", stamp), as: .user("ada")))
        #expect(!rules.allows(.set("users/ada", stamp), as: .user("mallory")))
    }

    @Test func `a profile is its owner's alone, also to take back`() throws {
        var rules = try rules("Homes")
        let profile = MapValue([("name", .string("Ada"))])
        #expect(rules.allows(.set("users/ada", profile), as: .user("ada")))
        rules["users/ada"] = profile
        #expect(rules.allows(.get("users/ada"), as: .user("ada")))
        #expect(rules.allows(.delete("users/ada"), as: .user("ada")))
        #expect(!rules.allows(.get("users/ada"), as: .user("mallory")))
        #expect(!rules.allows(.delete("users/ada"), as: .user("mallory")))
        #expect(rules.allows(.get("homes/elm/members/m1"), as: .user("ada")))
        #expect(!rules.allows(.set("homes/elm/members/m1", profile), as: .user("ada")))
    }
}
