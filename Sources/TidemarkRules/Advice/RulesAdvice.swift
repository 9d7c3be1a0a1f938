import TidemarkModel

extension Ruleset {
    /// The ``warnings``, and further probable mistakes: conditions that are always true, rules that
    /// never decide, and lists that no query can prove. In the order of the text.
    public var advice: [RulesIssue] { (warnings + RulesAdvice(self).issues).sorted() }
}

/// Finds rules that are valid but probably not intended.
private struct RulesAdvice {
    /// The number of blocks with an `allow` for everybody that others are compared with. Each pair
    /// is compared, and a file can have thousands of blocks.
    private static let mostOpen = 100

    private let rules: Ruleset
    /// The first ``mostOpen`` blocks with an `allow` for everybody.
    private let open: [(index: Int, block: Ruleset.Block)]
    private(set) var issues: [RulesIssue] = []

    init(_ rules: Ruleset) {
        self.rules = rules
        let open = rules.blocks.enumerated().filter { $0.element.allows.contains(where: \.isOpen) }
        self.open = open.prefix(Self.mostOpen).map { ($0.offset, $0.element) }
        for (index, block) in rules.blocks.enumerated() where !block.allows.isEmpty {
            guard block.pattern.fitsDocuments else {
                warn("No document has this path, so these rules have no effect.", at: block.start)
                continue
            }
            for (number, allow) in block.allows.enumerated() {
                judge(allow, number, in: index)
            }
        }
    }

    private mutating func warn(_ message: String, at offset: Int) {
        issues.append(RulesIssue(.warning, at: rules.source.position(at: offset), message))
    }

    private mutating func judge(_ allow: Ruleset.Allow, _ number: Int, in block: Int) {
        if let wider = wider(than: allow, number, in: block) {
            let line = rules.source.position(at: wider.start).line
            return warn("No effect: L\(line) already allows this to everybody.", at: allow.start)
        }
        if allow.isOpen {
            let methods = allow.methods.map(\.rawValue).joined(separator: ", ")
            return warn("Anybody may \(methods) here, even without signing in.", at: allow.start)
        }
        guard let condition = allow.condition, allow.methods.contains(.list) else { return }
        var reads = ListReads(rules, block: rules.blocks[block])
        for (place, fields) in reads.unprovable(in: condition) {
            let filters = fields?.sorted().joined(separator: " and ")
            let who =
                filters.map {
                    """
                    Only a query with an equality filter for \($0) can satisfy this rule
                    """
                }
                ?? "No query can satisfy this rule"
            warn("\(who): the rule reads another document for each result.", at: place)
        }
        if !reads.found.isEmpty { return }
        for part in condition.conjuncts where reads.dependsOnResults(part) {
            guard !reads.hasReads(part), isNeverProvable(part, rules.blocks[block]) else {
                continue
            }
            let text = rules.source.excerpt(part.start..<part.end)
            warn(
                "No query can satisfy this rule, except for one document id: \(text).",
                at: part.start)
        }
    }

    /// Returns an unconditional `allow` that makes this one superfluous, in the same block or in
    /// one that covers it.
    private func wider(
        than allow: Ruleset.Allow, _ number: Int, in index: Int
    ) -> Ruleset.Allow? {
        let block = rules.blocks[index]
        for (otherIndex, other) in open where other.pattern.covers(block.pattern) {
            for (otherNumber, candidate) in other.allows.enumerated()
            where candidate.isOpen && Set(allow.methods).isSubset(of: candidate.methods) {
                if otherIndex == index, otherNumber == number { continue }
                // Of two equal rules, only the later one is reported.
                if allow.isOpen, allow.methods.count == candidate.methods.count,
                    candidate.start > allow.start, block.pattern.covers(other.pattern)
                {
                    continue
                }
                return candidate
            }
        }
        return nil
    }

    /// Returns true if a condition stays undecided for a query, and no filter could decide it.
    private func isNeverProvable(_ condition: Node, _ block: Ruleset.Block) -> Bool {
        var data = Knowledge(kind: .map)
        data.isThere = true
        data.isNotNull = true
        data.isDocument = true
        let unknown = RulesValue.known(Knowledge())
        let caller = RulesCaller(uid: "uid")
        let request = RulesRequest(
            .list, at: RulesPath([]),
            request: RulesMap([
                ("auth", caller.value), ("method", .string("list")), ("path", unknown),
                (
                    "query",
                    .map(
                        RulesMap([
                            ("limit", .integer(1)), ("offset", .integer(0)), ("orderBy", .null),
                        ]))
                ), ("time", .timestamp(.epoch)),
            ]),
            resource: .value(
                .map(RulesMap([("__name__", unknown), ("data", .known(data)), ("id", unknown)]))))
        var evaluator = Evaluator(
            ruleset: rules, request: request, documents: NoDocuments(), reads: RulesReads(),
            trace: nil)
        let captured = block.pattern.segments.filter { $0.captured != nil }
        evaluator.captures = captured.indices.map { index in
            index == captured.count - 1 ? unknown : .string("capture")
        }
        do throws(RulesFailure) {
            return try evaluator.condition(condition) == nil && evaluator.ledger.lacking.isEmpty
        } catch { return false }
    }
}

private struct NoDocuments: RulesDocuments {
    func lookUp(_ path: RulesPath, for function: RulesRead) -> RulesLookup { .missing }
}

extension Ruleset.Allow {
    /// True if the `allow` admits every caller.
    fileprivate var isOpen: Bool {
        guard let condition else { return true }
        if case .constant(.boolean(true)) = condition.operation { return true }
        return false
    }
}

extension Node {
    /// The operands of `&&`, including those of nested `&&`. All must be true.
    fileprivate var conjuncts: [Node] {
        if case .and(let operands) = operation { operands.flatMap(\.conjuncts) } else { [self] }
    }
}
