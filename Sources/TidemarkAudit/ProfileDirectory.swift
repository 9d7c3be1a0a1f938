public import TidemarkModel

/// The profiles of a project: the documents of one collection, named by their accounts' ids. Only
/// their names are read.
public struct ProfileDirectory: Sendable {
    static let pageSize = 1_000

    let transport: any Transport
    let context: CallContext
    let collection: CollectionPath

    /// - Parameters:
    ///   - transport: The connection to Firestore.
    ///   - database: The database with the profiles.
    ///   - collection: The collection with one profile for each account.
    ///   - token: The administrator's token; nil for none.
    public init(
        _ transport: any Transport, database: DatabaseID, collection: CollectionPath,
        token: String?
    ) {
        self.transport = transport
        self.collection = collection
        context = CallContext(
            database: database, label: "audit", timeout: .seconds(60), token: token)
    }

    struct Page: Sendable {
        let ids: [String]
        let readTime: Timestamp?
    }

    /// Ids in the order of their bytes. Costs a read for each, and one where there are none.
    ///
    /// - Parameter time: Of the first page, for the others: the list is then of one moment.
    func page(after id: String?, at time: Timestamp?) async throws(RPCStatus) -> Page {
        var query = Query(collection: collection)
        query.orders = [Order(.documentID)]
        query.projection = [.documentID]
        query.limit = .first(Self.pageSize)
        if let id {
            let reference = ReferenceValue(database: context.database, path: try path(id))
            query.start = Cursor(values: [.reference(reference)], before: false)
        }
        let answer = try await transport.documents(
            of: query, at: time.map { .at($0) } ?? .latest, context)
        return Page(ids: answer.documents.map(\.path.id), readTime: answer.readTime)
    }

    /// Those of some profiles that are there now. Costs a read for each id.
    func known(_ ids: [String]) async throws(RPCStatus) -> Set<String> {
        var paths: [DocumentPath] = []
        // What can be no document's id is there as little as one that is not.
        for id in ids { if let path = try? path(id) { paths.append(path) } }
        if paths.isEmpty { return [] }
        let request = BatchGetDocumentsRequest(paths: paths, mask: [.documentID])
        var known: Set<String> = []
        for case .batchGetDocuments(let result) in try await transport.replies(
            to: .batchGetDocuments(request), context)
        {
            if case .found(let document)? = result.row { known.insert(document.path.id) }
        }
        return known
    }

    func delete(_ ids: [String]) async throws(RPCStatus) {
        var mutations: [Mutation] = []
        for id in ids { mutations.append(Mutation(path: try path(id), .delete)) }
        _ = try await transport.commit(mutations, context)
    }

    private func path(_ id: String) throws(RPCStatus) -> DocumentPath {
        do throws(InvalidPath) {
            let path = try DocumentPath(collection.text + "/" + id)
            if path.id.hasSameBytes(as: id) { return path }
        } catch {}
        throw .invalidArgument("\(id) is no document's id.")
    }
}
