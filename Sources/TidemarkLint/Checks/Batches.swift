import SwiftSyntax

/// The check `batch-without-bound`.
enum Batches {
    /// The maximum number of writes in a batch, from Google's documentation of the client's
    /// `batch()`.
    static let maxWrites = 500

    static func findings(in context: CheckContext) -> [Finding] {
        context.operations.compactMap { operation in
            guard operation.kind.isWrite, isBatched(operation),
                let receiver = operation.call?.receiver
            else { return nil }
            let loops = operation.node.enclosingLoops
            guard let loop = loops.first, let over = loop.over, !operation.node.isInTransaction
            else { return nil }
            // The batch is created or committed in the loop.
            if isMade(receiver, inside: loop.node, context) { return nil }
            if loops.contains(where: { $0.node.mentions("commit") }) { return nil }
            if isLeft(loop.node) { return nil }
            return finding(operation, over: over, in: context)
        }
    }

    /// Returns true if the loop ends at a number: `if count >= 500 { break }`.
    private static func isLeft(_ loop: Syntax) -> Bool {
        loop.all(IfExprSyntax.self).contains { branch in
            !branch.body.all(BreakStmtSyntax.self).isEmpty
                && branch.conditions.all(BinaryOperatorExprSyntax.self).contains {
                    [">=", ">", "=="].contains($0.operator.text)
                }
        }
    }

    private static func isBatched(_ operation: Operation) -> Bool {
        if operation.receiver == .batch { return true }
        return operation.receiver == .unknown && operation.call?.argument("forDocument") != nil
    }

    private static func isMade(
        _ receiver: ExprSyntax, inside loop: Syntax, _ context: CheckContext
    ) -> Bool {
        guard let definition = context.definition(of: receiver) else { return false }
        return loop.encloses(definition)
    }

    private static func finding(
        _ operation: Operation, over: ExprSyntax, in context: CheckContext
    ) -> Finding? {
        switch context.evaluator.value(over) {
        case .list(let values) where values.count <= maxWrites: return nil
        case .documents(let query):
            switch query.limit {
            case .count(let limit) where limit <= maxWrites: return nil
            // The app has chosen the size.
            case .written: return nil
            default: break
            }
        default: break
        }
        if let length = Self.length(of: over, context) {
            guard length > maxWrites else { return nil }
            return context.finding(
                .batchWithoutBound, at: operation, "This batch has \(length.grouped) writes.",
                because: "A batch can have at most 500.",
                mend: "Commit and begin a new batch after every 500 writes.", severity: .error)
        }
        if over.trimmedDescription.contains("allCases") { return nil }
        if over.mentions(wordsOf: ["chunk", "prefix", "stride", "batch", "slice"]) { return nil }
        if operation.node.enclosingFunction?.mentions(wordsOf: ["chunk", "stride", "prefix"])
            == true
        {
            return nil
        }
        return context.finding(
            .batchWithoutBound, at: operation,
            "This batch has one write for each of `\(over.trimmedDescription.oneLine)`, whatever "
                + "their number.",
            because: """
                A batch can have at most 500 writes, and a commit 10 MiB: with more, nothing is
                """
                    + "written, which affects the users with the most data.",
            mend: "Commit and begin a new batch after every 500 writes.")
    }

    /// Returns the length of a range whose ends are in the code.
    private static func length(of over: ExprSyntax, _ context: CheckContext) -> Int? {
        guard let sequence = over.bare.as(SequenceExprSyntax.self) else { return nil }
        let elements = Array(sequence.elements)
        guard elements.count == 3,
            let symbol = elements[1].as(BinaryOperatorExprSyntax.self)?.operator.text,
            symbol == "..." || symbol == "..<",
            case .number(let from) = context.evaluator.value(elements[0]),
            case .number(let to) = context.evaluator.value(elements[2])
        else { return nil }
        let (length, overflows) = to.subtractingReportingOverflow(from)
        return overflows ? nil : symbol == "..." ? length + 1 : length
    }
}
