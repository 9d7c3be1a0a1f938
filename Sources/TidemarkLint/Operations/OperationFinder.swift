import SwiftSyntax

/// Finds the places where a project uses Firestore, and counts the places whose query is unknown.
struct OperationFinder {
    let project: Project
    let evaluator: Evaluator

    func all() -> [Operation] {
        guard project.files.contains(where: \.importsFirestore) else { return [] }
        var found: [Operation] = []
        for (name, kind) in Self.kinds {
            for site in project.calls[name] ?? [] {
                if let operation = operation(name, kind: kind, site: site) {
                    found.append(operation)
                }
            }
        }
        for (node, file) in project.sequences {
            let receiver = node.base.map { evaluator.value($0) } ?? .unknown
            switch receiver {
            case .query, .document:
                found.append(
                    Operation(
                        kind: .listen, receiver: receiver, node: ExprSyntax(node), call: nil,
                        file: file))
            default: break
            }
        }
        return found.sorted { $0.place < $1.place }
    }

    private static let kinds: [(String, Operation.Kind)] = [
        ("addSnapshotListener", .listen), ("snapshots", .listen),
        ("getDocuments", .getDocuments), ("getDocument", .getDocument),
        ("getAggregation", .aggregate), ("setData", .setData), ("updateData", .updateData),
        ("delete", .delete), ("addDocument", .addDocument), ("deleteDocument", .delete),
        ("commit", .commit), ("runTransaction", .transaction), ("execute", .pipeline),
    ]

    private func operation(
        _ name: String, kind: Operation.Kind, site: Project.CallSite
    ) -> Operation? {
        guard let base = site.node.receiver else { return nil }
        let receiver = evaluator.value(base)
        if case .pipeline = receiver {
            guard name == "execute" || name == "snapshots" else { return nil }
            return Operation(
                kind: .pipeline, receiver: receiver, node: ExprSyntax(site.node), call: site.node,
                file: site.file)
        }
        if kind == .pipeline { return nil }
        guard isOfFirestore(name, receiver: receiver, node: site.node) else { return nil }
        return Operation(
            kind: kind, receiver: receiver, node: ExprSyntax(site.node), call: site.node,
            file: site.file)
    }

    /// Returns true for an operation of Firestore, and false for a method of the project with the
    /// same name.
    private func isOfFirestore(
        _ name: String, receiver: Known, node: FunctionCallExprSyntax
    ) -> Bool {
        switch receiver {
        case .query, .document, .aggregate, .batch, .transaction, .database: return true
        case .instance(let type):
            // The type of the object is a protocol or type of the project.
            if project.types[type] != nil { return false }
        case .unknown, .documentSnapshot: break
        default: return false
        }
        switch name {
        case "addSnapshotListener": return true
        case "getDocuments": return Self.takes(node, [nil, "source", "completion"])
        case "getDocument":
            return Self.takes(node, [nil, "as", "source", "completion", "decoder", "with"])
        case "setData", "updateData":
            return !node.arguments.isEmpty
                && Self.takes(
                    node,
                    [nil, "from", "merge", "mergeFields", "encoder", "forDocument", "completion"])
        case "addDocument": return Self.takes(node, ["data", "from", "encoder", "completion"])
        case "getAggregation": return true
        case "deleteDocument": return node.arguments.count == 1
        default: return false
        }
    }

    private static func takes(_ node: FunctionCallExprSyntax, _ labels: Set<String?>) -> Bool {
        node.labels.allSatisfy(labels.contains)
    }
}
