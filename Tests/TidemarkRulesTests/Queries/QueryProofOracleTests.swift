import Foundation
import Testing
import TestSupport
import TidemarkModel

@testable import TidemarkRules

/// Compares the proofs of queries with an oracle, for random rules in the forms that apps write,
/// random queries, and random small databases.
@Suite(.ownThread) struct `Proofs of queries` {
    private static let cases =
        ProcessInfo.processInfo.environment["TIDEMARK_RULES_PROOFS"].flatMap { Int($0) } ?? 2_000
    /// The seed is fixed in `make test`, and random in each run with more cases.
    private static let seed =
        ProcessInfo.processInfo.environment["TIDEMARK_RULES_SEED"].flatMap { UInt64($0) }
        ?? (cases > 2_000 ? .random(in: 0...UInt64(UInt32.max)) : 3_973_278_860)

    private struct Tally {
        var allowed = 0
        var provable = 0
        /// The number of provable queries that were denied, which must be zero.
        var denied = 0
        var compared = 0
        /// Allowed queries, with the documents in their results that the rules deny.
        var broken: [String] = []
    }

    @Test func `hold for every document, and are found for the listed forms`() throws {
        var tally = Tally()
        for number in 0..<Self.cases {
            var random = SeededRandom(seed: Self.seed &+ UInt64(number))
            try check(&random, number, &tally)
        }
        print(
            "rules: \(tally.allowed) allowed, \(tally.denied) of \(tally.provable) provable denied, "
                + "\(tally.compared) documents compared, seed \(Self.seed)")
        #expect(tally.broken.isEmpty, "\(tally.broken.prefix(3))")
        #expect(tally.denied == 0)
        #expect(tally.provable >= Self.cases / 4, "too few that are provable")
        #expect(tally.allowed >= tally.provable)
        #expect(tally.compared >= tally.allowed / 2, "too few documents in the results")
    }

    private func check(_ random: inout SeededRandom, _ number: Int, _ tally: inout Tally) throws {
        let forms = [
            RuleForm.all.randomElement(using: &random)!,
            RuleForm.all.randomElement(using: &random)!,
        ]
        let isBoth = Bool.random(using: &random)
        let rules = try Ruleset(Self.file(forms, isBoth: isBoth))
        var query = Query(collectionID: "notes", allDescendants: number % 5 == 0)
        // Two conditions on one state may exclude each other. No app writes such a query.
        let areApart = !forms.allSatisfy { $0.text.contains("state") }
        let isProvable = Bool.random(using: &random) && areApart
        if isProvable {
            let needed = isBoth ? forms : [forms.randomElement(using: &random)!]
            for form in needed { form.needs.randomElement(using: &random)!(&query, &random) }
        }
        if !isProvable || Int.random(in: 0..<3, using: &random) == 0 {
            Self.addAnything(to: &query, &random, keepsOrders: isProvable)
        }
        // A server refuses such a query before it evaluates any rules.
        guard (try? query.validate()) != nil else { return }
        let decision = rules.decide(
            query, as: RulesCaller(uid: RuleForm.uid), at: .epoch, reading: OracleRooms())
        let name = "seed \(Self.seed) case \(number): \(forms.map(\.text)) both \(isBoth) \(query)"
        if isProvable {
            tally.provable += 1
            if !decision.isAllowed {
                tally.denied += 1
                Issue.record("\(name)\n\(decision.reason(in: rules.source))")
            }
        }
        guard decision.isAllowed else { return }
        tally.allowed += 1
        for _ in 0..<40 {
            let document = Self.document(&random)
            guard QueryOracle.matches(query, document) else { continue }
            tally.compared += 1
            func holds(_ form: RuleForm) -> Bool {
                form.text.contains("query.limit")
                    ? (query.limit?.count ?? .max) <= 10 : form.holds(document)
            }
            let isAllowed = isBoth ? forms.allSatisfy(holds) : forms.contains(where: holds)
            if !isAllowed { tally.broken.append("\(name) has \(document.fields)") }
        }
    }

