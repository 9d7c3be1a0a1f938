import SwiftSyntax

/// A place at which the code uses Firestore.
struct Operation {
    enum Kind: Hashable {
        case listen, getDocuments, getDocument, aggregate
        /// A run of a pipeline, or a live pipeline.
        case pipeline
        case setData, updateData, delete, addDocument
        case commit, transaction

        var isRead: Bool { self == .getDocuments || self == .getDocument || self == .aggregate }
        var isWrite: Bool {
            self == .setData || self == .updateData || self == .delete || self == .addDocument
        }
    }

    let kind: Kind
    /// The receiver of the operation.
    let receiver: Known
    let node: ExprSyntax
    /// The call; nil for `.snapshots`.
    let call: FunctionCallExprSyntax?
    let file: SourceFile

    /// The query of a listener or a read, even if little is known of it; nil for a document.
    var query: QueryFacts? { receiver.query }

    var isOfDocument: Bool {
        switch receiver {
        case .document, .documentSnapshot: true
        default: kind == .getDocument
        }
    }

    /// Returns true if the operation asks only the device's cache, which costs nothing and has no
    /// delay.
    func isFromCache(_ evaluator: Evaluator) -> Bool {
        guard let source = call?.argument("source") else { return false }
        return evaluator.value(source) == .symbol("cache")
    }

    /// The name of the operation, at which a caret points.
    var name: TokenSyntax {
        if let member = call?.calledExpression.bare.as(MemberAccessExprSyntax.self) {
            return member.declName.baseName
        }
        if let member = node.as(MemberAccessExprSyntax.self) { return member.declName.baseName }
        return node.firstToken(viewMode: .sourceAccurate) ?? .identifier("")
    }

    /// The place of the operation's name.
    var place: Place { file.place(of: name) }
}

extension SyntaxProtocol {
    /// The enclosing loops in the function, the innermost first; `over` is the list of a loop. A
    /// closure that runs later than its loop counts as inside it.
    var enclosingLoops: [(node: Syntax, over: ExprSyntax?)] {
        var found: [(Syntax, ExprSyntax?)] = []
        var inside = Syntax(self)
        for parent in ancestors {
            if let loop = parent.as(ForStmtSyntax.self), loop.body.encloses(inside) {
                found.append((parent, loop.sequence))
            } else if let loop = parent.as(WhileStmtSyntax.self), loop.body.encloses(inside) {
                found.append((parent, nil))
            } else if let loop = parent.as(RepeatStmtSyntax.self), loop.body.encloses(inside) {
                found.append((parent, nil))
            } else if let closure = parent.as(ClosureExprSyntax.self), let call = closure.calling,
                let name = call.calledName, Self.loopNames.contains(name), let over = call.receiver
            {
                found.append((Syntax(call), over))
            } else if parent.is(FunctionDeclSyntax.self) || parent.is(InitializerDeclSyntax.self)
                || parent.is(AccessorBlockSyntax.self)
            {
                break
            }
            inside = parent
        }
        return found
    }

    private static var loopNames: Set<String> {
        [
            "forEach", "map", "compactMap", "flatMap", "asyncMap", "asyncForEach",
            "concurrentForEach", "asyncCompactMap", "concurrentMap",
        ]
    }

    /// True if the node is inside a call of `runTransaction`.
    var isInTransaction: Bool {
        ancestors.contains {
            $0.as(FunctionCallExprSyntax.self)?.calledName == "runTransaction"
        }
    }
}
