/// The reason why an export cannot be written, or cannot be read. Nothing was imported.
package enum ExportError: Error, Hashable, Sendable {
    /// There is no export at that place.
    case notAnExport(folder: String)
    /// The folder contains other files and is not replaced.
    case holdsSomethingElse(folder: String)
    /// A file of the export cannot be opened, read or written; `reason` is the system's.
    case file(path: String, reason: String)
    /// A file is damaged, cut off or of another form; `problem` is a sentence.
    case damaged(path: String, problem: String)
    /// A file names a file outside of the export.
    case outside(path: String, named: String)
    /// A newer, unknown version made the export.
    case unknownVersion(path: String)
    /// The export belongs to another database than the target of the import.
    case otherDatabase(path: String, found: String)
    /// The accounts cannot be read or imported.
    case accounts(reason: String)
    /// The objects cannot be read or imported.
    case objects(reason: String)
    /// The server's documents cannot be read.
    case unreadable(database: String, reason: String)
    /// The server refused a part; `written` documents are already imported.
    case refused(written: Int, reason: String)

    /// A sentence for a person.
    package var message: String {
        switch self {
        case .notAnExport(let folder):
            """
            \(folder) is not an export: it contains neither firebase-export-metadata.json nor \
            one .overall_export_metadata file.
            """
        case .holdsSomethingElse(let folder):
            "\(folder) is not an export, and is not replaced."
        case .file(let path, let reason): "\(path): \(reason)."
        case .damaged(let path, let problem): "\(path) is damaged: \(problem)"
        case .outside(let path, let named):
            "\(path) names \"\(named)\", which is outside the export. That file was not read."
        case .unknownVersion(let path): "\(path) has an unknown version."
        case .otherDatabase(let path, let found):
            "\(path) belongs to the database \"\(found)\": import it into that database."
        case .accounts(let reason): "The accounts: \(reason)"
        case .objects(let reason): "The files: \(reason)"
        case .unreadable(let database, let reason):
            "The documents of \(database) cannot be read: \(reason)"
        case .refused(let written, let reason):
            "The server refused a write after \(written) imported documents: \(reason)"
        }
    }
}