    #if TIDEMARK_DEFECTS
        @Test(arguments: [
            RulesDefect.firstAlternativeOnly, .orderedFieldsAreNumbers, .missingFieldsThere,
        ])
        func `would find a proof that is none`(defect: RulesDefect) throws {
            var tally = Tally()
            try RulesDefect.$planted.withValue(defect) {
                for number in 0..<6_000 where tally.broken.isEmpty {
                    var random = SeededRandom(seed: 3_973_278_860 &+ UInt64(number))
                    try check(&random, number, &tally)
                }
            }
            #expect(!tally.broken.isEmpty, "6,000 cases did not find \(defect)")
        }
    #endif

    private static func file(_ forms: [RuleForm], isBoth: Bool) -> String {
        let condition = forms.map { "(\($0.text))" }.joined(separator: isBoth ? " && " : " || ")
        return """
            rules_version = '2';
            service cloud.firestore {
              match /databases/{database}/documents {
                function isOwner(data) {
                  let owner = data.owner;
                  return owner == request.auth.uid;
                }
                match /{path=**}/notes/{id} {
                  allow read: if \(condition);
                }
              }
            }
            """
    }

    private static let texts = ["ann", "bob", "blue", "red", "green", "open", "closed"]

    private static func value(_ random: inout SeededRandom) -> Value {
        switch Int.random(in: 0..<9, using: &random) {
        case 0: .null
        case 1: .boolean(.random(using: &random))
        case 2, 3: .integer(.random(in: 0...10, using: &random))
        case 4: .double(Double(Int.random(in: 0...20, using: &random)) / 2)
        case 5: .array([.string(texts.randomElement(using: &random)!), .string("ann")])
        default: .string(texts.randomElement(using: &random)!)
        }
    }

    /// Returns a document that usually has the values that queries ask for.
    private static func document(_ random: inout SeededRandom) -> OracleDocument {
        let usual: [String: [Value]] = [
            "owner": [.string("ann"), .string("bob")],
            "room": [.string("blue"), .string("red"), .string("green")],
            "public": [.boolean(true), .boolean(false)],
            "members": [.array([.string("ann"), .string("bob")]), .array([.string("bob")])],
            "n": (0...10).flatMap { [.integer($0), .double(Double($0) + 0.5)] },
            "state": [.string("open"), .string("closed"), .null],
        ]
        var document = OracleDocument()
        for (name, values) in usual.sorted(by: { $0.key < $1.key }) {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: break
            case 1: document.fields[name] = value(&random)
            default: document.fields[name] = values.randomElement(using: &random)!
            }
        }
        return document
    }

    private static func addAnything(
        to query: inout Query, _ random: inout SeededRandom, keepsOrders: Bool
    ) {
        // These filters do not contradict the filters that a proof needs.
        let names = keepsOrders ? ["extra"] : ["owner", "room", "public", "members", "n", "state"]
        let fields = names.map(FieldPath.init(name:))
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let test = Filter.Operator.allCases.randomElement(using: &random)!
            var operand = value(&random)
            if [.isIn, .notIn, .arrayContainsAny].contains(test) {
                operand = .array([value(&random), value(&random)].filter { $0 != .null })
            }
            // A query for null uses another operator.
            if operand == .null { operand = .string("open") }
            let filter = Filter.field(fields.randomElement(using: &random)!, test, operand)
            if Int.random(in: 0..<4, using: &random) == 0, let before = query.filter, !keepsOrders {
                query.filter = .or([before, filter])
            } else {
                RuleForm.add(filter, to: &query)
            }
        }
        guard !keepsOrders else { return }
        if Bool.random(using: &random) {
            query.orders = [
                Order(
                    fields.randomElement(using: &random)!,
                    Bool.random(using: &random) ? .ascending : .descending)
            ]
            if Bool.random(using: &random) {
                query.start = Cursor(values: [value(&random)], before: .random(using: &random))
            }
            if Bool.random(using: &random) {
                query.end = Cursor(values: [value(&random)], before: .random(using: &random))
            }
        }
        if Bool.random(using: &random) { query.limit = .first(.random(in: 1...20, using: &random)) }
    }
}

/// The documents that list Ann's rooms.
struct OracleRooms: RulesDocuments {
    func lookUp(_ path: RulesPath, for function: RulesRead) -> RulesLookup {
        guard path.segments.last == RuleForm.uid else { return .missing }
        let rooms = Value.array(RuleForm.rooms.map { .string($0) })
        return .document(.document(RulesMap(["rooms": rooms] as MapValue), at: path))
    }
}
