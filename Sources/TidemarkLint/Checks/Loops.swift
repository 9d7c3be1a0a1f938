import SwiftSyntax

/// The checks `read-in-loop` and `writes-in-loop`.
enum Loops {
    static func findings(in context: CheckContext) -> [Finding] {
        var found: [Finding] = []
        for operation in context.operations {
            guard let loop = loop(around: operation.node, context) else { continue }
            if operation.isFromCache(context.evaluator) { continue }
            if operation.kind.isRead || operation.kind == .listen {
                found += [read(operation, loop: loop, in: context)].compactMap { $0 }
            } else if operation.kind.isWrite, isAlone(operation) {
                found.append(write(operation, loop: loop, in: context))
            }
        }
        return found + throughFunctions(context)
    }

    struct Loop {
        let node: Syntax
        let over: ExprSyntax
        /// The query of the documents in the loop, if they come from a query.
        let query: QueryFacts?
    }

    /// Returns the innermost loop over a list whose length is only known in the running app.
    static func loop(around node: some SyntaxProtocol, _ context: CheckContext) -> Loop? {
        guard !node.isInTransaction, let innermost = node.enclosingLoops.first,
            let over = innermost.over
        else { return nil }
        if let loop = innermost.node.as(ForStmtSyntax.self), loop.awaitKeyword != nil { return nil }
        if isForOneElement(node, in: innermost.node) || isLeft(innermost.node, after: node) {
            return nil
        }
        let value = context.evaluator.value(over)
        if isOfFewCases(value, context) { return nil }
        guard
            isOfUnknownLength(
                over, value, isClosure: innermost.node.is(FunctionCallExprSyntax.self))
        else { return nil }
        if case .documents(let facts) = value {
            // New documents are few if the listener reads few documents or asks only for newer
            // ones.
            if facts.isOfChanges, facts.limit != .none || ListenerCosts.isBounded(facts) {
                return nil
            }
            if case .count(let limit) = facts.limit, limit <= 10 { return nil }
            return Loop(node: innermost.node, over: over, query: facts)
        }
        return Loop(node: innermost.node, over: over, query: nil)
    }

    /// Returns true if the list contains values of an enum with few cases.
    private static func isOfFewCases(_ value: Known, _ context: CheckContext) -> Bool {
        guard case .elements(let name) = value, let cases = context.project.types[name]?.rawValues
        else { return false }
        return (1...20).contains(cases.count)
    }

    private static func isOfUnknownLength(
        _ over: ExprSyntax, _ value: Known, isClosure: Bool
    ) -> Bool {
        switch value {
        case .list(let values) where values.count <= 20: return false
        // These are the rows that a user has marked in a list on the screen.
        case .instance("IndexSet"): return false
        case .documents, .elements: break
        default:
            // This is `user.map { }` of an optional, or `$text.map { }` of a publisher.
            if isClosure, over.lastName?.hasSuffix("s") != true { return false }
        }
        let text = over.trimmedDescription
        if text.contains("allCases") || text.contains("ublisher") || text.hasPrefix("$") {
            return false
        }
        let lower = text.lowercased()
        if lower.contains("chunk") || lower.contains("stride(") || lower.contains("batch") {
            return false
        }
        return !isRangeOfNumbers(over)
    }

    /// Returns true if a condition selects the single element that equals a value:
    /// `if row.id == id`.
    private static func isForOneElement(_ node: some SyntaxProtocol, in loop: Syntax) -> Bool {
        node.ancestors.contains { parent in
            guard loop.encloses(parent), let branch = parent.as(IfExprSyntax.self),
                branch.body.encloses(node)
            else { return false }
            return branch.conditions.all(SequenceExprSyntax.self).contains { sequence in
                let elements = Array(sequence.elements)
                return elements.count == 3
                    && elements[1].as(BinaryOperatorExprSyntax.self)?.operator.text == "=="
                    && elements[2].bare.isName
            }
        }
    }

    /// Returns true if the loop ends after the element that reaches `node`: a `break` or `return`
    /// follows.
    private static func isLeft(_ loop: Syntax, after node: some SyntaxProtocol) -> Bool {
        guard loop.is(ForStmtSyntax.self) else { return false }
        var isLeft = false
        for parent in node.ancestors {
            if parent.id == loop.id { return isLeft }
            // A return from a closure does not leave the loop.
            if parent.is(ClosureExprSyntax.self) { isLeft = false }
            guard let items = parent.as(CodeBlockItemListSyntax.self) else { continue }
            isLeft =
                isLeft
                || items.contains {
                    $0.position > node.position
                        && ($0.item.is(BreakStmtSyntax.self) || $0.item.is(ReturnStmtSyntax.self))
                }
        }
        return false
    }

