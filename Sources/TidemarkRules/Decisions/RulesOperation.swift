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
///
/// A `pendingServerTimestamp` in the fields of a write is the server's time there: `request.time`.
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
        case .create(let path, let data):
            let (fields, transforms) = data.withServerTimes
            return [
                Mutation(
                    path: try DocumentPath(path), .set(fields), transforms: transforms,
                    precondition: .exists(false))
            ]
        case .set(let path, let data):
            let (fields, transforms) = data.withServerTimes
            return [
                Mutation(path: try DocumentPath(path), .set(fields), transforms: transforms)
            ]
        case .delete(let path): return [Mutation(path: try DocumentPath(path), .delete)]
        case .update(let path, let fields):
            var (written, mask): (MapValue, [FieldPath]) = (MapValue(), [])
            var transforms: [FieldTransform] = []
            for field in fields {
                let place = try FieldPath(encoded: field.key)
                if case .pendingServerTimestamp = field.value {
                    transforms.append(FieldTransform(place, .serverTimestamp))
                    continue
                }
                var value = field.value
                if case .map(let inner) = value {
                    value = .map(inner.takingServerTimes(below: place, &transforms))
                }
                written[place] = value
                mask.append(place)
            }
            return [
                Mutation(
                    path: try DocumentPath(path), .patch(written, mask: mask),
                    transforms: transforms, precondition: .exists(true))
            ]
        }
    }
}

extension MapValue {
    /// The fields of a write, and those among them that the server's time is written to.
    fileprivate var withServerTimes: (fields: MapValue, transforms: [FieldTransform]) {
        var transforms: [FieldTransform] = []
        return (takingServerTimes(below: nil, &transforms), transforms)
    }

    /// The map without its server times, of which each becomes a transform.
    ///
    /// - Parameter place: Where the map is; nil for the document itself.
    fileprivate func takingServerTimes(
        below place: FieldPath?, _ transforms: inout [FieldTransform]
    ) -> MapValue {
        var rest = MapValue()
        for entry in self {
            let field = place?.appending(entry.key) ?? FieldPath(name: entry.key)
            switch entry.value {
            case .pendingServerTimestamp:
                transforms.append(FieldTransform(field, .serverTimestamp))
            case .map(let inner):
                rest[entry.key] = .map(inner.takingServerTimes(below: field, &transforms))
            default: rest[entry.key] = entry.value
            }
        }
        return rest
    }
}

extension RulesQuestion {
    /// The number of documents or writes.
    public var operations: Int {
        if case .write(let mutations) = self { mutations.count } else { 1 }
    }
}
