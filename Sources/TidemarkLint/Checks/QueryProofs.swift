import TidemarkModel
import TidemarkRules

/// The checks `missing-index` and `unprovable-query`: queries against `firestore.indexes.json` and
/// `firestore.rules`.
enum QueryProofs {
    static func findings(in context: CheckContext) -> [Finding] {
        guard context.rules != nil || context.indexes != nil else { return [] }
        var seen: Set<Place> = []
        return context.operations.flatMap { operation -> [Finding] in
            guard
                operation.kind == .listen || operation.kind == .getDocuments
                    || operation.kind == .aggregate, !operation.isOfDocument,
                seen.insert(operation.place).inserted
            else { return [] }
            guard let facts = facts(of: operation), facts.isComplete, !facts.hasUnknownPrefix,
                facts.collectionID != nil
            else {
                context.cannotTell(operation.place, "which query this is")
                return []
            }
            return [
                index(facts, operation: operation, in: context),
                proof(facts, operation: operation, in: context),
            ]
            .compactMap { $0 }
        }
    }

    private static func facts(of operation: Operation) -> QueryFacts? {
        if case .aggregate(let facts) = operation.receiver { return facts }
        return operation.query
    }

    // MARK: - Indexes

    private static func index(
        _ facts: QueryFacts, operation: Operation, in context: CheckContext
    ) -> Finding? {
        guard let indexes = context.indexes, let query = ModelQuery(facts, uid: "a").query else {
            return nil
        }
        do throws(RPCStatus) { try query.validate() } catch { return nil }
        let missing = IndexRequirement(query, in: indexes).missing
        guard let first = missing.first else { return nil }
        return context.finding(
            .missingIndex, at: operation,
            "This query needs an index that `firestore.indexes.json` does not have: "
                + "\(first.sentence).",
            because: "In production it fails with `FAILED_PRECONDITION`, each time.",
            mend: "Add the index and deploy it: `firebase deploy --only firestore:indexes`. "
                + "`tidemark indexes` writes the file from what a test run asks.")
    }

    // MARK: - Rules

    private static func proof(
        _ facts: QueryFacts, operation: Operation, in context: CheckContext
    ) -> Finding? {
        guard let rules = context.rules else { return nil }
        var lacking: [MissingCondition] = []
        // A value that only the running app knows can be the user's id, or another value.
        for uid in ["user", "other"] {
            guard let query = ModelQuery(facts, uid: uid).query else { return nil }
            let documents = UnknownDocuments()
            let decision = rules.decide(
                query, as: RulesCaller(uid: "user"), at: Timestamp(milliseconds: 1_800_000_000_000),
                reading: documents)
            if decision.isAllowed { return nil }
            if documents.wasAsked {
                context.cannotTell(operation.place, "whether the rules allow this query")
                return nil
            }
            for verdict in decision.verdicts { lacking += verdict.lacking }
        }
        let missing = lacking.reduce(into: [String]()) { texts, condition in
            if !texts.contains(condition.swift) { texts.append(condition.swift) }
        }
        let hint =
            missing.isEmpty
            ? "Allow `list` for `\(facts.name)`, or ask for what the rules allow."
            : "Say in the query what the rules ask for: "
                + missing.prefix(3).map { "`\($0.replacing("\"user\"", with: "uid"))`" }
                .joined(separator: " or ") + "."
        return context.finding(
            .unprovableQuery, at: operation,
            "The rules refuse this query of `\(facts.name)`, also for a user who is signed in.",
            because: """
                Rules are not filters: the query itself must exclude every document that they \
                deny.
                """
                    + "Production answers `PERMISSION_DENIED`, whatever the documents hold.",
            mend: hint)
    }
}

/// Unknown documents: every lookup returns none, and is recorded.
private final class UnknownDocuments: RulesDocuments {
    private(set) var wasAsked = false

    func lookUp(_ path: RulesPath, for function: RulesRead) -> RulesLookup {
        wasAsked = true
        return .missing
    }
}

/// A query of the code in the form of the model, with placeholders for values that only the running
/// app knows.
struct ModelQuery {
    private let facts: QueryFacts
    private let uid: String

    init(_ facts: QueryFacts, uid: String) {
        self.facts = facts
        self.uid = uid
    }

    /// The query; nil if a part has no form in the model.
    var query: Query? {
        let names = facts.path.map { segment in
            switch segment {
            case .text(let text): text
            case .written: uid
            }
        }
        guard let id = names.last, names.count % 2 == 1 else { return nil }
        var parent: DocumentPath?
        if names.count > 1 {
            do throws(InvalidPath) {
                parent = try DocumentPath(names.dropLast().joined(separator: "/"))
            } catch {
                return nil
            }
        }
        var filters: [Filter] = []
        for condition in facts.conditions {
            guard let filter = filter(condition) else { return nil }
            filters.append(filter)
        }
        var orders: [Order] = []
        for order in facts.orders {
            guard let path = order.field.flatMap(path), let isDescending = order.isDescending else {
                return nil
            }
            orders.append(Order(path, isDescending ? .descending : .ascending))
        }
        return Query(
            parent: parent, collectionID: id, allDescendants: facts.isGroup,
            filter: filters.count > 1 ? .and(filters) : filters.first, orders: orders,
            limit: limit)
    }

    private var limit: Query.Limit? {
        switch facts.limit {
        case .none, .sometimes: nil
        case .count(let count): count > 0 ? .first(count) : nil
        case .written: .first(10)
        }
    }

    private func path(_ field: String) -> FieldPath? {
        if field == "__name__" { return .documentID }
        return try? FieldPath(segments: field.split(separator: ".").map(String.init))
    }

    private func filter(_ condition: QueryFacts.Condition) -> Filter? {
        guard let path = condition.field.flatMap(path) else { return nil }
        let value = value(condition.value, isName: path.isDocumentID)
        guard let value else { return nil }
        switch condition.test {
        case "isEqualTo":
            return value == .null ? .unary(path, .isNull) : .field(path, .equal, value)
        case "isNotEqualTo":
            return value == .null ? .unary(path, .isNotNull) : .field(path, .notEqual, value)
        case "isLessThan": return .field(path, .lessThan, value)
        case "isLessThanOrEqualTo": return .field(path, .lessThanOrEqual, value)
        case "isGreaterThan": return .field(path, .greaterThan, value)
        case "isGreaterThanOrEqualTo": return .field(path, .greaterThanOrEqual, value)
        case "arrayContains": return .field(path, .arrayContains, value)
        case "arrayContainsAny": return .field(path, .arrayContainsAny, list(value))
        case "in": return .field(path, .isIn, list(value))
        case "notIn": return .field(path, .notIn, list(value))
        default: return nil
        }
    }

    private func list(_ value: Value) -> Value {
        if case .array(let values) = value, !values.isEmpty { return value }
        return .array([.string(uid), .string(uid + "2")])
    }

    private func value(_ known: Known, isName: Bool) -> Value? {
        if isName { return nil }
        switch known {
        case .text(let text): return .string(text)
        case .number(let number): return .integer(Int64(number))
        case .flag(let flag): return .boolean(flag)
        case .userID: return .string("user")
        case .deviceTime, .kept: return .timestamp(Timestamp(milliseconds: 1_800_000_000_000))
        case .list(let values):
            return .array(values.prefix(30).map { value($0, isName: false) ?? .string(uid) })
        default: return .string(uid)
        }
    }
}
