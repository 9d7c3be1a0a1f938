public import TidemarkModel

/// A caller in a test of rules.
public enum RulesPerson: Sendable {
    /// A caller who has not signed in.
    case nobody
    case account(uid: String, claims: MapValue)

    /// Returns an account without custom claims.
    public static func user(_ uid: String) -> RulesPerson {
        .account(uid: uid, claims: MapValue())
    }

    /// The caller as rules see it; nil if not signed in.
    public var caller: RulesCaller? {
        switch self {
        case .nobody: nil
        case .account(let uid, let claims): RulesCaller(uid: uid, claims: claims)
        }
    }
}

/// An operation in a test of rules. The operation writes nothing.
public enum RulesOperation: Sendable {
    case get(String)
    /// A query, a listener to a query, or an aggregation.
    case list(Query)
    /// Writes a document that must not exist.
    case create(String, MapValue)
    /// Writes some fields of a document that must exist. The keys are field paths, for example
    /// `address.city`.
    case update(String, MapValue)
    /// Writes a whole document: an update if the document exists, otherwise a create.
    case set(String, MapValue)
    case delete(String)
    /// Several writes. All are allowed, or none.
    case batch([RulesOperation])
    /// The mutations of a commit.
    case commit([Mutation])

    /// - Throws: `InvalidPath` for a path that names no document or field, and for a query in a
    ///   batch.
    public func question() throws(InvalidPath) -> RulesQuestion {
        switch self {
        case .get(let path): return .get(try DocumentPath(path))
        case .list(let query): return .list(query)
        default: return .write(try mutations())
        }
    }

    private func mutations() throws(InvalidPath) -> [Mutation] {
        switch self {
        // A commit can read a document by verifying it.
        case .get(let path): return [Mutation(path: try DocumentPath(path), .verify)]
        case .list(let query): throw .namesCollection(query.collectionID ?? "")
        case .commit(let mutations): return mutations
        case .batch(let operations):
            var all: [Mutation] = []
            for operation in operations { all += try operation.mutations() }
            return all
        case .create(let path, let fields):
            return [
                Mutation(path: try DocumentPath(path), .set(fields), precondition: .exists(false))
            ]
        case .set(let path, let fields):
            return [Mutation(path: try DocumentPath(path), .set(fields))]
        case .delete(let path): return [Mutation(path: try DocumentPath(path), .delete)]
        case .update(let path, let fields):
            var (written, mask): (MapValue, [FieldPath]) = (MapValue(), [])
            for field in fields {
                let place = try FieldPath(encoded: field.key)
                written[place] = field.value
                mask.append(place)
            }
            return [
                Mutation(
                    path: try DocumentPath(path), .patch(written, mask: mask),
                    precondition: .exists(true))
            ]
        }
    }
}

extension RulesQuestion {
    /// The number of documents or writes.
    public var operations: Int {
        if case .write(let mutations) = self { mutations.count } else { 1 }
    }
}
