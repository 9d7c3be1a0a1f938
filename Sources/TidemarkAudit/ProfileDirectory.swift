public import TidemarkModel

/// The profiles of a project: the documents of one collection, named by their accounts' ids. Only
/// their names are read.
public struct ProfileDirectory: Sendable {
    static let pageSize = 1_000

    let transport: any Transport
    private let fixed: CallContext
    private let tokens: AccountDirectory.Tokens?
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
        tokens = nil
        fixed = CallContext(
            database: database, label: "audit", timeout: .seconds(60), token: token)
    }

    /// - Parameters:
    ///   - transport: The way to the server.
    ///   - database: The database of the profiles.
    ///   - collection: One document for each profile, whose id is the account's.
    ///   - tokens: Of a service account, which run out during a long audit: asked for each call.
    public init(
        _ transport: any Transport, database: DatabaseID, collection: CollectionPath,
        tokens: @escaping AccountDirectory.Tokens
    ) {
        self.transport = transport
        self.collection = collection
        self.tokens = tokens
        fixed = CallContext(database: database, label: "audit", timeout: .seconds(60))
    }

    /// What goes with the next call.
    func context() async throws(RPCStatus) -> CallContext {
        guard let tokens else { return fixed }
        var context = fixed
        do { context.token = try await tokens(nil) } catch {
            throw RPCStatus(.unavailable, "There is no token: \(error)")
        }
        return context
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
            let reference = ReferenceValue(database: fixed.database, path: try path(id))
            query.start = Cursor(values: [.reference(reference)], before: false)
        }
        let answer = try await transport.documents(
            of: query, at: time.map { .at($0) } ?? .latest, try await context())
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
            to: .batchGetDocuments(request), try await context())
        {
            if case .found(let document)? = result.row { known.insert(document.path.id) }
        }
        return known
    }

    func delete(_ ids: [String]) async throws(RPCStatus) {
        var mutations: [Mutation] = []
        for id in ids { mutations.append(Mutation(path: try path(id), .delete)) }
        _ = try await transport.commit(mutations, try await context())
    }

    /// Makes a profile for an account that has none, and leaves one that is there.
    ///
    /// - Returns: Whether it was made.
    func writeStub(of id: String, at time: Timestamp) async throws(RPCStatus) -> Bool {
        let mutation = Mutation(
            path: try path(id),
            .set(["createdBy": .string("tidemark audit"), "createdAt": .timestamp(time)]),
            precondition: .exists(false))
        do throws(RPCStatus) {
            _ = try await transport.commit([mutation], try await context())
            return true
        } catch {
            // Somebody has signed up meanwhile.
            if error.code == .alreadyExists || error.code == .failedPrecondition { return false }
            throw error
        }
    }

    private func path(_ id: String) throws(RPCStatus) -> DocumentPath {
        do throws(InvalidPath) {
            let path = try DocumentPath(collection.text + "/" + id)
            if path.id.hasSameBytes(as: id) { return path }
        } catch {}
        throw .invalidArgument("\(id) is no document's id.")
    }
}
