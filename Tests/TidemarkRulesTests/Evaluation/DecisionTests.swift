import Testing
import TidemarkModel

@testable import TidemarkRules

struct `A decision` {
    private func rules(_ body: String, version: Int = 2) throws -> Ruleset {
        try Ruleset(
            """
            rules_version = '\(version)';
            service cloud.firestore {
              match /databases/{database}/documents {
            \(body)
              }
            }
            """)
    }

    private func get(
        _ path: String, as uid: String? = "ann", _ rules: Ruleset, trace: RulesTrace? = nil
    ) throws -> RulesDecision {
        let request = RulesRequest(
            .get, try DocumentPath(path), as: uid.map { RulesCaller(uid: $0) }, at: .epoch,
            before: ["owner": .string("bob")])
        return rules.decide(request, reading: SampleRequest(), trace: trace)
    }

    @Test func `is made of every block that matches`() throws {
        let rules = try rules(
            """
            match /rooms/{room} { allow get: if false; }
            match /{path=**} { allow read: if path == path('rooms/blue'); }
            match /rooms/{room}/messages/{id} { allow get: if room + id == 'a1'; }
            match /users/{id} { match /{rest=**} { allow get: if true; } }
            """)
        #expect(try get("rooms/blue", rules).isAllowed)
        #expect(try !get("rooms/red", rules).isAllowed)
        #expect(try get("rooms/a/messages/1", rules).isAllowed)
        #expect(try !get("rooms/b/messages/1", rules).isAllowed)
        #expect(try get("users/ann", rules).isAllowed, "nothing is a rest in version 2")
        #expect(try get("users/ann/devices/1", rules).isAllowed)
    }

    @Test func `takes a rest of nothing in version 2 alone`() throws {
        let body = "match /users/{id}/{rest=**} { allow get; }"
        #expect(try get("users/ann", rules(body)).isAllowed)
        #expect(try !get("users/ann", rules(body, version: 1)).isAllowed)
        #expect(try get("users/ann/devices/1", rules(body, version: 1)).isAllowed)
    }

    @Test func `finds the nearest function and name`() throws {
        let rules = try rules(
            """
            function who() { return 'outer'; }
            match /rooms/{id} {
              function who() { return id; }
              function pass(id) { return id; }
              allow get: if who() == 'blue' && pass('x') == 'x';
            }
            match /users/{id} { allow get: if who() == 'outer'; }
            """)
        #expect(try get("rooms/blue", rules).isAllowed)
        #expect(try get("users/ann", rules).isAllowed)
    }

    @Test func `says what was false, with its values`() throws {
        let rules = try rules(
            """
            function isOwner() { return resource.data.owner == request.auth.uid; }
            match /rooms/{id} { allow get: if request.auth != null && isOwner(); }
            """)
        let trace = RulesTrace()
        let decision = try get("rooms/blue", rules, trace: trace)
        #expect(
            decision.reason(in: rules.source, trace: trace)
                == "False for 'get' at L5: request.auth != null && isOwner(). At L4:29: resource.data.owner is 'bob', request.auth.uid is 'ann'."
        )
        #expect(
            try get("nowhere/1", rules).reason(in: rules.source)
                == "No rule allows 'get' at this path.")
        let signedOut = try get("rooms/blue", as: nil, rules)
        #expect(signedOut.verdicts.count == 1 && !signedOut.isAllowed)
    }

    @Test func `may evaluate a thousand expressions`() throws {
        func text(_ calls: Int) -> String {
            """
            function ten() { return [1, 2, 3, 4, 5, 6, 7, 8].size() == 8; }
            match /rooms/{id} { allow get: if \
            \((0..<calls).map { _ in "ten()" }.joined(separator: " && ")); }
            """
        }
        // A call costs 1, plus 12 for its body. An operator costs 1, plus 1 for its right side.
        #expect(try get("rooms/blue", rules(text(66))).isAllowed)
        let over = try get("rooms/blue", rules(text(68)))
        guard case .failed(.outOfEvaluations, _)? = over.verdicts.first?.outcome else {
            Issue.record("\(over.verdicts)")
            return
        }
    }

    @Test func `reads ten documents, each once`() throws {
        func text(_ count: Int, same: Bool = false) -> String {
            let reads = (0..<count).map {
                "!exists(/databases/$(database)/documents/missing/m\(same ? 0 : $0))"
            }
            return "match /rooms/{id} { allow get: if \(reads.joined(separator: " && ")); }"
        }
        let ten = try get("rooms/blue", rules(text(10)))
        #expect(ten.isAllowed && ten.reads.count == 10)
        #expect(try !get("rooms/blue", rules(text(11))).isAllowed)
        let one = try get("rooms/blue", rules(text(15, same: true)))
        #expect(one.isAllowed && one.reads.count == 1)
    }

    @Test func `shares twenty reads between the writes of a commit`() throws {
        let rules = try rules(
            """
            match /rooms/{id} {
              allow get: if !exists(/databases/$(database)/documents/missing/$(id + 'a'))
                && !exists(/databases/$(database)/documents/missing/$(id + 'b'));
            }
            """)
        var reads = RulesReads(operations: 12)
        for number in 0..<12 {
            let request = RulesRequest(
                .get, try DocumentPath("rooms/r\(number)"), as: nil, at: .epoch, before: nil)
            let decision = rules.decide(request, reading: SampleRequest(), reads: reads)
            #expect(decision.isAllowed == (number < 10), "write \(number)")
            reads = decision.reads
        }
        #expect(reads.count == 20)
    }

    @Test func `uses a variable's error only where the variable is used`() throws {
        let rules = try rules(
            """
            function f(open) {
              let owner = resource.data.missing;
              return open || owner == 'ann';
            }
            match /rooms/{id} { allow get: if f(true); }
            match /users/{id} { allow get: if f(false); }
            """)
        #expect(try get("rooms/blue", rules).isAllowed)
        #expect(try !get("users/ann", rules).isAllowed)
    }
}
