/// The service whose requests rules decide about.
public enum RulesService: String, Hashable, Sendable, CaseIterable {
    case firestore = "cloud.firestore"
    /// Cloud Storage for Firebase. Its rules read documents with `firestore.get()` and
    /// `firestore.exists()`.
    case storage = "firebase.storage"
}

/// A valid rules file, which decides about requests.
///
/// A value: cheap to copy, safe to share. Parsing takes linear time.
public struct Ruleset: Sendable {
    public let source: SourceText
    public let service: RulesService
    /// The rules version, `1` or `2`.
    public let version: Int
    /// The warnings for the file's author, in the order of the text.
    public let warnings: [RulesIssue]
    let blocks: [Block]
    let functions: [Function]
    /// The ranges of the `debug()` calls, in bytes.
    let debugCalls: Set<Range<Int>>

    /// Parses a file.
    ///
    /// - Parameter service: The service that is decided about. The rules of others are ignored.
    /// - Throws: ``InvalidRules`` with every error of the file.
    public init(
        _ text: String, service: RulesService = .firestore
    ) throws(InvalidRules) {
        let source = SourceText(text)
        guard source.bytes.count <= RulesLimits.sourceBytes else {
            let text = "The file has \(source.bytes.count) bytes; at most 256 KB are allowed."
            throw InvalidRules([
                RulesIssue(.error, at: SourceText.Position(line: 1, column: 1), text)
            ])
        }
        let (file, faults) = Parser.parse(source)
        var checker = Checker(source, service: service)
        checker.check(file)
        let issues = (faults + checker.issues).sorted()
        let errors = issues.filter { $0.severity == .error }
        if !errors.isEmpty { throw InvalidRules(errors) }
        self.source = source
        self.service = service
        version = file.version
        warnings = issues
        blocks = checker.blocks
        functions = checker.functions
        debugCalls = Self.debugCalls(in: checker.blocks, checker.functions)
    }

    private static func debugCalls(
        in blocks: [Block], _ functions: [Function]
    ) -> Set<Range<Int>> {
        var found: Set<Range<Int>> = []
        var rest = blocks.flatMap(\.allows).compactMap(\.condition)
        rest += functions.flatMap { $0.variables + [$0.result] }
        while let node = rest.popLast() {
            if case .builtin(.debug, _, _) = node.operation { found.insert(node.start..<node.end) }
            rest += node.children
        }
        return found
    }

    /// A `match` block with its full path, from the service down.
    struct Block: Sendable {
        let pattern: PathPattern
        let allows: [Allow]
        let start: Int
    }

    struct Allow: Sendable {
        let methods: [RulesMethod]
        /// The condition; nil for an unconditional `allow`.
        let condition: Node?
        let conditionStart: Int
        let start: Int
        let end: Int
    }

    struct Function: Sendable {
        let name: String
        let parameters: Int
        let variables: [Node]
        let result: Node
        let start: Int
    }
}
