import SwiftSyntax

/// The checks `write-without-change-time` and `delete-without-mark`: writes that a feed by change
/// time never sees.
enum ChangeTimes {
    static func findings(in context: CheckContext) -> [Finding] {
        let feeds = ChangeTimeFeed.all(in: context)
        if feeds.isEmpty { return [] }
        return context.operations.compactMap { operation in
            guard operation.kind.isWrite, let place = collection(of: operation, context),
                let feed = feeds.first(where: { $0.reads(place) })
            else { return nil }
            return operation.kind == .delete
                ? deleted(operation, from: place, feed: feed, in: context)
                : written(operation, to: place, feed: feed, in: context)
        }
    }

    /// Returns the collection of the document that an operation writes; nil if the code does not
    /// show it.
    private static func collection(
        of operation: Operation, _ context: CheckContext
    ) -> QueryFacts? {
        var receiver = operation.receiver
        if receiver == .batch || receiver == .transaction, let call = operation.call {
            let target = call.argument("forDocument") ?? call.arguments.first?.expression
            receiver = target.map { context.evaluator.value($0) } ?? .unknown
        }
        switch receiver {
        case .query(let facts) where operation.kind == .addDocument: return facts
        case .document(var facts):
            guard !facts.path.isEmpty else { return nil }
            facts.path.removeLast()
            return facts
        default: return nil
        }
    }

    private static func written(
        _ operation: Operation, to collection: QueryFacts, feed: ChangeTimeFeed,
        in context: CheckContext
    ) -> Finding? {
        guard let keys = WrittenKeys.of(operation, context), !keys.contains(feed.field) else {
            return nil
        }
        return context.finding(
            .writeWithoutChangeTime, at: operation,
            "This write to `\(collection.name)` does not set `\(feed.field)`.",
            because: "A feed reads the documents whose `\(feed.field)` is newer than its last "
                + "read. Devices that were not listening never see this change.",
            mend: "Write `\"\(feed.field)\": FieldValue.serverTimestamp()` with it.")
    }

    private static func deleted(
        _ operation: Operation, from collection: QueryFacts, feed: ChangeTimeFeed,
        in context: CheckContext
    ) -> Finding? {
        let mark = feed.deletedField ?? "deletedAt"
        return context.finding(
            .deleteWithoutMark, at: operation,
            "This deletes a document of `\(collection.name)`, which a feed reads by "
                + "`\(feed.field)`.",
            because: "A deleted document is in no later result. Devices that were not listening "
                + "show it for ever.",
            mend: "Write `\"\(mark)\"` and `\"\(feed.field)\"`, both "
                + "`FieldValue.serverTimestamp()`, and let a time-to-live policy delete it later; "
                + "or set `checksMembership`.")
    }
}

/// A feed of the code that finds changes by a field of its documents.
struct ChangeTimeFeed {
    let collection: QueryFacts
    let field: String
    /// The field of the mark; nil if the code names none.
    let deletedField: String?

    /// The presets, with the default of the parameter `collection`; nil if the first argument, or
    /// that of `in`, is the collection itself.
    private static let presets: [String: String?] = [
        "conversation": "messages", "notifications": "notifications", "callLog": "calls",
        "purchases": "purchases", "media": "media", "chatList": nil, "activity": nil,
        "gameHistory": nil,
    ]

    /// Returns the feeds in the order of the code. A feed that also counts its documents finds
    /// what has no change time, and is left out.
    static func all(in context: CheckContext) -> [ChangeTimeFeed] {
        guard context.project.files.contains(where: \.importsTidemarkApp) else { return [] }
        var found: [ChangeTimeFeed] = []
        for name in ["FeedDefinition"] + presets.keys.sorted() {
            for site in context.project.calls[name] ?? []
            where site.file.importsTidemarkApp && !site.file.text.contains("checksMembership") {
                if let feed = feed(name, site.node, in: context) { found.append(feed) }
            }
        }
        return found
    }

    private static func feed(
        _ name: String, _ call: FunctionCallExprSyntax, in context: CheckContext
    ) -> ChangeTimeFeed? {
        if name == "FeedDefinition" {
            guard let query = call.argument("query"), call.argument("itemTime") != nil,
                let way = call.argument("way"),
                case .query(let facts) = context.evaluator.value(query)
            else { return nil }
            return make(facts, way, in: context)
        }
        guard let facts = collection(name, call, in: context) else { return nil }
        guard let way = call.argument("way") else {
            return ChangeTimeFeed(
                collection: facts, field: "updatedAt", deletedField: "deletedAt")
        }
        return make(facts, way, in: context)
    }

