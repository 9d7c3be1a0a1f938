import SwiftSyntax

extension Evaluator {
    // MARK: - Members

    func member(_ node: MemberAccessExprSyntax, _ scope: Scope) -> Known {
        let name = node.declName.baseName.bare
        guard let base = node.base else { return .symbol(name) }
        let value = value(base, scope)
        if let found = ofFirestore(name, of: value) { return found }
        switch value {
        case .instance("UserDefaults"), .kept: return .kept
        case .instance(let owner): return member(name, of: owner, with: value, scope)
        case .metatype(let owner): return staticMember(name, of: owner, base: base, in: scope)
        case .deviceTime: return .deviceTime
        case .symbol(let text) where name == "rawValue": return .text(text)
        case .text where name == "rawValue": return value
        case .database, .query, .document:
            return inExtension(name, of: value, scope) ?? .unknown
        default: break
        }
        if name == "uid", base.trimmedDescription.contains("currentUser") { return .userID }
        return .unknown
    }

    private func member(
        _ name: String, of owner: String, with value: Known, _ scope: Scope
    ) -> Known {
        var inner = scope.deeper()
        inner.names = [:]
        inner.me = value
        return member(name, of: owner, inner) ?? .unknown
    }

    private func ofFirestore(_ name: String, of value: Known) -> Known? {
        switch (value, name) {
        case (.querySnapshot(let facts), "documents"): .documents(facts)
        case (.querySnapshot(let facts), "documentChanges"): .documents(facts.changes)
        case (.documents, "first"), (.documents, "last"): .documentSnapshot
        case (.documentSnapshot, "reference"): .document(.unknown)
        case (.documentSnapshot, "document"): .documentSnapshot
        case (.query(let facts), "count"): .aggregate(facts)
        case (.query(let facts), "parent"), (.document(let facts), "parent"):
            facts.path.count > 1 ? .unknown : nil
        default: nil
        }
    }

    private func staticMember(
        _ name: String, of owner: String, base: ExprSyntax, in scope: Scope
    ) -> Known {
        if owner == "UserDefaults" { return .instance(owner) }
        if owner == "Date", name == "now" { return .deviceTime }
        if owner == "FirestoreSource" { return .symbol(name) }
        guard let type = project.types[owner] else {
            return name.first?.isUppercase == true ? .metatype(name) : .unknown
        }
        if let raw = type.rawValues[name] { return .text(raw) }
        if name == "allCases", !type.rawValues.isEmpty {
            return .list(type.rawValues.keys.sorted().map(Known.symbol))
        }
        if let found = type.variables[name] { return variable(found, Scope(depth: scope.depth)) }
        // This is a type inside a type.
        if project.types[name] != nil { return .metatype(name) }
        return .unknown
    }

    /// Returns a property that the project adds to a type of Firestore.
    private func inExtension(_ name: String, of value: Known, _ scope: Scope) -> Known? {
        for owner in value.typeNames {
            guard let found = project.types[owner]?.variables[name] else { continue }
            var inner = Scope(depth: scope.depth)
            inner.me = value
            return variable(found, inner)
        }
        return nil
    }

    // MARK: - Calls

    func call(_ node: FunctionCallExprSyntax, _ scope: Scope) -> Known {
        if let closure = node.calledExpression.as(ClosureExprSyntax.self) {
            return result(of: closure.statements, scope)
        }
        guard let name = node.calledName else { return .unknown }
        let base = node.receiver.map { value($0, scope) }
        if let found = firestore(name, node: node, base: base, in: scope) { return found }
        if let found = ordinary(name, node: node, base: base, in: scope) { return found }
        guard let function = function(called: node, base, scope) else {
            if base == nil, name.first?.isUppercase == true { return .instance(name) }
            if case .metatype? = base, name.first?.isUppercase == true { return .instance(name) }
            if base == .kept { return .kept }
            return .unknown
        }
        return result(of: function, called: node, base, scope)
    }

