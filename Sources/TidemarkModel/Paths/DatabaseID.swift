/// Identifies a database by its project and its name.
public struct DatabaseID: Sendable {
    public let project: String
    public let database: String

    /// The maximum length of a project's id and of a database's id, in bytes. Google's longest are
    /// 30 and 63 characters; tests of apps make up longer names for a server of their own.
    public static let maxPartBytes = 255

    /// - Throws: ``InvalidPath`` when a part is empty, too long or holds a slash.
    public init(project: String, database: String = "(default)") throws(InvalidPath) {
        for part in [project, database] {
            if part.isEmpty { throw .emptySegment(in: "projects/\(project)/databases/\(database)") }
            if part.utf8.count > Self.maxPartBytes {
                throw .tooLong(bytes: part.utf8.count, limit: Self.maxPartBytes)
            }
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