    /// Returns true for `1...3` and `1...count`, but not for `0..<ids.count`.
    private static func isRangeOfNumbers(_ over: ExprSyntax) -> Bool {
        guard let sequence = over.bare.as(SequenceExprSyntax.self) else { return false }
        let elements = Array(sequence.elements)
        guard elements.count == 3, let symbol = elements[1].as(BinaryOperatorExprSyntax.self),
            symbol.operator.text == "..." || symbol.operator.text == "..<"
        else { return false }
        return !elements[2].all(MemberAccessExprSyntax.self).contains {
            ["count", "endIndex"].contains($0.declName.baseName.text)
        }
    }

    // MARK: - Reads

    private static func read(
        _ operation: Operation, loop: Loop, in context: CheckContext
    ) -> Finding? {
        if let query = operation.query,
            query.conditions.contains(where: {
                ($0.test == "in" || $0.test == "arrayContainsAny") && !$0.isOneValue
            })
        {
            return nil
        }
        return context.finding(
            .readInLoop, at: operation,
            operation.kind == .listen
                ? "A listener is added for each of `\(loop.over.trimmedDescription.oneLine)`."
                : "This is read once for each of `\(loop.over.trimmedDescription.oneLine)`.",
            because: reason, mend: mending, estimate: estimate(loop, context))
    }

    private static let reason =
        "One request follows another, each a round trip, and each document is billed again whenever "
        + "the list is shown."
    private static let mending =
        "Query groups of 30 with `whereField(FieldPath.documentID(), in: ids)`, keep what was "
        + "asked for already, or store in the list's own documents what the list shows."

    private static func estimate(_ loop: Loop, _ context: CheckContext) -> Estimate {
        let count = context.scale.documents(of: loop.query)
        return Estimate(
            reads: count, reckoning: "one read for each of \(count.grouped) elements",
            scale: context.scale)
    }

    /// Returns findings for calls in a loop to functions that read or write.
    private static func throughFunctions(_ context: CheckContext) -> [Finding] {
        let names = Set(context.graph.namesThatPerform)
        var found: [Finding] = []
        var told: Set<String> = []
        for name in names.sorted() {
            for site in context.project.calls[name] ?? [] {
                guard let loop = loop(around: site.node, context),
                    let function = context.graph.callee(of: site.node)
                else { continue }
                // A single finding covers several calls in a loop.
                guard told.insert("\(name) \(loop.node.id)").inserted else { continue }
                let performed = context.graph.performed(by: function)
                let reads = performed.filter {
                    ($0.kind.isRead || $0.kind == .listen) && !$0.isFromCache(context.evaluator)
                }
                // Other writes on the way, such as to a log, are not the purpose of the call.
                let writes = context.graph.performedNear(by: function).filter(isAlone)
                if let first = reads.first, !isBatched(first) {
                    found.append(
                        context.finding(
                            .readInLoop, in: site.file, at: site.node.calledExpression.lastToken,
                            "`\(name)` reads (\(first.place.short)), and is called for each of "
                                + "`\(loop.over.trimmedDescription.oneLine)`.",
                            because: reason, mend: mending, estimate: estimate(loop, context)))
                } else if let first = writes.first {
                    found.append(
                        context.finding(
                            .writesInLoop, in: site.file, at: site.node.calledExpression.lastToken,
                            "`\(name)` writes (\(first.place.short)), and is called for each of "
                                + "`\(loop.over.trimmedDescription.oneLine)`.",
                            because: writeReason, mend: writeMending))
                }
            }
        }
        return found
    }

    private static func isBatched(_ operation: Operation) -> Bool {
        operation.query?.conditions.contains {
            ($0.test == "in" || $0.test == "arrayContainsAny") && !$0.isOneValue
        } == true
    }

    // MARK: - Writes

    private static let writeReason =
        "An error leaves some written and some not, and each write is a separate request."
    private static let writeMending =
        "Collect them in batches, `let batch = db.batch()`, of at most 500, and commit each once."

    private static func write(
        _ operation: Operation, loop: Loop, in context: CheckContext
    ) -> Finding {
        context.finding(
            .writesInLoop, at: operation,
            "This is written once for each of `\(loop.over.trimmedDescription.oneLine)`.",
            because: writeReason, mend: writeMending)
    }

    /// Returns true for a single write, outside of batches and transactions.
    static func isAlone(_ operation: Operation) -> Bool {
        guard operation.kind.isWrite, operation.call?.argument("forDocument") == nil,
            !operation.node.isInTransaction
        else { return false }
        switch operation.receiver {
        case .document, .query: return true
        case .unknown, .instance: return operation.kind != .delete
        default: return false
        }
    }
}

extension QueryFacts.Condition {
    /// True for a filter with at most one value, such as `in: [id]`.
    var isOneValue: Bool {
        if case .list(let values) = value { return values.count <= 1 }
        return false
    }
}

extension ExprSyntax {
    /// The last word of the called expression, for the caret.
    var lastToken: TokenSyntax {
        bare.as(MemberAccessExprSyntax.self)?.declName.baseName
            ?? lastToken(viewMode: .sourceAccurate) ?? .identifier("")
    }
}

extension Place {
    /// The short form, such as `Feed.swift:12`.
    var short: String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return "\(name):\(line)"
    }
}