    /// Evaluates calls of Firestore's own API whose results are followed further.
    private func firestore(
        _ name: String, node: FunctionCallExprSyntax, base: Known?, in scope: Scope
    ) -> Known? {
        if name == "firestore" || name == "Firestore" {
            if base == .metatype("Firestore") || base == nil && name == "Firestore" {
                return .database
            }
            return nil
        }
        if let made = pipeline(name, node: node, base: base, in: scope) { return made }
        switch (name, base) {
        case (_, .pipelineSource?), (_, .pipeline?): return nil
        case ("collection", .some(let base)): return collection(node, base: base, in: scope)
        case ("collectionGroup", .some):
            var facts = QueryFacts()
            facts.isGroup = true
            facts.path = segments(node, scope)
            return .query(facts)
        case ("document", .some(let base)): return document(node, base: base, in: scope)
        case ("batch", .some) where node.arguments.isEmpty: return .batch
        case ("getDocuments", .some(let base)): return .querySnapshot(base.query ?? .unknown)
        case ("getDocument", .some):
            return node.argument("as") == nil ? .documentSnapshot : .unknown
        case ("addSnapshotListener", .some): return .registration
        case ("aggregate", .query(let facts)?): return .aggregate(facts)
        case ("data", .documentSnapshot?), ("get", .documentSnapshot?): return .fieldOfDocument
        default: return chain(name, node: node, base: base, in: scope).map(Known.query)
        }
    }

    private func collection(
        _ node: FunctionCallExprSyntax, base: Known, in scope: Scope
    ) -> Known? {
        guard node.arguments.count == 1, node.arguments.first?.label == nil else { return nil }
        var facts: QueryFacts
        switch base {
        case .database: facts = QueryFacts()
        case .document(let parent): facts = parent
        case .unknown, .instance:
            if let function = function(called: node, base, scope) {
                return result(of: function, called: node, base, scope)
            }
            facts = QueryFacts()
            facts.hasUnknownPrefix = true
        default: return nil
        }
        facts.path += segments(node, scope)
        return .query(facts)
    }

    private func document(
        _ node: FunctionCallExprSyntax, base: Known, in scope: Scope
    ) -> Known? {
        guard node.arguments.count <= 1, node.arguments.first.map({ $0.label == nil }) ?? true
        else { return nil }
        switch base {
        case .query(var facts):
            facts.path += node.arguments.isEmpty ? [QueryFacts.newID] : segments(node, scope)
            return .document(facts)
        case .database:
            var facts = QueryFacts()
            facts.path = segments(node, scope)
            return .document(facts)
        case .unknown, .instance:
            if let function = function(called: node, base, scope) {
                return result(of: function, called: node, base, scope)
            }
            return .document(.unknown)
        default: return nil
        }
    }

    func segments(
        _ node: FunctionCallExprSyntax, _ scope: Scope
    ) -> [QueryFacts.Segment] {
        guard let argument = node.arguments.first?.expression else { return [.written("…")] }
        if case .text(let text) = value(argument, scope), !text.isEmpty {
            return text.split(separator: "/").map { .text(String($0)) }
        }
        // The path contains values: `users/\(id)/messages`.
        if let literal = argument.bare.as(StringLiteralExprSyntax.self) {
            var text = ""
            for segment in literal.segments {
                if let part = segment.as(StringSegmentSyntax.self) {
                    text += part.content.text
                } else if let part = segment.as(ExpressionSegmentSyntax.self),
                    let inner = part.expressions.first?.expression,
                    case .text(let known) = value(inner, scope)
                {
                    text += known
                } else {
                    text += "\u{1}"
                }
            }
            return text.split(separator: "/").map {
                $0.contains("\u{1}") ? .written(String($0)) : .text(String($0))
            }
        }
        return [.written(argument.trimmedDescription)]
    }

    /// Evaluates common names for clocks and for values that are stored elsewhere.
    private func ordinary(
        _ name: String, node: FunctionCallExprSyntax, base: Known?, in scope: Scope
    ) -> Known? {
        switch (name, base) {
        case ("Date", nil), ("Timestamp", nil):
            if node.arguments.isEmpty { return .deviceTime }
            guard let only = node.arguments.first, node.arguments.count == 1 else {
                return .unknown
            }
            if let label = only.label?.bare, label.hasPrefix("timeIntervalSince") || label == "date"
            {
                let inner = value(only.expression, scope)
                return inner == .kept || inner == .deviceTime ? inner : .unknown
            }
            return .unknown
        case (_, .metatype("FieldValue")?): return .fieldValue(name)
        case ("init", .metatype(let type)?): return .instance(type)
        case (_, .instance("UserDefaults")?): return .kept
        case ("UserDefaults", nil): return .instance("UserDefaults")
        case ("Array", nil), ("Set", nil):
            return node.arguments.first.map { value($0.expression, scope) } ?? .list([])
        default: return nil
        }
    }

