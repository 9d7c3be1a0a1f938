package import TidemarkModel

/// The calls of a migration to Firestore, past every cache and by an administrator's token.
package struct MigrationCalls: Sendable {
    /// Returns a token. The parameter is a token that the server has refused, if any.
    package typealias Tokens = @Sendable (_ refused: String?) async throws -> String

    /// The label of the calls in the server's read meter.
    package static let label = "migrate"

    let transport: any Transport
    package let database: DatabaseID
    package let field: FieldPath
    /// The field that names a document's writer; nil to count by collection.
    let labelField: FieldPath?
    private let tokens: Tokens

    package init(
        _ transport: any Transport, database: DatabaseID, field: FieldPath,
        labelField: FieldPath? = nil, tokens: @escaping Tokens
    ) {
        self.transport = transport
        self.database = database
        self.field = field
        self.labelField = labelField
        self.tokens = tokens
    }

    /// Calls `body` with a token, and once more with another one if the server refuses the first.
    private func call<T: Sendable>(
        _ body: (CallContext) async throws(RPCStatus) -> T
    ) async throws(RPCStatus) -> T {
        var context = try await context(replacing: nil)
        do throws(RPCStatus) { return try await body(context) } catch {
            guard error.code == .unauthenticated else { throw error }
        }
        context = try await self.context(replacing: context.token)
        return try await body(context)
    }

    private func context(replacing refused: String?) async throws(RPCStatus) -> CallContext {
        do {
            return CallContext(
                database: database, label: Self.label, timeout: .seconds(60),
                token: try await tokens(refused))
        } catch { throw RPCStatus(.unavailable, "No token: \(error)") }
    }

    private var fields: [FieldPath] { [field] + (labelField.map { [$0] } ?? []) }

    private func seen(_ document: Document, in collection: MigratedCollection) -> SeenDocument {
        let fields = document.fields
        return SeenDocument(
            path: document.path, changeTime: ChangeTime(fields[field]),
            updateTime: document.updateTime,
            label: labelField.map { Self.label(fields[$0]) }
                ?? collection.pattern(of: document.path))
    }

    /// Returns a short text for the value of the label's field.
    private static func label(_ value: Value?) -> String {
        switch value {
        case .string(let text)?: String(text.prefix(100))
        case .integer(let number)?: "\(number)"
        case .boolean(let flag)?: "\(flag)"
        case .reference(let reference)?: reference.path.text
        case nil: "(without a label)"
        default: "(no label)"
        }
    }

    // MARK: Calls

    /// Returns a page of documents. Costs a read for each, and one read for an empty page.
    func page(
        of collection: MigratedCollection, after path: DocumentPath?, limit: Int
    ) async throws(RPCStatus) -> (documents: [SeenDocument], readTime: Timestamp) {
        let query = collection.page(after: path, limit: limit, fields: fields, in: database)
        let answer = try await call { context throws(RPCStatus) in
            try await transport.documents(of: query, context)
        }
        guard let readTime = answer.readTime else {
            throw RPCStatus(.internal, "The server named no read time.")
        }
        return (answer.documents.map { seen($0, in: collection) }, readTime)
    }

    /// Returns those of the documents that exist. Costs a read for each path.
    func look(
        at paths: [DocumentPath], in collection: MigratedCollection
    ) async throws(RPCStatus) -> [SeenDocument] {
        let request = BatchGetDocumentsRequest(paths: paths, mask: fields)
        let replies = try await call { context throws(RPCStatus) in
            try await transport.replies(to: .batchGetDocuments(request), context)
        }
        return replies.compactMap { reply in
            guard case .batchGetDocuments(let result) = reply,
                case .found(let document)? = result.row
            else { return nil }
            return seen(document, in: collection)
        }
    }

    /// Writes the change times, each on the condition that its document is still of the version
    /// that was read.
    func write(
        _ stamps: [FillMachine.Stamp], value: FilledValue
    ) async throws(RPCStatus) -> [FillMachine.Written] {
        let mutations = stamps.map { value.mutation($0, field: field) }
        let request = Request.batchWrite(BatchWriteRequest(mutations: mutations))
        let replies = try await call { context throws(RPCStatus) in
            try await transport.replies(to: request, context)
        }
        guard case .batchWrite(let results)? = replies.first else {
            throw RPCStatus(.internal, "The server answered a batch with something else.")
        }
        return results.map { result in
            guard result.status.code == .ok, let time = result.result.updateTime else {
                return .failed(result.status)
            }
            return .done(updateTime: time)
        }
    }

    /// Returns the number of documents of a query. Costs a read for each 1,000, at least one.
    func count(_ query: Query) async throws(RPCStatus) -> Int {
        let request = RunAggregationQueryRequest(
            query: query, aggregations: [Aggregation(alias: "n", .count(upTo: nil))])
        let replies = try await call { context throws(RPCStatus) in
            try await transport.replies(to: .runAggregationQuery(request), context)
        }
        guard case .runAggregationQuery(let reply)? = replies.first,
            case .integer(let count)? = reply.values?["n"]
        else { throw RPCStatus(.internal, "The server answered a count with something else.") }
        return Int(count)
    }

    /// Returns the ids of the collections beside `collection`, at most 100.
    func collectionIDs(
        beside collection: MigratedCollection
    ) async throws(RPCStatus) -> [String] {
        guard case .collection(let path) = collection else { return [] }
        let request = ListCollectionIDsRequest(parent: path.parent, pageSize: 100)
        let replies = try await call { context throws(RPCStatus) in
            try await transport.replies(to: .listCollectionIDs(request), context)
        }
        guard case .listCollectionIDs(let ids, _)? = replies.first else { return [] }
        return ids
    }
}

/// The value that the migration writes.
package enum FilledValue: String, CaseIterable, Sendable {
    /// The time of the document's last write. Feeds that are in use already don't read it again.
    case updateTime = "update-time"
    /// The server's time of the migration. Every feed reads the document once more.
    case serverTime = "server-time"

    func mutation(_ stamp: FillMachine.Stamp, field: FieldPath) -> Mutation {
        let precondition = Precondition.updateTime(stamp.updateTime)
        switch self {
        case .updateTime:
            var fields = MapValue()
            fields[field] = .timestamp(stamp.updateTime)
            return Mutation(
                path: stamp.path, .patch(fields, mask: [field]), precondition: precondition)
        case .serverTime:
            return Mutation(
                path: stamp.path, .patch(MapValue(), mask: []),
                transforms: [FieldTransform(field, .serverTimestamp)], precondition: precondition)
        }
    }
}
