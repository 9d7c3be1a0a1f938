import TidemarkModel
import TidemarkStore

/// Lists documents and the ids of collections, page by page.
struct ListAnswer {
    let access: ReadAccess

    /// The sizes of a page in documents: production's default and its maximum.
    private static let defaultPage = 100
    private static let maxPage = 300

    func documents(
        _ request: ListDocumentsRequest, context: CallContext, transaction: StoreTransaction
    ) throws -> Reply {
        let size = try Self.pageSize(request.pageSize)
        if request.showMissing, !request.orders.isEmpty {
            throw RPCStatus.invalidArgument(
                "cannot specify an order when show_missing is true")
        }
        var query = Query(
            parent: request.parent, collectionID: request.collectionID, orders: request.orders)
        try query.validate()
        try access.admit(query, in: context.database)
        try request.mask?.validateAsMask()
        // The bill is for the list, without the cursor and the limit of this page.
        let listed = query
        let mark = Self.fingerprint(of: request)
        var after: PageToken?
        if !request.pageToken.isEmpty { after = try PageToken(request.pageToken, of: mark) }
        let scope = try access.scope(
            request.consistency, context: context, transaction: transaction)
        if request.showMissing, let collection = query.collection {
            return try listWithMissing(
                collection, request: request, context: context, scope: scope, size: size,
                after: after)
        }
        if let after {
            query.start = Cursor(values: after.values, before: false)
            try query.validate()
        }
        query.limit = .first(size + 1)
        var documents = try scope.documents(query)
        access.record(scope, query: query, rows: documents.map { ($0.path, $0) })
        let hasMore = documents.count > size
        if hasMore { documents.removeLast() }
        var units = access.units(of: listed, in: context.database)
        for document in documents { units?.add(document) }
        try units?.addRest(ReadScope.Totals(), in: scope)
        access.note(units, context)
        access.bill(
            max(1, documents.count), for: listed, by: .listDocuments, context: context,
            readUnits: units?.total)
        var next = ""
        if hasMore, let last = documents.last {
            let values = query.cursorValues(of: last, in: context.database)
            next = PageToken(fingerprint: mark, values: values).text
        }
        let rows = documents.map {
            ListedDocument(path: $0.path, document: $0.projected(to: request.mask))
        }
        return .listDocuments(rows, nextPageToken: next)
    }

    private static func pageSize(_ asked: Int) throws(RPCStatus) -> Int {
        if asked < 0 { throw .invalidArgument("Page size must be nonnegative.") }
        return asked == 0 ? defaultPage : min(asked, maxPage)
    }

    static func fingerprint(of request: ListDocumentsRequest) -> UInt64 {
        PageToken.fingerprint(
            request.parent?.text ?? "", request.collectionID ?? "/",
            request.orders.map { "\($0.field.encoded) \($0.direction)" }.joined(separator: ","),
            request.mask.map { $0.map(\.encoded).joined(separator: ",") } ?? "/",
            request.showMissing ? "missing" : "")
    }

    /// Returns a page in the order of names, including ids that only have documents below them.
    private func listWithMissing(
        _ collection: CollectionPath, request: ListDocumentsRequest, context: CallContext,
        scope: ReadScope, size: Int, after: PageToken?
    ) throws -> Reply {
        var last: String?
        if let after {
            guard case .string(let id)? = after.values.first,
                (try? collection.document(id)) != nil
            else {
                throw RPCStatus.invalidArgument("invalid page token")
            }
            last = id
        }
        var ids = try scope.documentIDs(in: collection, after: last, limit: size + 1)
        let hasMore = ids.count > size
        if hasMore { ids.removeLast() }
        var rows: [ListedDocument] = []
        for id in ids {
            let path = DocumentPath(unchecked: collection.text + "/" + id)
            let document = try scope.document(at: path)
            access.record(scope, path: path, document: document)
            rows.append(
                ListedDocument(path: path, document: document?.projected(to: request.mask)))
        }
        let found = rows.count { $0.document != nil }
        let reads = access.billing.lookups(found: found, missing: rows.count - found)
        access.bill(
            max(1, reads), for: Query(collection: collection), by: .listDocuments, context: context)
        var next = ""
        if hasMore, let id = ids.last {
            let mark = Self.fingerprint(of: request)
            next = PageToken(fingerprint: mark, values: [.string(id)]).text
        }
        return .listDocuments(rows, nextPageToken: next)
    }

    /// Returns a page of ids. There are few ids, so a page is cut from all of them.
    func collectionIDs(
        _ request: ListCollectionIDsRequest, context: CallContext,
        transaction: StoreTransaction
    ) throws -> Reply {
        if request.pageSize < 0 {
            throw RPCStatus.invalidArgument(
                "page_size must be greater than or equal to zero.")
        }
        let size = request.pageSize == 0 ? Self.maxPage : min(request.pageSize, Self.maxPage)
        // Production does not bind these tokens to the parent.
        let mark = PageToken.fingerprint("collection ids")
        var after: String?
        if !request.pageToken.isEmpty {
            let token = try PageToken(request.pageToken, of: mark)
            if case .string(let id)? = token.values.first { after = id }
        }
        let scope = try access.scope(
            request.consistency, context: context, transaction: transaction)
        let all = try scope.collectionIDs(below: request.parent)
        let rest = after.map { mark in all.filter { mark.precedesInBytes($0) } } ?? all
        let page = Array(rest.prefix(size))
        access.countReads(
            Billing.withoutDocuments, by: .listCollectionIDs, context,
            on: request.parent?.text ?? "")
        var next = ""
        if rest.count > size, let last = page.last {
            next = PageToken(fingerprint: mark, values: [.string(last)]).text
        }
        return .listCollectionIDs(page, nextPageToken: next)
    }
}

extension Query {
    /// Returns the values of a cursor at this row.
    func cursorValues(of document: Document, in database: DatabaseID) -> [Value] {
        let fields = document.fields
        return normalizedOrders.compactMap { order in
            order.field.isDocumentID
                ? .reference(ReferenceValue(database: database, path: document.path))
                : fields[order.field]
        }
    }
}
