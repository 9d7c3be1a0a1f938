import Testing
import TestSupport
import TidemarkRules

struct `Advice` {
    private func advice(_ matches: String, functions: String = "") throws -> [String] {
        let text = """
            rules_version = '2';
            service cloud.firestore {
              match /databases/{database}/documents {
            \(functions)
            \(matches)
              }
            }
            """
        return try Ruleset(text).advice.map(\.message)
    }

    private func list(_ condition: String, _ path: String = "/notes/{id}") throws -> [String] {
        try advice("match \(path) { allow list: if \(condition); }")
    }

    @Test func `finds what lets everybody in`() throws {
        let open = "Anybody may get, list here, even without signing in."
        #expect(try advice("match /a/{id} { allow read: if true; }") == [open])
        #expect(try advice("match /a/{id} { allow read; }") == [open])
        #expect(try advice("match /a/{id} { allow read: if request.auth != null; }") == [])
    }

    @Test func `finds what never decides`() throws {
        let twice = try advice(
            """
            match /{all=**} { allow read; }
            match /a/{id} { allow get: if request.auth != null; allow write: if false; }
            """)
        #expect(twice.contains("No effect: L5 already allows this to everybody."))
        #expect(twice.count == 2)
        let narrow = try advice(
            """
            match /a/{id} { allow read; }
            match /{all=**} { allow get: if request.auth != null; }
            """)
        #expect(!narrow.contains { $0.hasPrefix("No effect") }, "the second is wider")
        let beside = try advice(
            "match /a/{id} { allow get: if request.auth != null; allow read; }")
        #expect(beside.contains("No effect: L5 already allows this to everybody."))
        let same = try advice("match /a/{id} { allow get; allow get; }")
        #expect(same.count { $0.hasPrefix("No effect") } == 1)
    }

    @Test func `finds paths that no document has`() throws {
        let unreachable = "No document has this path, so these rules have no effect."
        #expect(try advice("match /a { allow get: if request.auth != null; }") == [unreachable])
        #expect(
            try advice("match /a/{b}/c { allow get: if request.auth != null; }") == [unreachable])
        #expect(try advice("match /a/{b}/c/{d} { allow get: if request.auth != null; }") == [])
        #expect(try advice("match /a/{rest=**} { allow get: if request.auth != null; }") == [])
        let outside = """
            service cloud.firestore { match /rooms/{id} { allow get: if request.auth != null; } }
            """
        #expect(try Ruleset(outside).advice.map(\.message) == [unreachable])
    }

    @Test func `finds lists that no query can be proven for`() throws {
        for condition in [
            "resource.id == request.auth.uid", "id == request.auth.uid",
            "resource.data.tags.size() < 3", "resource.data.n is int",
            "request.auth != null && resource.data.a == resource.data.b",
        ] {
            #expect(try list(condition).first?.hasPrefix("No query can satisfy this rule") == true)
        }
    }

    @Test(arguments: [
        "resource.data.owner == request.auth.uid", "request.auth.uid in resource.data.members",
        "resource.data.public", "request.query.limit <= 10", "resource.data.n > 3",
        "resource.data.owner == request.auth.token.email", "'state' in resource.data",
        "resource.data.room in get(/databases/$(database)/documents/users/$(request.auth.uid)).data.rooms",
    ])
    func `lets lists be that a query can be proven for`(condition: String) throws {
        #expect(try list(condition) == [])
    }

    @Test func `finds reads of another document for each result`() throws {
        let message = """
            No query can satisfy this rule: the rule reads another document for each result.
            """
        let path = "/databases/$(database)/documents/users/"
        let owner = """
            Only a query with an equality filter for owner can satisfy this rule: the rule reads \
            another document for each result.
            """
        #expect(try list("get(\(path)$(resource.data.owner)).data.open") == [owner])
        #expect(try list("get(\(path)$(resource.data.owner + id)).data.open") == [message])
        #expect(try list("get(\(path)$(resource.id)).data.open") == [message])
        #expect(try list("exists(\(path)$(id))") == [message])
        #expect(try list("exists(\(path)$(uid))", "/users/{uid}/notes/{id}") == [])
        let function = "function isOpen(user) { return get(\(path)$(user)).data.open; }"
        let called = try advice(
            "match /notes/{id} { allow list: if isOpen(resource.data.owner); }",
            functions: function)
        #expect(called == [owner])
        let harmless = try advice(
            "match /notes/{id} { allow list: if isOpen(request.auth.uid); }", functions: function)
        #expect(harmless == [])
        let single = try advice(
            "match /notes/{id} { allow get: if isOpen(resource.data.owner); }",
            functions: function)
        #expect(single == [], "a get has one result")
    }

    @Test func `ends on a file that is made to explode`() throws {
        var functions = "function f0(a) { return exists(a); }\n"
        for number in 1...20 {
            functions +=
                "function f\(number)(a) { return f\(number - 1)(a) || f\(number - 1)(a); }\n"
        }
        let used = try processorTime {
            _ = try advice(
                "match /a/{id} { allow list: if f20(resource.data.p); }", functions: functions)
        }
        #expect(used < .seconds(5))
    }
}
