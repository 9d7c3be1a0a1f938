import Testing
import TidemarkModel

@testable import TidemarkRules

struct `A judge` {
    private let text = """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{database}/documents {
            match /rooms/{id} {
              allow create: if request.resource.data.open == true
                && getAfter(/databases/$(database)/documents/owners/$(id)).data.uid == request.auth.uid;
              allow update: if resource.data.open == true;
              allow delete: if resource.data.open == false;
            }
            match /owners/{id} { allow write: if request.auth != null; }
          }
        }
        """

    private let room: MapValue = ["open": .boolean(true)]

    @Test func `sees a batch as a whole`() throws {
        let rules = try RulesSandbox(text)
        let owner = RulesOperation.set("owners/blue", ["uid": .string("ann")])
        let create = RulesOperation.create("rooms/blue", room)
        #expect(!rules.allows(create, as: .user("ann")))
        #expect(rules.allows(.batch([create, owner]), as: .user("ann")))
        #expect(rules.allows(.batch([owner, create]), as: .user("ann")))
        #expect(!rules.allows(.batch([owner, create]), as: .user("bob")))
        #expect(!rules.allows(.batch([owner, .get("rooms/red")]), as: .user("ann")))
    }

    @Test func `takes a write for what it says that it is`() throws {
        var rules = try RulesSandbox(text)
        let owner = RulesOperation.set("owners/blue", ["uid": .string("ann")])
        // An update of a missing document has no resource to read.
        #expect(!rules.allows(.update("rooms/blue", room), as: .user("ann")))
        rules["rooms/blue"] = room
        #expect(rules.allows(.update("rooms/blue", ["a.b": .integer(1)]), as: .user("ann")))
        #expect(rules.allows(.set("rooms/blue", MapValue()), as: .user("ann")), "an update")
        let create = RulesOperation.create("rooms/blue", room)
        #expect(rules.allows(.batch([owner, create]), as: .user("ann")), "judged as a create")
        #expect(!rules.allows(.delete("rooms/blue"), as: .user("ann")))
        let close = RulesOperation.update("rooms/blue", ["open": .boolean(false)])
        #expect(rules.allows(.batch([close, .delete("rooms/blue")]), as: .user("ann")))
    }

    @Test func `names what is no document`() {
        #expect(throws: InvalidPath.self) { try RulesOperation.get("rooms").question() }
        let list = RulesOperation.list(Query(collectionID: "rooms"))
        #expect(throws: InvalidPath.self) { try RulesOperation.batch([list]).question() }
        #expect(throws: InvalidPath.self) {
            try RulesOperation.update("a/b", [".": .null]).question()
        }
    }

    @Test func `decides again as it was, under other rules`() throws {
        var rules = try RulesSandbox(text)
        rules["rooms/blue"] = room
        let judged = try rules.judgements(of: .update("rooms/blue", room), as: .nobody)
        let judgement = try #require(judged.last?.untraced)
        #expect(judgement.isAllowed && judgement.values.isEmpty)
        #expect(judgement.path == "rooms/blue" && judgement.caller == nil)
        #expect(judgement.extent > 20)
        let closed = try Ruleset(text.replacing("allow update: if", with: "allow get: if"))
        let again = judgement.again(under: closed, reading: NoDatabase())
        #expect(!again.isAllowed)
        let same = judgement.again(under: rules.rules, reading: NoDatabase())
        #expect(same.isAllowed, "the document is kept with it")
    }
}

extension `A judge` {
    /// A trace records the deciding evaluation, so every document is read from the database only
    /// once.
    @Test func `evaluates once, with a trace and without`() throws {
        let rules = try Ruleset(text)
        var asked: [RulesJudge.Tracing: Int] = [:]
        for tracing in [RulesJudge.Tracing.never, .refusals, .always] {
            for uid in ["ann", "bob"] {
                let database = CountingDatabase()
                var judge = RulesJudge(
                    rules, as: RulesCaller(uid: uid), at: .epoch, of: database, tracing: tracing)
                let mutation = Mutation(path: try DocumentPath("rooms/blue"), .set(room))
                let judgement = try #require(try judge.judge([mutation]).last)
                #expect(judgement.isAllowed == (uid == "ann"))
                #expect(judge.reads.count == 1)
                let isTraced = tracing == .always || tracing == .refusals && uid == "bob"
                #expect(judgement.values.isEmpty != isTraced)
                asked[tracing, default: 0] += database.asked
            }
        }
        // A judgement reads the document of the request, and the document that the rule names.
        #expect(asked[.never] == 4 && asked[.always] == 4)
        #expect(asked[.refusals] == 5, "what is refused is evaluated again")
    }
}

/// A database in which Ann owns everything.
private final class CountingDatabase: RulesDatabase {
    private(set) var asked = 0

    func fields(of document: DocumentPath) -> MapValue? {
        asked += 1
        return document.segments[0] == "owners" ? ["uid": .string("ann")] : nil
    }
}

private struct NoDatabase: RulesDatabase {
    func fields(of document: DocumentPath) -> MapValue? { nil }
}
