/// An absolute name in the wire form: `projects/P/databases/D/documents/rooms/blue`.
public struct ResourceName: Hashable, Sendable {
    public let database: DatabaseID
    /// The document; nil for the root, `projects/P/databases/D/documents`.
    public let document: DocumentPath?

    /// - Throws: ``InvalidPath`` if the text names neither a document nor the root of a database.
    public init(_ text: String) throws(InvalidPath) {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "/"), maxSplits: 5, omittingEmptySubsequences: false
        ).map { String(Substring($0)) }
        guard parts.count >= 5, parts[0] == "projects", parts[2] == "databases",
            parts[4] == "documents"
        else { throw .notAName(text) }
        database = try DatabaseID(project: parts[1], database: parts[3])
        document = parts.count == 6 ? try DocumentPath(parts[5]) : nil
    }
}

extension ReferenceValue {
    /// - Throws: ``InvalidPath`` if `name` is not an absolute document name.
    public init(name: String) throws(InvalidPath) {
        let resource = try ResourceName(name)
        guard let path = resource.document else { throw .notAName(name) }
        self.init(database: resource.database, path: path)
    }

    public var name: String { path.name(in: database) }
}

extension DatabaseID {
    /// - Throws: ``InvalidPath`` if `name` is not of the form `projects/P/databases/D`.
    public init(name: String) throws(InvalidPath) {
        let resource = try ResourceName(name + "/documents")
        guard resource.document == nil else { throw .notAName(name) }
        self = resource.database
    }
}
