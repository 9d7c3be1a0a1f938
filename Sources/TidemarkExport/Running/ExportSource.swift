package import Foundation

/// The contents of an export in a folder: its databases and its accounts.
package struct ExportSource: Sendable {
    package struct Database: Sendable, Equatable {
        /// The project in the listing; nil if only the documents contain it.
        package var project: String?
        package var database: String?
        /// The file that describes the files of documents.
        package var metadataFile: String
    }

    package struct Accounts: Sendable, Equatable {
        /// The project in the listing; nil if the listing does not contain it.
        package var project: String?
        /// The folder of `accounts.json` and `config.json`.
        package var folder: String
    }

    package let databases: [Database]
    package let accounts: [Accounts]
    /// The folder of objects; nil if there are none.
    package let objects: String?
    private let root: String

    /// The maximum size of a file of accounts, in bytes: about 500,000 accounts.
    package static let maxAccountsBytes = 256 << 20

    /// - Parameter place: A folder from `firebase emulators:export` or `tidemark export`, a folder
    ///   with a single file that ends with `.overall_export_metadata`, such a file, or a file of
    ///   JSON lines.
    package init(_ place: String) throws(ExportError) {
        root = place
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: place, isDirectory: &isFolder) else {
            throw .file(path: place, reason: "there is no such file or folder")
        }
        guard isFolder.boolValue else {
            guard place.hasSuffix(ExportListing.overallSuffix) || LinesForm.isFile(place) else {
                throw .notAnExport(folder: place)
            }
            databases = [Database(metadataFile: place)]
            accounts = []
            objects = nil
            return
        }
        let root = URL(fileURLWithPath: place)
        let listing = place + "/" + ExportListing.fileName
        if FileManager.default.fileExists(atPath: listing) {
            // The file can be a link to a file outside of the folder.
            let file = try Self.regular(root, ExportListing.fileName, namedBy: listing)
            (databases, accounts, objects) = try Self.parts(of: file.path, in: place)
        } else {
            let files = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
            let found = files.filter { $0.hasSuffix(ExportListing.overallSuffix) }
            guard found.count == 1 else { throw .notAnExport(folder: place) }
            let file = try Self.regular(root, found[0], namedBy: place + "/" + found[0])
            databases = [Database(metadataFile: file.path)]
            accounts = []
            objects = nil
        }
    }

    private static func parts(
        of file: String, in folder: String
    ) throws(ExportError) -> ([Database], [Accounts], String?) {
        let listing: ExportListing
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: file))
            listing = try JSONDecoder().decode(ExportListing.self, from: data)
        } catch { throw .damaged(path: file, problem: "This is not the metadata of an export.") }
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
        var accounts: [Accounts] = []
        for part in listing.tidemark_accounts ?? [] {
            let folder = try inside(root, part.path, namedBy: file).path
            accounts.append(Accounts(project: part.project, folder: folder))
        }
        if let path = listing.auth?.path {
            let folder = try inside(root, path, namedBy: file).path
            if !accounts.contains(where: { $0.folder == folder }) {
                accounts.append(Accounts(folder: folder))
            }
        }
        var objects: String?
        if let path = listing.storage?.path {
            objects = try inside(root, path, namedBy: file).path
        }
        return (databases, accounts, objects)
    }

    /// Returns the existing files of these names, with their contents.
    package func files(
        _ names: [String], of accounts: Accounts
    ) throws(ExportError) -> [String: Data] {
        var files: [String: Data] = [:]
        let folder = URL(fileURLWithPath: accounts.folder)
        for name in names {
            let listed = folder.appendingPathComponent(name).path
            guard FileManager.default.fileExists(atPath: listed) else { continue }
            let url = try Self.inside(
                folder, name, root: URL(fileURLWithPath: root), namedBy: listed)
            let size = try? url.resourceValues(forKeys: [.fileSizeKey]).fileSize
            guard let size, size <= Self.maxAccountsBytes else {
                throw .damaged(path: listed, problem: "It is too large.")
            }
            do { files[name] = try Data(contentsOf: url) } catch {
                throw .file(path: listed, reason: error.localizedDescription)
            }
        }
        return files
    }

    /// Returns a file like ``inside(_:_:root:namedBy:)``, and checks that it is a regular file,
    /// because a device or a pipe has no end.
    private static func regular(
        _ folder: URL, _ name: String, namedBy file: String
    ) throws(ExportError) -> URL {
        let url = try inside(folder, name, namedBy: file)
        let values = try? url.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
        guard values?.isRegularFile == true, (values?.fileSize ?? 0) <= maxListingBytes else {
            throw .damaged(path: file, problem: "This is not a file, or it is too large.")
        }
        return url
    }

    /// The maximum size of a listing, in bytes: about 100,000 databases.
    private static let maxListingBytes = 16 << 20

    /// Returns the file with that name, after links are followed. The file must be below the
    /// folder.
    static func inside(
        _ folder: URL, _ name: String, root: URL? = nil, namedBy file: String
    ) throws(ExportError) -> URL {
        let root = (root ?? folder).resolvingSymlinksInPath().path
        guard let local = localName(name, in: folder) else {
            throw .outside(path: file, named: name)
        }
        let found = folder.appendingPathComponent(local).standardizedFileURL
            .resolvingSymlinksInPath()
        let isRelative = !local.hasPrefix("/") && !local.isEmpty && !local.utf8.contains(0)
        guard isRelative, found.path.hasPrefix(root + "/") else {
            throw .outside(path: file, named: name)
        }
        return found
    }

    /// Returns the name with this system's separators. An export from Windows contains backslashes,
    /// which are letters of a name on this system. Returns nil if the name begins with a drive.
    private static func localName(_ name: String, in folder: URL) -> String? {
        let backslash = UInt8(ascii: "\\")
        guard name.utf8.contains(backslash),
            !FileManager.default.fileExists(atPath: folder.appendingPathComponent(name).path)
        else { return name }
        if name.utf8.dropFirst().first == UInt8(ascii: ":") { return nil }
        let bytes = name.utf8.map { $0 == backslash ? UInt8(ascii: "/") : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}
