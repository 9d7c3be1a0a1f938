import SwiftSyntax

/// The checks `unbounded-listener`, `listener-beside-pages`, `whole-collection-read`.
enum ListenerCosts {
    static func findings(in context: CheckContext) -> [Finding] {
        let pages = context.operations.filter { $0.query?.hasCursor == true }
        return context.operations.compactMap { operation in
            switch operation.kind {
            case .listen: listener(operation, beside: pages, context)
            case .getDocuments: read(operation, context)
            default: nil
            }
        }
    }

    private static func listener(
        _ operation: Operation, beside pages: [Operation], _ context: CheckContext
    ) -> Finding? {
        if operation.isOfDocument { return nil }
        guard let query = operation.query, query.limit != .sometimes else {
            context.cannotTell(operation.place, "the query of this listener")
            return nil
        }
        guard query.limit == .none, !isBounded(query) else { return nil }
        let documents = context.scale.documents(of: query)
        let estimate = Estimate(
            reads: documents, mended: min(50, documents),
            reckoning:
                "\(documents.grouped) documents of `\(query.name)`, each time it is listened to",
            scale: context.scale)
        if let page = pages.first(where: { isBeside($0, operation) }) {
            return context.finding(
                .listenerBesidePages, at: operation,
                "This listener has no limit, and line \(page.place.line) reads `\(query.name)` in "
                    + "pages.",
                because:
                    "The listener reads all documents at once, so that the pages save nothing.",
                mend: "Give the listener a limit of one page, newest first, and let the pages read "
                    + "older documents.", estimate: estimate)
        }
        let what =
            query.conditions.isEmpty && !query.hasCompositeFilter
            ? "the whole of `\(query.name)`" : "all of `\(query.name)` that its filters match"
        return context.finding(
            .unboundedListener, at: operation, "This listener reads \(what), without a limit.",
            because: "Each time it is attached after more than 30 minutes, every document of the "
                + "result is read and billed again, and the result grows with the app.",
            mend: "Order by the newest and set a limit, as in `.limit(to: 50)`; read older ones in "
                + "pages, or query only documents newer than those on the device.",
            estimate: estimate)
    }

    /// Returns true if the filters keep the result small: documents newer than a time, or a single
    /// document.
    static func isBounded(_ query: QueryFacts) -> Bool {
        query.asksForIDs || query.hasCursor
            // The typing users are few, regardless of the app's size.
            || query.collectionID?.lowercased().contains("typing") == true
            || query.conditions.contains { condition in
                if condition.test.hasPrefix("isGreaterThan") { return true }
                return condition.test == "isEqualTo" && isName(condition.field, in: query)
            }
    }

    private static let names: Set<String> = [
        "id", "uid", "uuid", "email", "username", "nickname", "handle", "phone", "phonenumber",
        "documentid", "slug",
    ]

    /// Returns true for fields whose value only a single document has.
    private static func isName(_ field: String?, in query: QueryFacts) -> Bool {
        guard let field else { return false }
        let lower = field.lowercased().filter { $0 != "_" }
        if names.contains(lower) { return true }
        let collection = query.collectionID?.lowercased() ?? ""
        return lower == "userid" && (collection.hasPrefix("user") || collection.contains("profile"))
            || lower.hasSuffix("code") && !lower.contains("country")
    }

    private static func isBeside(_ page: Operation, _ listener: Operation) -> Bool {
        guard let a = page.query, let b = listener.query, !a.path.isEmpty, a.path == b.path,
            page.place != listener.place, page.file === listener.file
        else { return false }
        return page.node.enclosingTypeName == listener.node.enclosingTypeName
    }

    private static func read(_ operation: Operation, _ context: CheckContext) -> Finding? {
        guard let query = operation.query, query.limit != .sometimes else {
            if !operation.isOfDocument {
                context.cannotTell(operation.place, "the query of this read")
            }
            return nil
        }
        let isRoot = query.path.count == 1 && !query.hasUnknownPrefix
        guard query.limit == .none, query.conditions.isEmpty, !query.hasCompositeFilter,
            !query.hasCursor, isRoot || query.isGroup, query.collectionID != nil
        else { return nil }
        if operation.isFromCache(context.evaluator) { return nil }
        let documents = context.scale.documents(of: query)
        return context.finding(
            .wholeCollectionRead, at: operation,
            "This reads every document of `\(query.name)`.",
            because: "What it reads and costs grows with the collection, for each user.",
            mend: "Filter, or set a limit and read in pages; for a figure over all of them use "
                + "`count` or an aggregation.",
            estimate: Estimate(
                reads: documents, mended: min(50, documents),
                reckoning: "\(documents.grouped) documents of `\(query.name)`", scale: context.scale
            ))
    }
}
