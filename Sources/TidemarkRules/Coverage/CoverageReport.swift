// Coverage in the format of the emulator's tools: a tree of expressions with their values.

/// The response of `ruleCoverage`: the file, and a tree of counts for each condition and function.
public struct RulesCoverageReport: Encodable, Sendable {
    private let coverage: RulesCoverage

    public init(_ coverage: RulesCoverage) { self.coverage = coverage }

    private enum Key: String, CodingKey { case rules, files, content, name, report }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        var rules = container.nestedContainer(keyedBy: Key.self, forKey: .rules)
        var files = rules.nestedUnkeyedContainer(forKey: .files)
        var file = files.nestedContainer(keyedBy: Key.self)
        try file.encode("security.rules", forKey: .name)
        try file.encode(coverage.rules.source.text, forKey: .content)
        var report = container.nestedUnkeyedContainer(forKey: .report)
        for root in coverage.roots { try report.encode(CoveredNode(node: root, of: coverage)) }
    }
}

private struct CoveredNode: Encodable {
    let node: Node
    let of: RulesCoverage

    private enum Key: String, CodingKey { case sourcePosition, values, value, count, children }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        let place = CoveredPlace(source: of.rules.source, start: node.start, end: node.end)
        try container.encode(place, forKey: .sourcePosition)
        if let count = of.count(of: node) {
            var values = container.nestedUnkeyedContainer(forKey: .values)
            for (value, count) in count.values {
                var entry = values.nestedContainer(keyedBy: Key.self)
                try entry.encode(ShownValue(value, at: place), forKey: .value)
                try entry.encode(count, forKey: .count)
            }
        }
        if !node.children.isEmpty {
            var children = container.nestedUnkeyedContainer(forKey: .children)
            for child in node.children { try children.encode(CoveredNode(node: child, of: of)) }
        }
    }
}

private struct CoveredPlace: Encodable {
    let fileName = "security.rules"
    let line: Int
    let column: Int
    let currentOffset: Int
    let endOffset: Int

    init(source: SourceText, start: Int, end: Int) {
        let position = source.position(at: start)
        line = position.line
        column = position.column
        currentOffset = start
        endOffset = end
    }
}

/// A value, or the reason why there is none.
private struct ShownValue: Encodable {
    let outcome: Result<RulesValue, RulesFailure>
    let place: CoveredPlace

    init(_ outcome: Result<RulesValue, RulesFailure>, at place: CoveredPlace) {
        self.outcome = outcome
        self.place = place
    }

    private enum Key: String, CodingKey { case undefined, causeMessage, sourcePosition }

    func encode(to encoder: any Encoder) throws {
        switch outcome {
        case .success(let value): try ExpressionValue(value).encode(to: encoder)
        case .failure(let failure):
            var container = encoder.container(keyedBy: Key.self)
            var undefined = container.nestedContainer(keyedBy: Key.self, forKey: .undefined)
            try undefined.encode(failure.cause.message, forKey: .causeMessage)
            try undefined.encode(place, forKey: .sourcePosition)
        }
    }
}
