import Foundation

/// An export's folder as it lies there: which databases it has, and where the accounts are.
package struct ExportSource: Sendable {
    package struct Database: Sendable, Equatable {
        /// As the listing says it; nil where only the documents know.
        package var project: String?
        package var database: String?
        /// The file that says what the database's documents are.
        package var metadataFile: String
    }

    package let databases: [Database]
    /// The folder of `accounts.json` and `config.json`; nil where there are none.
    package let accountsFolder: String?

    /// - Parameter place: A folder that `firebase emulators:export` or `tidemark export` made, one with
    ///   one file that ends with `.overall_export_metadata`, or such a file.
    package init(_ place: String) throws(ExportError) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: place, isDirectory: &isFolder) else {
            throw .file(path: place, reason: "there is no such file or folder")
        }
        guard isFolder.boolValue else {
            guard place.hasSuffix(ExportListing.overallSuffix) else {
                throw .notAnExport(folder: place)
            }
            databases = [Database(metadataFile: place)]
            accountsFolder = nil
            return
        }
        let listing = place + "/" + ExportListing.fileName
        if FileManager.default.fileExists(atPath: listing) {
            (databases, accountsFolder) = try Self.parts(of: listing, in: place)
        } else {
            let files = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
            let found = files.filter { $0.hasSuffix(ExportListing.overallSuffix) }
            guard found.count == 1 else { throw .notAnExport(folder: place) }
            databases = [Database(metadataFile: place + "/" + found[0])]
            accountsFolder = nil
        }
    }

    private static func parts(
        of file: String, in folder: String
    ) throws(ExportError) -> ([Database], String?) {
        let listing: ExportListing
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: file))
            listing = try JSONDecoder().decode(ExportListing.self, from: data)
        } catch { throw .damaged(path: file, problem: "It is not the listing of an export.") }
        let root = URL(fileURLWithPath: folder)
        var databases: [Database] = []
        if let path = listing.firestore?.metadata_file {
            let url = try inside(root, path, namedBy: file)
            databases.append(Database(metadataFile: url.path))
        }
        for other in listing.tidemark ?? [] {
            let url = try inside(root, other.metadata_file, namedBy: file)
            let database = Database(
                project: other.project, database: other.database, metadataFile: url.path)
            if let index = databases.firstIndex(where: { $0.metadataFile == url.path }) {
                databases[index] = database
            } else {
                databases.append(database)
            }
        }
        let accounts: String? =
            if let path = listing.auth?.path { try inside(root, path, namedBy: file).path } else {
                nil
            }
        return (databases, accounts)
    }

    /// The file of that name, with links followed, which has to lie below the folder.
    static func inside(
        _ folder: URL, _ name: String, root: URL? = nil, namedBy file: String
    ) throws(ExportError) -> URL {
        let root = (root ?? folder).resolvingSymlinksInPath().path
        let found = folder.appendingPathComponent(name).standardizedFileURL
            .resolvingSymlinksInPath()
        let isRelative = !name.hasPrefix("/") && !name.isEmpty && !name.utf8.contains(0)
        guard isRelative, found.path.hasPrefix(root + "/") else {
            throw .outside(path: file, named: name)
        }
        return found
    }
}
