import Testing
import TidemarkModel

@testable import TidemarkRules

/// Rules of `service firebase.storage`.
struct StorageRulesTests {
    /// Documents by their paths.
    private struct Documents: RulesDocuments {
        var fields: [String: MapValue] = [:]

        func lookUp(_ path: RulesPath, for function: RulesRead) -> RulesLookup {
            fields[path.description].map { .document(.document(RulesMap($0), at: path)) }
                ?? .missing
        }
    }

    private func rules(_ body: String, version: String = "2") throws -> Ruleset {
        try Ruleset(
            """
            rules_version = '\(version)';
            service cloud.firestore {
              match /databases/{database}/documents { match /{all=**} { allow read, write; } }
            }
            service firebase.storage {
              match /b/{bucket}/o { \(body) }
            }
            """, service: .storage)
    }

    private func decide(
        _ rules: Ruleset, _ method: RulesMethod = .get, _ name: String = "users/ann/a.png",
        uid: String? = nil, present: [(key: String, value: RulesValue)]? = nil,
        new: [(key: String, value: RulesValue)]? = nil, documents: Documents = Documents()
    ) -> RulesDecision {
        let path = RulesPath(["b", "demo", "o"] + name.split(separator: "/").map(String.init))
        let auth: RulesValue = uid.map { .map(RulesMap([("uid", .string($0))])) } ?? .null
        let request = RulesRequest(
            method, at: path,
            request: RulesMap([
                ("auth", auth), ("resource", new.map { .map(RulesMap($0)) } ?? .null),
            ]), resource: .value(present.map { .map(RulesMap($0)) } ?? .null))
        return rules.decide(request, reading: documents, reads: .ofObject)
    }

    @Test func `match the path of an object`() throws {
        let rules = try rules(
            "match /users/{uid}/{file} { allow read: if request.auth.uid == uid; }")
        #expect(decide(rules, uid: "ann").isAllowed)
        #expect(!decide(rules, uid: "bob").isAllowed)
        #expect(!decide(rules).isAllowed)
        #expect(!decide(rules, .create, uid: "ann").isAllowed)
        #expect(!decide(rules, .get, "users/ann/b/c", uid: "ann").isAllowed)
    }

    @Test func `see sizes, types and the present object`() throws {
        let rules = try rules(
            """
            match /{all=**} {
              allow create: if resource == null && request.resource.size < 10
                && request.resource.contentType.matches('image/.*');
            }
            """)
        let picture: [(key: String, value: RulesValue)] = [
            ("size", .integer(5)), ("contentType", .string("image/png")),
        ]
        #expect(decide(rules, .create, new: picture).isAllowed)
        #expect(!decide(rules, .create, present: picture, new: picture).isAllowed)
        let large = [("size", .integer(10)), picture[1]] as [(key: String, value: RulesValue)]
        #expect(!decide(rules, .create, new: large).isAllowed)
    }

    @Test func `read documents of Firestore`() throws {
        let rules = try rules(
            """
            match /rooms/{room}/{file} {
              function isMember() {
                return firestore.get(/databases/(default)/documents/rooms/$(room))
                  .data.members.hasAny([request.auth.uid]);
              }
              allow read: if isMember();
              allow delete: if firestore.exists(/databases/(default)/documents/admins/$(request.auth.uid));
            }
            """)
        var documents = Documents()
        documents.fields["/databases/(default)/documents/rooms/blue"] = MapValue([
            ("members", .array([.string("ann")]))
        ])
        documents.fields["/databases/(default)/documents/admins/eve"] = MapValue()
        func isAllowed(_ method: RulesMethod, _ room: String, _ uid: String) -> Bool {
            decide(rules, method, "rooms/\(room)/a", uid: uid, documents: documents).isAllowed
        }
        #expect(isAllowed(.get, "blue", "ann"))
        #expect(!isAllowed(.get, "blue", "bob"))
        #expect(!isAllowed(.get, "red", "ann"), "a missing document is an error")
        #expect(isAllowed(.delete, "red", "eve"))
        #expect(!isAllowed(.delete, "red", "ann"))
    }

    @Test func `read at most two documents`() throws {
        let condition = (1...3).map {
            "!firestore.exists(/databases/(default)/documents/a/\($0))"
        }
        func isAllowed(_ count: Int) throws -> Bool {
            let text = condition.prefix(count).joined(separator: " && ")
            return decide(try rules("match /{all=**} { allow get: if \(text); }")).isAllowed
        }
        #expect(try isAllowed(2))
        #expect(try !isAllowed(3))
    }

    @Test func `have no get of their own`() throws {
        let text =
            "match /{all=**} { allow get: if exists(/databases/(default)/documents/a/b) == false; }"
        let rules = try rules(text)
        #expect(!decide(rules).isAllowed)
        #expect(rules.warnings.contains { $0.message.contains("exists") })
    }

    @Test func `are missing in a file of Firestore`() throws {
        let firestore = try Ruleset(
            "service cloud.firestore { match /{all=**} { allow read; } }", service: .storage)
        #expect(!decide(firestore).isAllowed)
        #expect(firestore.warnings.contains { $0.message.contains("firebase.storage") })
    }
}
