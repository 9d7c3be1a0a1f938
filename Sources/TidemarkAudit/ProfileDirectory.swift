public import TidemarkModel

/// The profiles of a project: the documents of one collection, whose ids are the accounts' ids.
/// Reads only the ids.
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
    ///   - transport: The connection to Firestore.
    ///   - database: The database with the profiles.
    ///   - collection: The collection with one profile for each account.
    ///   - tokens: Returns a token of a service account for each call, because tokens can expire
    ///     during a long audit.
    public init(
        _ transport: any Transport, database: DatabaseID, collection: CollectionPath,
        tokens: @escaping AccountDirectory.Tokens
    ) {
        self.transport = transport
        self.collection = collection
        self.tokens = tokens
        fixed = CallContext(database: database, label: "audit", timeout: .seconds(60))
    }

    /// Returns the context of the next call, with a token.
    func context() async throws(RPCStatus) -> CallContext {
        guard let tokens else { return fixed }
        var context = fixed
        do { context.token = try await tokens(nil) } catch {
            throw RPCStatus(.unavailable, "No token: \(error)")
        }
        return context
    }

    struct Page: Sendable {
        let ids: [String]
        let readTime: Timestamp?
    }

    /// Returns a page of ids in byte order. Costs a read for each id, and one read for an empty
    /// page.
    ///
    /// - Parameter time: The read time of the first page; nil to read the first page. Later pages
    ///   use it, so the list is consistent.
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

    /// Returns the ids of the profiles that exist now. Costs a read for each id.
    func known(_ ids: [String]) async throws(RPCStatus) -> Set<String> {
        var paths: [DocumentPath] = []
        // An id that cannot name a document has no profile.
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

    /// Writes a profile for an account that has none. Keeps an existing profile.
    ///
    /// - Returns: True if the profile was written.
    func writeStub(of id: String, at time: Timestamp) async throws(RPCStatus) -> Bool {
        let mutation = Mutation(
            path: try path(id),
            .set(["createdBy": .string("tidemark audit"), "createdAt": .timestamp(time)]),
            precondition: .exists(false))
        do throws(RPCStatus) {
            _ = try await transport.commit([mutation], try await context())
            return true
        } catch {
            // The user has signed up since.
            if error.code == .alreadyExists || error.code == .failedPrecondition { return false }
            throw error
        }
    }

    private func path(_ id: String) throws(RPCStatus) -> DocumentPath {
        do throws(InvalidPath) {
            let path = try DocumentPath(collection.text + "/" + id)
            if path.id.hasSameBytes(as: id) { return path }
        } catch {}
        throw .invalidArgument("\(id) is not a document id.")
    }
}
