public import TidemarkModel

/// Provides the documents that rules read with `get`, `exists` and their variants for the state
/// after a commit.
public protocol RulesDocuments {
    /// Returns a document in the language's form: a map of `data`, `id` and `__name__`.
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
    /// Reads are not available: the function behaves as if it did not exist.
    case unavailable
    /// The path names no document of this database.
    case refused(String)
}

extension RulesMap {
    /// Returns the language's form of a document: its fields, its id and its name.
    public static func document(_ fields: RulesMap, at path: RulesPath) -> RulesMap {
        RulesMap([
            ("__name__", .path(path)), ("data", .map(fields)),
            ("id", .string(path.segments.last ?? "")),
        ])
    }
}

/// The documents that the rules of a request have read, and the limits of further reads.
public struct RulesReads: Sendable {
    struct Key: Hashable {
        let path: RulesPath
        let function: RulesRead
    }

    private var found: [Key: RulesLookup] = [:]
    private var ofOperation: Set<Key> = []
    private let mostOfRequest: Int
    private let mostOfEach: Int
    /// The number of `allow`s that the request has tried.
    private var allows = 0

    /// - Parameter operations: The number of documents or writes in the request. More than one
    ///   share a limit of 20 reads.
    public init(operations: Int = 1) {
        mostOfRequest =
            operations > 1 ? RulesLimits.readsPerRequest : RulesLimits.readsPerOperation
        mostOfEach = RulesLimits.readsPerOperation
    }

    /// Makes the reads of a request for an object, of which there are at most two.
    public static var ofObject: RulesReads { RulesReads(most: RulesLimits.readsPerObject) }

    private init(most: Int) {
        mostOfRequest = most
        mostOfEach = most
    }

    /// The number of billed reads: each document counts once for each function.
    public var count: Int { found.count }

    /// The documents that were asked for, missing ones too.
    ///
    /// - Parameter database: As in `(default)`.
    public func documents(in database: String) -> Set<DocumentPath> {
        Set(found.keys.compactMap { $0.path.document(in: database) })
    }

    /// Returns the result of an earlier read; nil if there was none.
    func known(_ function: RulesRead, _ path: RulesPath) -> RulesLookup? {
        found[Key(path: path, function: function)]
    }

    /// The approximate number of bytes of the read documents.
    var extent: Int {
        found.values.reduce(0) { sum, lookup in
            if case .document(let document) = lookup { sum + document.extent } else { sum + 64 }
        }
    }

    /// Begins the next document or write of the request.
    public mutating func beginOperation() { ofOperation = [] }

    /// Counts an `allow` that is about to be tried.
    ///
    /// - Returns: False above ``RulesLimits/allowsPerRequest``.
    mutating func countAllow() -> Bool {
        allows += 1
        return allows <= RulesLimits.allowsPerRequest
    }

    private var mostOfOperation: Int {
        #if TIDEMARK_DEFECTS
            if RulesDefect.planted == .oneReadMore { return mostOfEach + 1 }
        #endif
        return mostOfEach
    }

    /// Returns the document; nil if no further read is allowed.
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
