import TidemarkModel
import TidemarkServer

/// Documents below a document or a collection, at any depth, and the conflicts of a refused batch.
extension DataReader {
    /// The maximum number of documents in a deletion.
    static let maxBelow = 1_000_000

    /// Returns the number of documents that a deletion of the whole would delete.
    func countBelow(_ place: DataPlace) async throws(RPCStatus) -> Int {
        let below = try await count(
            Self.below(place), in: place.database, at: place.consistency,
            upTo: Int64(Self.maxBelow))
        guard case .document(let path) = place.kind else { return Int(below) }
        let document = try await document(path, in: place.database, at: place.consistency)
        return Int(below) + (document == nil ? 0 : 1)
    }

    /// Deletes the whole, 500 documents at a time. Documents that are written during the deletion
    /// are deleted too.
    ///
    /// - Returns: The number of deleted documents.
    func deleteBelow(_ place: DataPlace) async throws(RPCStatus) -> Int {
        var query = Self.below(place)
        query.limit = .first(BatchOrder.maxWrites)
        query.projection = [.documentID]
        var deleted = 0
        while deleted <= Self.maxBelow {
            let paths = try await documents(of: query, in: place.database, at: .latest).map(\.path)
            if paths.isEmpty { break }
            _ = try await commit(paths.map { Mutation(path: $0, .delete) }, in: place.database)
            deleted += paths.count
        }
        if case .document(let path) = place.kind,
            try await document(path, in: place.database, at: .latest) != nil
        {
            _ = try await commit([Mutation(path: path, .delete)], in: place.database)
            deleted += 1
        }
        return deleted
    }

    /// Returns a query for every document below a place. Below a collection, the names are between
    /// the collection's least id and the next collection's.
    private static func below(_ place: DataPlace) -> ModelQuery {
        guard case .collection(let collection) = place.kind else {
            var parent: DocumentPath?
            if case .document(let path) = place.kind { parent = path }
            return ModelQuery(parent: parent, collectionID: nil, allDescendants: true)
        }
        func name(_ collection: String) -> Value {
            let path = DocumentPath(unchecked: collection + "/__id-9223372036854775808__")
            return .reference(ReferenceValue(database: place.database, path: path))
        }
        return ModelQuery(
            parent: collection.parent, collectionID: nil, allDescendants: true,
            filter: .and([
                .field(.documentID, .greaterThanOrEqual, name(collection.text)),
                .field(.documentID, .lessThan, name(collection.text + "\u{0}")),
            ]))
    }

    /// Returns the paths of a refused batch whose documents do not meet their preconditions.
    func conflicts(of mutations: [Mutation], in database: DatabaseID) async -> [String] {
        var result: [String] = []
        for mutation in mutations {
            let now = try? await document(mutation.path, in: database, at: .latest)
            let holds =
                switch mutation.precondition {
                case .none: true
                case .exists(let exists): (now != nil) == exists
                case .updateTime(let time): now?.updateTime == time
                }
            if !holds { result.append(mutation.path.text) }
            if result.count == 20 { break }
        }
        return result
    }
}
