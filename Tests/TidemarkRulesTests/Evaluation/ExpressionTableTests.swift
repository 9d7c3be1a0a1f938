import Testing
import TidemarkModel

@testable import TidemarkRules

struct `The table of expressions` {
    static let rows = expressionTable.split(separator: "\n").map {
        $0.drop { $0 == " " }
    }.filter { !$0.hasPrefix("#") }

    @Test func `has three hundred rows`() { #expect(Self.rows.count >= 300) }

    @Test func `is as the language is`() {
        for row in Self.rows {
            let condition = row.dropFirst(2)
                .replacing(/\bold\b/.wordBoundaryKind(.simple), with: "resource.data")
                .replacing(/\bnew\b/.wordBoundaryKind(.simple), with: "request.resource.data")
            let parsed = try? Ruleset(
                """
                rules_version = '2';
                service cloud.firestore {
                  match /databases/{database}/documents {
                    match /rooms/{room} { allow update: if \(condition); }
                  }
                }
                """)
            guard let rules = parsed else {
                Issue.record("not read: \(row)")
                continue
            }
            let decision = rules.decide(SampleRequest.request, reading: SampleRequest())
            let outcome =
                switch decision.verdicts[0].outcome {
                case .allowed: "+"
                case .denied: "-"
                case .failed, .undecided: "!"
                }
            #expect(outcome == row.prefix(1), "\(row): \(decision.reason(in: rules.source))")
        }
    }
}

/// The sample request, in which Ann renames the blue room.
struct SampleRequest: RulesDocuments {
    static let before: MapValue = [
        "name": .string("Blue"), "members": .array([.string("ann"), .string("bob")]),
        "created": .timestamp(.epoch),
    ]
    static let after: MapValue = [
        "name": .string("Navy"), "members": .array([.string("ann"), .string("bob")]),
        "created": .timestamp(.epoch), "badPattern": .string("("),
    ]

    static let request = RulesRequest(
        .update, try! DocumentPath("rooms/blue"),
        as: RulesCaller(
            uid: "ann",
            claims: ["email": .string("ann@example.com"), "admin": .boolean(true)]),
        at: Timestamp(seconds: 1_767_312_000, nanoseconds: 0), before: before, after: after)

    func lookUp(_ path: RulesPath, for function: RulesRead) -> RulesLookup {
        let isAfter = function == .getAfter || function == .existsAfter
        switch path.segments.dropFirst(3).joined(separator: "/") {
        case "users/ann":
            let fields: MapValue = [
                "role": .string(isAfter ? "guest" : "owner"), "rooms": .array([.string("blue")]),
            ]
            return .document(.document(RulesMap(fields), at: path))
        default: return .missing
        }
    }
}
