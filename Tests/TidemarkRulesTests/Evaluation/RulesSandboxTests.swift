import Testing
import TidemarkModel
import TidemarkRules

struct `A sandbox` {
    private let text = """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{database}/documents {
            match /rooms/{id} {
              allow read: if resource.data.owner == request.auth.uid;
              allow create: if request.resource.data.owner == request.auth.uid
                && getAfter(request.path).data == request.resource.data;
              allow delete: if get(request.path).data.owner == request.auth.uid
                && !existsAfter(request.path);
            }
          }
        }
        """

    @Test func `says whether, and why not`() throws {
        var rules = try RulesSandbox(text)
        rules["rooms/blue"] = MapValue([("owner", .string("ann"))])
        #expect(rules.allows(.get("rooms/blue"), as: .user("ann")))
        #expect(!rules.allows(.get("rooms/blue"), as: .user("bob")))
        #expect(rules.allows(.delete("rooms/blue"), as: .user("ann")))
        #expect(rules.refusal(of: .delete("rooms/blue"), as: .nobody) != nil)
        let mine = MapValue([("owner", .string("bob"))])
        #expect(rules.allows(.set("rooms/red", mine), as: .user("bob")))
        #expect(!rules.allows(.set("rooms/blue", mine), as: .user("bob")), "an update")
        #expect(rules["rooms/red"] == nil, "writes change nothing")
        #expect(!rules.allows(.list(Query(collectionID: "rooms")), as: .user("ann")))
        #expect(rules.refusal(of: .get("rooms"), as: .nobody) == "The path is not a document.")
        #expect(
            rules.explanation(of: .get("rooms/blue"), as: .user("bob")).last
                == "5:22 resource.data.owner == request.auth.uid → false")
    }
}
