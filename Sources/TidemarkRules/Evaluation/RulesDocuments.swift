/// Where rules read documents: `get`, `exists` and what they see after a commit.
public protocol RulesDocuments {
    /// The document as the language shows it, a map of `data`, `id` and `__name__`.
    ///
    /// Called at most once for each path and function in a request.
    func lookUp(_ path: RulesPath, for function: RulesRead) -> RulesLookup
}

/// The functions that read a document.
public enum RulesRead: String, Hashable, Sendable {
    case get, exists, getAfter, existsAfter
}

public enum RulesLookup: Sendable {
    case document(RulesMap)
    case missing
    /// There is nobody to ask: as if the function did not exist.
    case unavailable
    /// The path names no document of this database.
    case refused(String)
}

extension RulesMap {
    /// What the language knows of a document: its fields, its id and its name.
    public static func document(_ fields: RulesMap, at path: RulesPath) -> RulesMap {
        RulesMap([
            ("__name__", .path(path)), ("data", .map(fields)),
            ("id", .string(path.segments.last ?? "")),
        ])
    }
}

/// What the rules of a request have read so far, and how much they may.
public struct RulesReads: Sendable {
    struct Key: Hashable {
        let path: RulesPath
        let function: RulesRead
    }

    private var found: [Key: RulesLookup] = [:]
    private var ofOperation: Set<Key> = []
    private let mostOfRequest: Int

    /// - Parameter operations: How many documents or writes the request has: more than one share 20.
    public init(operations: Int = 1) {
        mostOfRequest =
            operations > 1 ? RulesLimits.readsPerRequest : RulesLimits.readsPerOperation
    }

    /// Documents that were read, each counted once for each function: what is billed.
    public var count: Int { found.count }

    /// What was read already.
    func known(_ function: RulesRead, _ path: RulesPath) -> RulesLookup? {
        found[Key(path: path, function: function)]
    }

    /// About how many bytes of documents it holds.
    var extent: Int {
        found.values.reduce(0) { sum, lookup in
            if case .document(let document) = lookup { sum + document.extent } else { sum + 64 }
        }
    }

    /// Begins the next document or write of the request.
    public mutating func beginOperation() { ofOperation = [] }

    private var mostOfOperation: Int {
        #if TIDEMARK_DEFECTS
            if RulesDefect.planted == .oneReadMore { return RulesLimits.readsPerOperation + 1 }
        #endif
        return RulesLimits.readsPerOperation
    }

    /// What the document is; nil when no more may be read.
    mutating func answer(
        _ function: RulesRead, _ path: RulesPath, from documents: any RulesDocuments
    ) -> RulesLookup? {
        let key = Key(path: path, function: function)
        if !ofOperation.contains(key) {
            if ofOperation.count >= mostOfOperation { return nil }
            ofOperation.insert(key)
        }
        if let lookup = found[key] { return lookup }
        if found.count >= max(mostOfRequest, mostOfOperation) { return nil }
        let lookup = documents.lookUp(path, for: function)
        found[key] = lookup
        return lookup
    }
}
