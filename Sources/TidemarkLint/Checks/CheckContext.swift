import SwiftSyntax
import TidemarkModel
import TidemarkRules

/// The inputs of all checks.
final class CheckContext {
    let project: Project
    let evaluator: Evaluator
    let operations: [Operation]
    let graph: CallGraph
    let scale: Scale
    let rules: Ruleset?
    let indexes: IndexCatalog?
    private let files: [SyntaxIdentifier: SourceFile]
    /// The places that no check could judge, with their descriptions.
    private(set) var untold: [Place: String] = [:]

    init(_ project: Project, scale: Scale, rules: Ruleset?, indexes: IndexCatalog?) {
        self.project = project
        self.scale = scale
        self.rules = rules
        self.indexes = indexes
        files = Dictionary(
            project.files.map { ($0.tree.id, $0) }, uniquingKeysWith: { first, _ in first })
        evaluator = Evaluator(project)
        operations = OperationFinder(project: project, evaluator: evaluator).all()
        graph = CallGraph(project: project, evaluator: evaluator, operations: operations)
    }

    /// Returns the file of a node, which can differ from the file of the call that takes it.
    func file(of node: some SyntaxProtocol) -> SourceFile {
        guard let file = files[node.root.id] else {
            preconditionFailure("a node of a file that was not read")
        }
        return file
    }

    func cannotTell(_ place: Place, _ sentence: String) { untold[place] = sentence }

    func finding(
        _ id: FindingID, in file: SourceFile, at node: some SyntaxProtocol, _ message: String,
        because reason: String, mend mending: String, severity: Severity? = nil,
        estimate: Estimate? = nil, fix: Finding.Fix? = nil
    ) -> Finding {
        let place = file.place(of: node)
        return Finding(
            id: id, severity: severity ?? id.severity, place: place,
            length: max(1, min(node.trimmedLength.utf8Length, 60)), message: message,
            reason: reason, mending: mending, estimate: estimate, fix: fix,
            line: file.line(place.line).trimmed)
    }

    func finding(
        _ id: FindingID, at operation: Operation, _ message: String, because reason: String,
        mend mending: String, severity: Severity? = nil, estimate: Estimate? = nil,
        fix: Finding.Fix? = nil
    ) -> Finding {
        finding(
            id, in: operation.file, at: operation.name, message, because: reason, mend: mending,
            severity: severity, estimate: estimate, fix: fix)
    }

    /// Returns the initial value of a name, if it is local or a property.
    func definition(of node: ExprSyntax) -> ExprSyntax? {
        guard let name = node.bare.as(DeclReferenceExprSyntax.self)?.baseName.bare else {
            return nil
        }
        for parent in node.ancestors {
            guard let items = parent.as(CodeBlockItemListSyntax.self) else {
                if parent.is(MemberBlockSyntax.self) { break }
                continue
            }
            for item in items where item.position < node.position {
                for binding in item.item.as(VariableDeclSyntax.self)?.bindings ?? []
                where binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.bare == name {
                    return binding.initializer?.value
                }
            }
        }
        return node.enclosingTypeName.flatMap { project.types[$0]?.variables[name]?.initializer }
    }
}

extension String {
    var trimmed: String {
        var rest = self[...]
        while let first = rest.first, first == " " || first == "\t" { rest = rest.dropFirst() }
        while let last = rest.last, last == " " || last == "\t" { rest = rest.dropLast() }
        return String(rest)
    }
}

extension String {
    /// The text for a sentence: without line ends, and short.
    var oneLine: String {
        let line = split(whereSeparator: \.isNewline).map { String($0).trimmed }.joined()
        return line.count <= 40 ? line : String(line.prefix(37)) + "…"
    }
}

/// The list of all checks.
enum Checks {
    static let all: [@Sendable (CheckContext) -> [Finding]] = [
        ListenerCosts.findings, ListenerLife.findings, ListenerErrors.findings, Loops.findings,
        Counting.findings, Launches.findings, SequentialReads.findings, Pages.findings,
        Filters.findings, Clocks.findings, Batches.findings, Counters.findings,
        Transactions.findings, WriteErrors.findings, Secrets.findings, SignUps.findings,
        Retries.findings, QueryProofs.findings, ChangeTimes.findings, PipelineScans.findings,
    ]

    static func findings(in context: CheckContext) -> [Finding] {
        var found: [Finding] = []
        for check in all { found += check(context) }
        return withoutDoubles(found).sorted()
    }

    /// Keeps the more informative of two findings at the same place.
    private static func withoutDoubles(_ all: [Finding]) -> [Finding] {
        let weaker: [FindingID: Set<FindingID>] = [
            .listenerOnAppear: [.listenerNeverRemoved],
            .listenerBesidePages: [.unboundedListener],
            .countedByDownload: [.wholeCollectionRead],
        ]
        var byPlace: [Place: Set<FindingID>] = [:]
        for finding in all { byPlace[finding.place, default: []].insert(finding.id) }
        var seen: Set<Finding> = []
        return all.filter { finding in
            let others = byPlace[finding.place] ?? []
            let isWeaker = others.contains { weaker[$0]?.contains(finding.id) == true }
            return !isWeaker && seen.insert(finding).inserted
        }
    }
}
