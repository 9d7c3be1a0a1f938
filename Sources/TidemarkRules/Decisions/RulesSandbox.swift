public import TidemarkModel

/// Rules with a few documents in memory, for tests of a rules file.
///
/// ```swift
/// var rules = try RulesSandbox(text)
/// rules["rooms/blue"] = MapValue([("owner", .string("ann"))])
/// #expect(rules.allows(.get("rooms/blue"), as: .user("ann")))
/// #expect(rules.refusal(of: .delete("rooms/blue"), as: .nobody) != nil)
/// ```
public struct RulesSandbox: Sendable {
    public let rules: Ruleset
    /// What `request.time` is.
    public var time: Timestamp
    private var documents: [DocumentPath: MapValue] = [:]

    /// - Throws: ``InvalidRules`` with every error of the file.
    public init(_ text: String, at time: Timestamp = .epoch) throws(InvalidRules) {
        rules = try Ruleset(text)
        self.time = time
    }

    /// Who asks.
    public enum Person: Sendable {
        case nobody
        case account(uid: String, claims: MapValue)

        public static func user(_ uid: String) -> Person {
            .account(uid: uid, claims: MapValue())
        }

        fileprivate var caller: RulesCaller? {
            switch self {
            case .nobody: nil
            case .account(let uid, let claims): RulesCaller(uid: uid, claims: claims)
            }
        }
    }

    /// What is asked. Writes change nothing in the sandbox.
    public enum Operation: Sendable {
        case get(String)
        case list(Query)
        /// Sets the document: a create, or an update where it exists.
        case set(String, MapValue)
        case delete(String)
    }

    /// The fields of a document; nil where there is none, or the path names none.
    public subscript(path: String) -> MapValue? {
        get { (try? DocumentPath(path)).flatMap { documents[$0] } }
        set {
            guard let path = try? DocumentPath(path) else { return }
            documents[path] = newValue
        }
    }

    /// Whether the rules allow it.
    public func allows(_ operation: Operation, as person: Person) -> Bool {
        decide(operation, as: person, trace: nil)?.isAllowed ?? false
    }

    /// Why the rules refuse it, with the values that decided; nil when they allow it.
    public func refusal(of operation: Operation, as person: Person) -> String? {
        let trace = RulesTrace()
        guard let decision = decide(operation, as: person, trace: trace) else {
            return "The path names no document."
        }
        return decision.isAllowed ? nil : decision.reason(in: rules.source, trace: trace)
    }

    /// The value of each expression that was evaluated, in order.
    public func explanation(of operation: Operation, as person: Person) -> [String] {
        let trace = RulesTrace()
        _ = decide(operation, as: person, trace: trace)
        return trace.lines(of: rules.source)
    }

    private func decide(
        _ operation: Operation, as person: Person, trace: RulesTrace?
    ) -> RulesDecision? {
        switch operation {
        case .list(let query):
            let world = SandboxDocuments(before: documents, after: documents)
            return rules.decide(query, as: person.caller, at: time, reading: world, trace: trace)
        case .get(let path): return decide(.get, path, nil, person, trace)
        case .delete(let path): return decide(.delete, path, nil, person, trace)
        case .set(let path, let fields):
            let method: RulesMethod = self[path] == nil ? .create : .update
            return decide(method, path, fields, person, trace)
        }
    }

    private func decide(
        _ method: RulesMethod, _ path: String, _ after: MapValue?, _ person: Person,
        _ trace: RulesTrace?
    ) -> RulesDecision? {
        guard let path = try? DocumentPath(path) else { return nil }
        var world = SandboxDocuments(before: documents, after: documents)
        if method != .get { world.after[path] = after }
        let request = RulesRequest(
            method, path, as: person.caller, at: time, before: documents[path], after: after)
        return rules.decide(request, reading: world, trace: trace)
    }
}

private struct SandboxDocuments: RulesDocuments {
    let before: [DocumentPath: MapValue]
    var after: [DocumentPath: MapValue]

    func lookUp(_ path: RulesPath, for function: RulesRead) -> RulesLookup {
        guard let document = path.document(in: "(default)") else {
            return .refused("The path names no document.")
        }
        let isAfter = function == .getAfter || function == .existsAfter
        guard let fields = (isAfter ? after : before)[document] else { return .missing }
        return .document(.document(RulesMap(fields), at: path))
    }
}
