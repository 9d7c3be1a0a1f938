import Foundation
import Testing
import TidemarkModel
import TidemarkRules

@testable import TidemarkServer

struct `A file of cases` {
    private let rules = """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{database}/documents {
            match /rooms/{id} {
              allow get: if resource.data.owner == request.auth.uid;
              allow list: if resource.data.owner == request.auth.uid && request.query.limit <= 10;
              allow create: if request.resource.data.owner == request.auth.uid
                && request.resource.data.at <= request.time;
              allow update: if request.resource.data.diff(resource.data).affectedKeys().hasOnly(['a'])
                && request.auth.token.admin;
              allow delete: if false;
            }
          }
        }
        """

    private let cases = """
        {
          "time": "2026-02-03T04:05:06Z",
          "documents": { "rooms/blue": { "owner": "ann", "a": { "b": 1 } } },
          "cases": [
            { "as": "ann", "get": "rooms/blue", "expect": "allow" },
            { "as": "bob", "get": "rooms/blue", "expect": "deny" },
            { "get": "rooms/blue", "expect": "deny" },
            { "as": "ann", "list": "rooms", "where": [["owner", "==", "ann"]], "limit": 10,
              "expect": "allow" },
            { "as": "ann", "list": "rooms", "where": [["owner", "==", "ann"]], "expect": "deny" },
            { "as": "ann", "create": "rooms/red", "expect": "allow",
              "data": { "owner": "ann", "at": { "$timestamp": "2026-02-03T04:05:06Z" } } },
            { "as": "ann", "create": "rooms/red", "expect": "deny",
              "data": { "owner": "ann", "at": { "$timestamp": "2026-02-03T04:05:07Z" } } },
            { "as": { "uid": "root", "token": { "admin": true } }, "update": "rooms/blue",
              "data": { "a.b": 2 }, "expect": "allow" },
            { "as": "ann", "update": "rooms/blue", "data": { "a.b": 2 }, "expect": "deny" },
            { "as": "ann", "batch": [ { "delete": "rooms/blue" } ], "expect": "deny" },
            { "name": "wrongly expected", "as": "ann", "delete": "rooms/blue", "expect": "allow" }
          ]
        }
        """

    @Test func `is judged`() throws {
        let file = try RulesCaseFile(Data(cases.utf8))
        let (outcomes, coverage) = file.run(try Ruleset(rules))
        #expect(outcomes.count == 11)
        let failed = outcomes.filter { !$0.isAsExpected }
        #expect(failed.map(\.test.title) == ["wrongly expected"])
        #expect(failed.first?.reason.contains("False for 'delete' at L11") == true)
        #expect(outcomes[1].trace.last?.hasSuffix("→ false") == true)
        #expect(outcomes[0].test.title == "ann get rooms/blue")
        #expect(
            coverage.untested.last?.description.contains("reached this allow, and") == true)
    }

    @Test(arguments: [
        ("[]", "The file is not a JSON object."),
        (#"{"cases": [{"as": "ann"}]}"#, "Case 1: A case must have one of"),
        (#"{"cases": [{"get": "rooms"}]}"#, "names a collection, not a document"),
        (#"{"cases": [{"get": "a/b", "when": 1}]}"#, "Case 1: A case has no key \"when\"."),
        (#"{"cases": [{"get": "a/b", "expect": "yes"}]}"#, "\"expect\" is"),
        (#"{"cases": [{"set": "a/b"}]}"#, "needs the document's fields"),
        (#"{"cases": [{"list": "a", "where": [["x", "=", 1]]}]}"#, "with one of the operators"),
        (#"{"cases": [{"list": "a", "limit": 0}]}"#, "a whole number of at least 1"),
        (#"{"cases": [{"set": "a/b", "data": {"t": {"$timestamp": "noon"}}}]}"#, "Unknown value."),
        (#"{"cases": [{"as": 7, "get": "a/b"}]}"#, "\"as\" must be null"),
        (#"{"documents": {"a": {}}}"#, "has no document at \"a\""),
    ])
    func `says what is wrong with it`(text: String, sentence: String) {
        do throws(RulesCaseError) {
            _ = try RulesCaseFile(Data(text.utf8))
            Issue.record("taken")
        } catch { #expect(error.message.contains(sentence)) }
    }

    @Test func `writes the server's time`() throws {
        let rules = """
            service cloud.firestore {
              match /databases/{database}/documents/rooms/{id} {
                allow create: if request.resource.data.at == request.time
                  && request.resource.data.log.by.at == request.time
                  && request.resource.data.log.n == 1;
                allow update: if request.resource.data.at == request.time
                  && request.resource.data.log.at == request.time
                  && request.resource.data.log.keys().hasOnly(['at', 'n'])
                  && request.resource.data.owner == 'ann';
              }
            }
            """
        let cases = """
            {
              "documents": { "rooms/blue": { "owner": "ann", "log": { "n": 1 } } },
              "cases": [
                { "create": "rooms/red", "expect": "allow", "data": {
                    "at": { "$serverTime": true },
                    "log": { "n": 1, "by": { "at": { "$serverTime": true } } } } },
                { "create": "rooms/red", "expect": "deny", "data": {
                    "at": { "$timestamp": "2026-02-03T04:05:06Z" },
                    "log": { "n": 1, "by": { "at": { "$serverTime": true } } } } },
                { "update": "rooms/blue", "expect": "allow", "data": {
                    "at": { "$serverTime": true }, "log.at": { "$serverTime": true } } },
                { "set": "rooms/blue", "expect": "deny", "data": {
                    "at": { "$serverTime": true }, "log": { "at": { "$serverTime": true } } } }
              ]
            }
            """
        let file = try RulesCaseFile(Data(cases.utf8))
        let (outcomes, _) = file.run(try Ruleset(rules))
        #expect(outcomes.map(\.isAllowed) == [true, false, true, false])
    }

    @Test(arguments: [
        (
            #"{"cases": [{"create": "a/b", "data": {"x": [{"$serverTime": true}]}}]}"#,
            "Case 1: A server time cannot be an element of an array."
        ),
        (
            #"{"documents": {"a/b": {"x": {"$serverTime": true}}}}"#,
            "A server time is allowed only in the data of a write."
        ),
        (
            #"{"cases": [{"list": "a", "where": [["x", "==", {"$serverTime": true}]]}]}"#,
            "Case 1: A server time is allowed only in the data of a write."
        ),
    ])
    func `takes no server time where none is written`(text: String, sentence: String) {
        let error = #expect(throws: RulesCaseError.self) { try RulesCaseFile(Data(text.utf8)) }
        #expect(error?.message == sentence)
    }

    @Test func `has values that JSON has no form of`() throws {
        let text = """
            {"cases": [{"set": "a/b", "data": {"d": {"$double": 1}, "b": {"$bytes": "AQI="},
              "r": {"$reference": "c/d"}, "g": {"$geoPoint": [1, 2.5]}, "n": null}}]}
            """
        let test = try #require(try RulesCaseFile(Data(text.utf8)).cases.first)
        guard case .set(_, let fields) = test.operation else { throw RulesCaseError("no set") }
        #expect(fields["d"] == .double(1))
        #expect(fields["b"] == .bytes([1, 2]))
        #expect(fields["g"] == .geoPoint(GeoPoint(latitude: 1, longitude: 2.5)))
        #expect(fields["n"] == .null)
        guard case .reference(let reference)? = fields["r"] else { throw RulesCaseError("none") }
        #expect(reference.path.text == "c/d")
    }
}
