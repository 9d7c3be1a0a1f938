package import TidemarkModel

/// A field whose value is a map with the `path` of an object, and its `size`: the form that
/// `TidemarkFiles` writes.
package struct AuditedField: Hashable, Sendable {
    package var collectionID: String
    /// The document above the collection; nil for a root collection, and for all collections with
    /// the id.
    package var parent: DocumentPath?
    /// True for all collections with the id, wherever they are.
    package var isGroup: Bool
    package var field: FieldPath

    /// - Parameters:
    ///   - text: `COLLECTION:FIELD`, such as `users:picture`.
    ///   - isGroup: True if the collection is an id, and all collections with this id count.
    /// - Throws: ``AuditError`` with a sentence.
    package init(_ text: String, isGroup: Bool) throws(AuditError) {
        guard let colon = text.lastIndex(of: ":") else {
            throw AuditError("\(text) is not COLLECTION:FIELD, as in users:picture.")
        }
        if isGroup, text[..<colon].contains("/") {
            throw AuditError("\(text) names a path. A group is the id of its collections.")
        }
        do throws(InvalidPath) {
            let collection = try CollectionPath(String(text[..<colon]))
            (collectionID, parent) = (collection.id, collection.parent)
            field = try FieldPath(encoded: String(text[text.index(after: colon)...]))
            self.isGroup = isGroup
        } catch {
            throw AuditError("\(text) is not COLLECTION:FIELD: \(error.message)")
        }
    }

    /// The text of reports, such as `photo`.
    package var name: String { field.description }
    var path: FieldPath { FieldPath(unchecked: field.segments + ["path"]) }
    var size: FieldPath { FieldPath(unchecked: field.segments + ["size"]) }
}

/// The documents of a database whose fields name objects. Reads these fields alone.
package struct FileFieldDirectory: Sendable {
    static let pageSize = 1_000
    /// The maximum number of names in one query. Source: Firestore, the operator `in`.
    static let lookupSize = 30

    let fields: [AuditedField]
    private let transport: any Transport
    private let database: DatabaseID
    private let tokens: AccountDirectory.Tokens

    /// - Parameters:
    ///   - transport: The connection to Firestore.
    ///   - fields: The fields that name objects.
    ///   - tokens: Returns a token of a service account for each call.
    package init(
        _ transport: any Transport, database: DatabaseID, fields: [AuditedField],
        tokens: @escaping AccountDirectory.Tokens
    ) {
        self.transport = transport
        self.database = database
        self.fields = fields
        self.tokens = tokens
    }

    private func context() async throws(RPCStatus) -> CallContext {
        var context = CallContext(database: database, label: "audit", timeout: .seconds(60))
        do { context.token = try await tokens(nil) } catch {
            throw RPCStatus(.unavailable, "No token: \(error)")
        }
        return context
    }

    /// Returns a page of documents whose field names an object, in the byte order of the objects'
    /// names. Costs a read for each document, and one read for an empty page.
    func page(
        ofField number: Int, withPrefix prefix: String, after last: ObjectNaming?
    ) async throws(RPCStatus) -> [ObjectNaming] {
        let field = fields[number]
        var query = query(of: field)
        var bounds = [Filter.field(field.path, .greaterThanOrEqual, .string(prefix))]
        if !prefix.isEmpty {
            // The last code point follows each text that can continue the prefix.
            bounds.append(.field(field.path, .lessThanOrEqual, .string(prefix + "\u{10FFFF}")))
        }
        query.filter = bounds.count == 1 ? bounds[0] : .and(bounds)
        query.orders = [Order(field.path), Order(.documentID)]
        query.limit = .first(Self.pageSize)
        if let last {
            let reference = ReferenceValue(database: database, path: last.document)
            query.start = Cursor(
                values: [.string(last.object), .reference(reference)], before: false)
        }
        return try await namings(of: query, number)
    }

    /// Returns the documents that name one of the objects. Costs a read for each of them, and at
    /// least one read.
    func namings(
        of objects: [String], inField number: Int
    ) async throws(RPCStatus) -> [ObjectNaming] {
        precondition(objects.count <= Self.lookupSize)
        var query = query(of: fields[number])
        query.filter = .field(fields[number].path, .isIn, .array(objects.map(Value.string)))
        return try await namings(of: query, number)
    }

    /// Returns the document of a naming as it is now; nil if it names no object. Costs a read.
    func now(_ naming: ObjectNaming) async throws(RPCStatus) -> ObjectNaming? {
        let field = fields[naming.field]
        let request = BatchGetDocumentsRequest(
            paths: [naming.document], mask: [field.path, field.size])
        for case .batchGetDocuments(let result) in try await transport.replies(
            to: .batchGetDocuments(request), try await context())
        {
            if case .found(let document)? = result.row {
                return Self.naming(in: document, field, naming.field)
            }
        }
        return nil
    }

    private func query(of field: AuditedField) -> Query {
        Query(
            parent: field.parent, collectionID: field.collectionID, allDescendants: field.isGroup,
            projection: [field.path, field.size])
    }

    private func namings(
        of query: Query, _ number: Int
    ) async throws(RPCStatus) -> [ObjectNaming] {
        try await transport.documents(of: query, try await context()).documents
            .compactMap { Self.naming(in: $0, fields[number], number) }
    }

    private static func naming(
        in document: Document, _ field: AuditedField, _ number: Int
    ) -> ObjectNaming? {
        let fields = document.fields
        guard case .string(let object)? = fields[field.path] else { return nil }
        var size: Int64?
        if case .integer(let bytes)? = fields[field.size] { size = bytes }
        return ObjectNaming(
            document: document.path, field: number, object: object, size: size)
    }
}
