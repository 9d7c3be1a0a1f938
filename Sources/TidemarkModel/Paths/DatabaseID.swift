/// Identifies a database by its project and its name.
public struct DatabaseID: Sendable {
    public let project: String
    public let database: String

    /// - Throws: ``InvalidPath`` when a part is empty or holds a slash.
    public init(project: String, database: String = "(default)") throws(InvalidPath) {
        for part in [project, database] {
            if part.isEmpty { throw .emptySegment(in: "projects/\(project)/databases/\(database)") }
            if part.utf8.contains(UInt8(ascii: "/")) { throw .slash(in: part) }
        }
        self.project = project
        self.database = database
    }

    /// The resource name: `projects/P/databases/D`.
    public var name: String { "projects/\(project)/databases/\(database)" }

    /// The prefix of every document name of this database: `projects/P/databases/D/documents`.
    public var documentsRoot: String { name + "/documents" }
}

extension DatabaseID: Hashable {
    public static func == (left: DatabaseID, right: DatabaseID) -> Bool {
        left.project.hasSameBytes(as: right.project)
            && left.database.hasSameBytes(as: right.database)
    }

    public func hash(into hasher: inout Hasher) {
        project.hashBytes(into: &hasher)
        database.hashBytes(into: &hasher)
    }
}
