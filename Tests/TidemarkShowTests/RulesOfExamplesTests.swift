import ExampleKit
import Foundation
import Testing
import Tidemark
import TidemarkModel
import TidemarkPhones
import TidemarkRules
import TidemarkTesting

@testable import TidemarkShow

/// Checks whom the rules of the five apps let read and write the data on their servers.
@Suite(.timeLimit(.minutes(2))) struct `The rules of the examples` {
    private struct Question: Sendable {
        let operation: RulesOperation
        let person: RulesPerson
        let isAllowed: Bool
    }

    private static let now = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)
    private static let ada = RulesPerson.user("ada")
    private static let mallory = RulesPerson.user("mallory")

    private static func allowed(_ person: RulesPerson, _ operation: RulesOperation) -> Question {
        Question(operation: operation, person: person, isAllowed: true)
    }

    private static func denied(_ person: RulesPerson, _ operation: RulesOperation) -> Question {
        Question(operation: operation, person: person, isAllowed: false)
    }

    private static func list(
        _ collection: String, under parent: String? = nil, limit: Int? = nil,
        _ filter: TidemarkModel.Filter? = nil
    ) -> RulesOperation {
        var query = TidemarkModel.Query(
            parent: parent.flatMap { try? DocumentPath($0) }, collectionID: collection)
        query.filter = filter
        query.limit = limit.map { .first($0) }
        return .list(query)
    }

    private static func mine(_ uid: String) -> TidemarkModel.Filter {
        .field(TidemarkModel.FieldPath(name: "members"), .arrayContains, .string(uid))
    }

    private static func conversation(_ id: String) -> TidemarkModel.Filter {
        .field(TidemarkModel.FieldPath(name: "conversationId"), .equal, .string(id))
    }

    /// Returns a message that names its conversation.
    private static func flat(by author: String) -> MapValue {
        MapValue([
            ("author", .string(author)), ("text", .string("Hello")), ("timestamp", .timestamp(now)),
            ("conversationId", .string("blue")), ("updatedAt", .timestamp(now)),
        ])
    }

    private static func message(by author: String) -> MapValue {
        MapValue([
            ("author", .string(author)), ("text", .string("Hello")), ("sentAt", .timestamp(now)),
            ("updatedAt", .timestamp(now)),
        ])
    }

    private static func stamp(of owner: String, at path: String) -> MapValue {
        MapValue([
            ("name", .string("Comet")), ("country", .string("Japan")), ("owner", .string(owner)),
            ("photo", .map(["path": .string(path)])), ("createdAt", .timestamp(now)),
            ("updatedAt", .timestamp(now)),
        ])
    }

    private static let questions: [String: [Question]] = [
        "stamps": [
            allowed(ada, list("stamps", limit: 50)), denied(.nobody, list("stamps", limit: 50)),
            denied(ada, .update("stamps/s1", ["name": .string("Mine")])),
            denied(ada, .delete("stamps/s1")), allowed(ada, .get("users/u7")),
            allowed(ada, .set("stamps/new", stamp(of: "ada", at: "stamps/new/1.jpg"))),
            denied(ada, .set("stamps/new", stamp(of: "grace", at: "stamps/new/1.jpg"))),
            // A stamp names a photo of its own.
            denied(ada, .set("stamps/new", stamp(of: "ada", at: "stamps/other/1.jpg"))),
            denied(.nobody, .set("stamps/new", stamp(of: "ada", at: "stamps/new/1.jpg"))),
            denied(.nobody, .get("users/u7")), denied(.nobody, list("users")),
            allowed(ada, .update("users/ada", ["totalStamps": .integer(41)])),
            denied(ada, .update("users/u7", ["totalStamps": .integer(0)])),
            denied(ada, .update("users/ada", ["email": .string("ada@example.test")])),
            denied(ada, .delete("users/ada")),
        ],
        "homes": [
            allowed(ada, .set("users/ada", ["name": .string("Ada")])),
            denied(mallory, .get("users/ada")), denied(mallory, .delete("users/ada")),
            denied(ada, list("users")), denied(ada, list("users", limit: 1)),
            allowed(ada, list("members", under: "homes/elm")),
            denied(.nobody, list("members", under: "homes/elm")),
            denied(ada, .set("homes/elm/members/ada", ["name": .string("Ada")])),
        ],
        "messages": [
            allowed(ada, list("conversations", mine("ada"))),
            denied(mallory, list("conversations", mine("ada"))),
            denied(ada, list("conversations")), allowed(ada, .get("conversations/blue")),
            denied(mallory, .get("conversations/blue")),
            denied(ada, .delete("messages/m0")), denied(mallory, .get("messages/m0")),
            // A list may contain only the messages of one conversation.
            allowed(ada, list("messages", conversation("blue"))),
            denied(mallory, list("messages", conversation("blue"))),
            denied(ada, list("messages")), denied(.nobody, list("messages", conversation("blue"))),
            allowed(ada, .set("messages/new", flat(by: "ada"))),
            denied(ada, .set("messages/new", flat(by: "grace"))),
            denied(mallory, .set("messages/new", flat(by: "mallory"))),
            denied(ada, .get("users/ada")),
        ],
        "health": [
            allowed(ada, list("days", under: "users/ada")),
            denied(mallory, list("days", under: "users/ada")),
            denied(ada, .get("users/ada")), denied(ada, list("users")),
            denied(.nobody, list("days", under: "users/ada")),
        ],
        "chats": [
            allowed(ada, list("chats", mine("ada"))), denied(mallory, list("chats", mine("ada"))),
            denied(ada, list("chats")), allowed(ada, .get("chats/grace")),
            denied(mallory, .get("chats/grace")),
            allowed(ada, list("messages", under: "chats/grace")),
            denied(mallory, list("messages", under: "chats/grace")),
            allowed(ada, .set("chats/grace/messages/new", message(by: "ada"))),
            denied(ada, .set("chats/grace/messages/new", message(by: "grace"))),
            denied(ada, .update("chats/grace", ["members": .array([.string("mallory")])])),
            allowed(ada, .get("users/grace")), denied(.nobody, .get("users/grace")),
            // A signed-in user may read names, also in lists with a limit.
            allowed(ada, list("users", limit: 20)), denied(.nobody, list("users", limit: 20)),
            denied(ada, list("users")), denied(ada, list("users", limit: 31)),
            denied(mallory, .get("users/ada/state/seen")),
            denied(mallory, list("blocked", under: "users/ada")),
            denied(mallory, list("notifications", under: "users/ada")),
            denied(ada, .set("users/ada/notifications/own", ["text": .string("Hello")])),
            allowed(ada, list("media", under: "chats/grace")),
            denied(mallory, list("media", under: "chats/grace")),
            allowed(ada, list("calls", under: "users/ada")),
            denied(mallory, list("calls", under: "users/ada")),
            allowed(ada, list("purchases", under: "users/ada")),
            denied(ada, .set("users/ada/purchases/own", ["price": .integer(0)])),
            allowed(ada, list("presence")), denied(.nobody, list("presence")),
            allowed(ada, .set("presence/ada", ["lastSeen": .timestamp(now)])),
            denied(ada, .set("presence/grace", ["lastSeen": .timestamp(now)])),
            allowed(ada, list("posts", under: "activity/all")),
            denied(.nobody, list("posts", under: "activity/all")),
            denied(ada, .set("activity/all/posts/own", ["text": .string("Hello")])),
        ],
    ]

    @Test(arguments: Examples.all.filter { $0.rulesOf == nil }.map(\.name))
    func `let in whom they should, and nobody else`(name: String) async throws {
        let example = try #require(Examples.named(name))
        let local = try LocalFirestore.start(rules: example.rules, now: Self.now)
        let user = PhoneUser(id: "ada", name: "Ada", email: "ada@example.test")
        let admin = try local.firestore(label: "project", token: "owner")
        try await example.seed(PhoneProject(firestore: admin, user: user, dayStart: local.now))
        let rules = local.rules
        let questions = try #require(Self.questions[name])
        for question in questions {
            if question.isAllowed {
                #expect(await rules.allows(question.operation, as: question.person), "\(rules.why)")
            } else {
                #expect(await rules.denies(question.operation, as: question.person), "\(rules.why)")
                #expect(!rules.why.isEmpty)
            }
        }
        await local.stop()
    }

    /// `tidemark rules check` gives no advice about the rules, with two exceptions: no query can
    /// list the profiles of Homes, and a list of messages in one collection has to name their
    /// conversation.
    @Test(arguments: Examples.all.filter { $0.rulesOf == nil }.map(\.name))
    func `are without warnings, and as they are in the folder`(name: String) throws {
        let example = try #require(Examples.named(name))
        let root = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: "Examples/\(example.title)/firestore.rules")
        #expect(try String(contentsOf: file, encoding: .utf8) == example.rules)
        let advice = try Ruleset(example.rules).advice.map(\.description)
        let meant = [
            "homes": "No query can satisfy this rule, except for one document id",
            "messages": "Only a query with an equality filter for conversationId can satisfy",
        ]
        #expect(advice.count == (meant[name] == nil ? 0 : 1), "\(advice)")
        #expect(advice.allSatisfy { $0.contains(meant[name] ?? "") })
    }
}