    private static func make(
        _ facts: QueryFacts, _ way: ExprSyntax, in context: CheckContext
    ) -> ChangeTimeFeed? {
        guard facts.collectionID != nil, let call = way.bare.as(FunctionCallExprSyntax.self),
            call.calledName == "changeTime", let first = call.arguments.first?.expression,
            case .text(let field) = context.evaluator.value(first)
        else { return nil }
        var mark: String?
        if let argument = call.argument("deletedField"),
            case .text(let text) = context.evaluator.value(argument)
        {
            mark = text
        }
        return ChangeTimeFeed(collection: facts, field: field, deletedField: mark)
    }

    /// Returns the collection of a preset: `.conversation(chat)`, `.activity(posts)`.
    private static func collection(
        _ name: String, _ call: FunctionCallExprSyntax, in context: CheckContext
    ) -> QueryFacts? {
        // The presets are static members: `.conversation(…)`, `FeedDefinition.conversation(…)`.
        guard let member = call.calledExpression.bare.as(MemberAccessExprSyntax.self),
            member.base == nil || member.base?.lastName == "FeedDefinition"
        else { return nil }
        let first = call.argument("in") ?? call.arguments.first?.expression
        guard let first else { return nil }
        let value = context.evaluator.value(first)
        guard let inner = presets[name] ?? nil else {
            guard case .query(let facts) = value else { return nil }
            return facts
        }
        var id = inner
        if let argument = call.argument("collection") {
            guard case .text(let text) = context.evaluator.value(argument) else { return nil }
            id = text
        }
        guard case .document(var facts) = value else { return nil }
        facts.path.append(.text(id))
        return facts
    }

    /// Returns true if a document of `other` can be in the feed.
    func reads(_ other: QueryFacts) -> Bool {
        guard let id = collection.collectionID, id == other.collectionID else { return false }
        if collection.isGroup { return true }
        for (a, b) in zip(collection.path.reversed(), other.path.reversed()) {
            if case .text(let left) = a, case .text(let right) = b, left != right { return false }
        }
        let (own, others) = (collection.path.count, other.path.count)
        return own == others || own < others && collection.hasUnknownPrefix
            || others < own && other.hasUnknownPrefix
    }
}

/// The keys of the fields that a write sets, where the code shows all of them.
struct WrittenKeys {
    private let keys: Set<String>

    /// Returns true if the write sets `field`, a part of it, or a map around it.
    func contains(_ field: String) -> Bool {
        keys.contains { key in
            key == field || field.hasPrefix(key + ".") || key.hasPrefix(field + ".")
                || field.hasSuffix("." + key)
        }
    }

    /// Returns the keys; nil if other code may add some.
    static func of(_ operation: Operation, _ context: CheckContext) -> WrittenKeys? {
        guard let data = WrittenField.data(of: operation) else { return nil }
        if data.bare.is(DictionaryExprSyntax.self) { return known(operation, context) }
        if case .instance(let name) = context.evaluator.value(data) {
            return properties(of: name, context)
        }
        guard let name = data.bare.as(DeclReferenceExprSyntax.self)?.baseName.bare,
            let definition = context.definition(of: data),
            let function = operation.node.enclosingFunction, function.encloses(definition),
            definition.bare.is(DictionaryExprSyntax.self),
            !isChangedElsewhere(name, in: function)
        else { return nil }
        return known(operation, context)
    }

    private static func known(_ operation: Operation, _ context: CheckContext) -> WrittenKeys? {
        let fields = WrittenField.fields(of: operation, context)
        let keys = fields.compactMap(\.key)
        return keys.count == fields.count ? WrittenKeys(keys: Set(keys)) : nil
    }

    /// Returns the names of a type's properties; nil if the type writes itself in its own way.
    private static func properties(of name: String, _ context: CheckContext) -> WrittenKeys? {
        guard let type = context.project.types[name], type.functions["encode"] == nil,
            !type.parts.contains(where: { $0.node.mentions("CodingKeys") }),
            !type.variables.isEmpty,
            !type.inherits.contains(where: { context.project.types[$0] != nil })
        else { return nil }
        return WrittenKeys(keys: Set(type.variables.keys))
    }

    /// Returns true for `data.merge(…)`, `add(&data)`, `data = other` and a key that is not known.
    private static func isChangedElsewhere(_ name: String, in function: Syntax) -> Bool {
        let text = function.trimmedDescription
        return ["&\(name)", "\(name).merge", "\(name) = ", "\(name) += "].contains {
            text.contains($0) && !text.contains("var \($0)") && !text.contains("let \($0)")
        }
    }
}

extension SourceFile {
    /// True if the file can define a feed.
    var importsTidemarkApp: Bool { text.contains("import TidemarkApp") }
}