    /// Returns the function of a call, if exactly one fits.
    func function(
        called node: FunctionCallExprSyntax, _ base: Known?, _ scope: Scope
    ) -> FunctionFacts? {
        guard let name = node.calledName else { return nil }
        var candidates: [FunctionFacts] = []
        switch base {
        case .instance(let owner)?, .metatype(let owner)?: candidates = methods(name, of: owner)
        case .database?, .query?, .document?:
            candidates = base!.typeNames.flatMap { project.types[$0]?.functions[name] ?? [] }
        case nil:
            if case .instance(let owner)? = scope.me { candidates = methods(name, of: owner) }
            if candidates.isEmpty, let owner = node.enclosingTypeName {
                candidates = methods(name, of: owner)
            }
            if candidates.isEmpty { candidates = project.functions[name] ?? [] }
        default: break
        }
        if candidates.isEmpty, base != nil {
            let all = project.allFunctions[name] ?? []
            let withBody = all.filter { $0.body != nil }
            candidates = withBody.count == 1 ? withBody : []
            guard !Self.everyday.contains(name) else { return nil }
        }
        let fitting = candidates.filter { $0.accepts(node.labels) && $0.body != nil }
        return fitting.count == 1 ? fitting[0] : nil
    }

    /// Names that are too common to identify their owner.
    static let everyday: Set<String> = [
        "map", "filter", "first", "append", "remove", "get", "set", "data", "count", "delete",
        "add", "save", "update", "load", "start", "stop", "reset", "insert", "sorted", "forEach",
        "init", "description", "encode", "decode", "fetch", "removeAll", "contains",
    ]

    /// Returns the methods of a type, including those of a protocol's only conformer.
    private func methods(_ name: String, of owner: String) -> [FunctionFacts] {
        var current: String? = owner
        for _ in 0..<8 {
            guard let type = current.flatMap({ project.types[$0] }) else { break }
            if let found = type.functions[name]?.filter({ $0.body != nil }), !found.isEmpty {
                return found
            }
            current = type.inherits.first { project.types[$0] != nil }
        }
        let conformers = project.heirs[owner] ?? []
        return conformers.count == 1 ? conformers[0].functions[name] ?? [] : []
    }

    private func result(
        of function: FunctionFacts, called node: FunctionCallExprSyntax, _ base: Known?,
        _ scope: Scope
    ) -> Known {
        guard let body = function.body else { return named(function.returnType) }
        var inner = Scope(depth: scope.depth + 1)
        if let base, base != .unknown { inner.me = base }
        if base == nil { inner.me = scope.me }
        for parameter in function.parameters {
            guard let argument = node.argument(parameter.label) else { continue }
            let given = value(argument, scope)
            if given != .unknown { inner.names[parameter.name] = given }
        }
        let found = result(of: body, inner)
        if found != .unknown { return found }
        return named(function.returnType)
    }

    /// Returns the joined value of all returns in the statements.
    func result(of items: CodeBlockItemListSyntax, _ scope: Scope) -> Known {
        guard scope.depth < Self.maxDepth else { return .unknown }
        if items.count == 1, let only = items.first?.item.as(ExprSyntax.self) {
            return value(only, scope)
        }
        var found: Known?
        for expression in returned(by: items) {
            let next = value(expression, scope)
            found = found.map { $0.joined(with: next) } ?? next
        }
        return found ?? .unknown
    }
}

extension Known {
    /// The types of Firestore that an extension can extend.
    var typeNames: [String] {
        switch self {
        case .database: ["Firestore"]
        case .query: ["CollectionReference", "Query"]
        case .pipeline: ["Pipeline"]
        case .document: ["DocumentReference"]
        case .querySnapshot: ["QuerySnapshot"]
        default: []
        }
    }
}
