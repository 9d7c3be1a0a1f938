import SwiftSyntax

/// The check `sequential-reads`: reads that wait for each other without need.
enum SequentialReads {
    static func findings(in context: CheckContext) -> [Finding] {
        var lists: [SyntaxIdentifier: (CodeBlockItemListSyntax, SourceFile)] = [:]
        let names = context.graph.namesThatPerform.union([
            "getDocument", "getDocuments", "getAggregation",
        ])
        for name in names {
            for site in context.project.calls[name] ?? [] {
                guard
                    let item = site.node.ancestors.first(where: { $0.is(CodeBlockItemSyntax.self) }
                    ),
                    let list = item.parent?.as(CodeBlockItemListSyntax.self), list.count > 1
                else { continue }
                lists[list.id] = (list, site.file)
            }
        }
        return lists.values.flatMap { findings(in: $0.0, $0.1, context) }
    }

    private struct Read {
        let name: String
        let expression: ExprSyntax
    }

    private static func findings(
        in list: CodeBlockItemListSyntax, _ file: SourceFile, _ context: CheckContext
    ) -> [Finding] {
        var found: [Finding] = []
        var run: [Read] = []
        func end() {
            if run.count > 1, let last = run.last {
                let others = run.dropLast().map { "`\($0.name)`" }.joined(separator: ", ")
                found.append(
                    context.finding(
                        .sequentialReads, in: file, at: last.expression,
                        "`\(last.name)` waits for \(others) without needing it.",
                        because: "\(run.count) round trips follow each other where one would do: "
                            + "with 400 ms each, \(run.count * 400) ms instead of 400.",
                        mend: "Start both at once: `async let \(run[0].name) = …`, and await both "
                            + "where they are used."))
            }
            run = []
        }
        for item in list {
            guard let read = read(item, context) else {
                end()
                continue
            }
            if run.contains(where: { depends(read, on: $0.name, context) }) { end() }
            run.append(read)
        }
        end()
        return found
    }

    /// Returns a `let a = try await …` that only reads.
    private static func read(_ item: CodeBlockItemSyntax, _ context: CheckContext) -> Read? {
        guard !item.isInTransaction, let (name, expression) = binding(item),
            expression.tokens(viewMode: .sourceAccurate).contains(where: {
                $0.tokenKind == .keyword(.await)
            })
        else { return nil }
        let performed = context.graph.performed(in: expression)
        guard !performed.isEmpty, performed.allSatisfy(\.kind.isRead) else { return nil }
        return Read(name: name, expression: expression)
    }

    private static func binding(_ item: CodeBlockItemSyntax) -> (String, ExprSyntax)? {
        if let variable = item.item.as(VariableDeclSyntax.self), variable.bindings.count == 1,
            variable.modifiers.isEmpty,
            let binding = variable.bindings.first, let value = binding.initializer?.value,
            let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.bare
        {
            return (name, value)
        }
        guard let sequence = item.item.as(SequenceExprSyntax.self) else { return nil }
        let elements = Array(sequence.elements)
        guard elements.count == 3, elements[1].is(AssignmentExprSyntax.self),
            let name = elements[0].lastName
        else { return nil }
        return (name, elements[2])
    }

    private static func depends(_ read: Read, on name: String, _ context: CheckContext) -> Bool {
        if read.expression.mentions(name) { return true }
        return read.expression.all(FunctionCallExprSyntax.self).contains { call in
            context.graph.callee(of: call)?.body?.mentions(name) == true
        }
    }
}
