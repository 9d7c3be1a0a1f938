public import TidemarkModel

/// Who asks, in a test of rules.
public enum RulesPerson: Sendable {
    /// Somebody who has not signed in.
    case nobody
    case account(uid: String, claims: MapValue)

    /// An account without claims of its own.
    public static func user(_ uid: String) -> RulesPerson {
        .account(uid: uid, claims: MapValue())
    }

    /// As the rules see them.
    public var caller: RulesCaller? {
        switch self {
        case .nobody: nil
        case .account(let uid, let claims): RulesCaller(uid: uid, claims: claims)
        }
    }
}

/// What is asked, in a test of rules. Nothing is written.
public enum RulesOperation: Sendable {
    case get(String)
    /// A query, a listener to one, or an aggregation.
    case list(Query)
    /// Writes a document that must not exist.
    case create(String, MapValue)
    /// Writes some fields of a document that must exist. Its keys are field paths, as in `address.city`.
    case update(String, MapValue)
    /// Writes a whole document: a create, or an update where it exists.
    case set(String, MapValue)
    case delete(String)
    /// Several writes: all of them, or none.
    case batch([RulesOperation])
    /// The writes of a commit as they are.
    case commit([Mutation])

    /// - Throws: `InvalidPath` for a path that names no document or field, and for a query in a batch.
    public func question() throws(InvalidPath) -> RulesQuestion {
        switch self {
        case .get(let path): return .get(try DocumentPath(path))
        case .list(let query): return .list(query)
        default: return .write(try mutations())
        }
    }

    private func mutations() throws(InvalidPath) -> [Mutation] {
        switch self {
        // A commit reads a document by verifying it.
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
    /// How many documents or writes it has.
    public var operations: Int {
        if case .write(let mutations) = self { mutations.count } else { 1 }
    }
}
