import Foundation
import TidemarkModel

/// The settings of a `firebase.json` for a local Firestore: rules, indexes, editions and ports.
struct FirebaseFile: Hashable {
    /// The path of the `firebase.json`.
    let path: String
    /// The paths of existing files; nil if the `firebase.json` names none.
    var rules: String?
    var indexes: String?
    /// The databases of a list with separate settings, in order. Empty unless the `firebase.json`
    /// lists several.
    private(set) var databases: [OwnDatabase] = []
    /// The files with rules of objects.
    var storageRules: [StorageRules] = []
    /// The editions of the databases; nil if the `firebase.json` names none.
    var editions: DatabaseEditions?
    var firestorePort: Int?
    var accountsPort: Int?
    /// The port of the objects, for a server with `--storage`.
    var storagePort: Int?
    /// The port of the console's pages.
    var controlPort: Int?
    /// The port for the feed of judged requests.
    var requestsPort: Int?
    /// The named files that do not exist.
    var missing: [String] = []

    /// A file with rules of objects.
    struct StorageRules: Hashable {
        let file: String
        /// The bucket of the rules; nil for buckets without rules of their own.
        var bucket: String?
    }

    /// A database with separate settings.
    struct OwnDatabase: Hashable {
        let id: String
        /// The paths of existing files; nil if the entry names none.
        let rules: String?
        let indexes: String?
    }

    struct Unreadable: Error, Hashable {
        let message: String
    }

    /// - Parameter name: The option's value: a path, "none", or nil for the nearest file in
    ///   `folder` or above.
    /// - Returns: The file; nil if there is none.
    static func find(_ name: String?, around folder: String) throws(Unreadable) -> FirebaseFile? {
        if name == "none" { return nil }
        if let name { return try FirebaseFile(at: name) }
        var folder = URL(fileURLWithPath: folder).standardizedFileURL
        while true {
            let path = folder.appendingPathComponent("firebase.json").path
            if FileManager.default.fileExists(atPath: path) { return try FirebaseFile(at: path) }
            let outer = folder.deletingLastPathComponent()
            if outer == folder || folder.path == "/" { return nil }
            folder = outer
        }
    }

    init(at path: String) throws(Unreadable) {
        self.path = path
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Unreadable(message: "There is no file \(path).")
        }
        guard let contents = try? JSONDecoder().decode(Contents.self, from: data) else {
            throw Unreadable(message: "\(path) is not a firebase.json file.")
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        findDatabases(contents.firestore, in: folder)
        for entry in contents.storage?.all ?? [] {
            guard let file = found(entry.rules, in: folder) else { continue }
            storageRules.append(StorageRules(file: file, bucket: entry.bucket))
        }
        editions = try Self.editions(contents, in: folder)
        firestorePort = contents.emulators?.firestore?.port
        accountsPort = contents.emulators?.auth?.port
        storagePort = contents.emulators?.storage?.port
        controlPort = contents.emulators?.ui?.port
        requestsPort = contents.emulators?.firestore?.websocketPort
    }

    /// The settings of `(default)` also apply to databases that the list does not name. Those of a
    /// single entry apply to every database.
    private mutating func findDatabases(_ listed: Databases?, in folder: URL) {
        guard let listed else { return }
        if listed.all.count < 2 {
            rules = found(listed.all.first?.rules, in: folder)
            indexes = found(listed.all.first?.indexes, in: folder)
            return
        }
        for entry in listed.all {
            let rules = found(entry.rules, in: folder)
            let indexes = found(entry.indexes, in: folder)
            for id in FirebaseTargets.ids(of: entry.database, target: entry.target, in: folder) {
                if id == "(default)" {
                    (self.rules, self.indexes) = (rules, indexes)
                } else if !databases.contains(where: { $0.id == id }) {
                    databases.append(OwnDatabase(id: id, rules: rules, indexes: indexes))
                }
            }
        }
    }

    /// Returns the editions. The one of `emulators.firestore` is of every database, and so is the
    /// one of a `firestore` that is no list; in a list, each database has its own.
    private static func editions(
        _ contents: Contents, in folder: URL
    ) throws(Unreadable) -> DatabaseEditions? {
        if let name = contents.emulators?.firestore?.edition {
            return DatabaseEditions(try edition(name))
        }
        guard let databases = contents.firestore else { return nil }
        if !databases.isList, let name = databases.all.first?.edition {
            return DatabaseEditions(try edition(name))
        }
        var editions = DatabaseEditions()
        for database in databases.all {
            guard let name = database.edition else { continue }
            for id in FirebaseTargets.ids(
                of: database.database, target: database.target, in: folder)
            {
                editions.own[id] = try edition(name)
            }
        }
        return editions.own.isEmpty ? nil : editions
    }

    private static func edition(_ name: String) throws(Unreadable) -> DatabaseEdition {
        guard let edition = DatabaseEdition(rawValue: name) else {
            throw Unreadable(
                message:
                    "The Firestore emulator edition must be either 'standard' or 'enterprise'.")
        }
        return edition
    }

    private mutating func found(_ name: String?, in folder: URL) -> String? {
        guard let name else { return nil }
        let path = URL(fileURLWithPath: name, relativeTo: folder).path
        if FileManager.default.fileExists(atPath: path) { return path }
        missing.append(name)
        return nil
    }

    /// The settings in one line.
    var remark: String {
        let parts =
            ([("rules", rules), ("indexes", indexes)]
            + storageRules.map { ("storage rules", Optional($0.file)) }).compactMap { name, file in
                file.map { "\(name) \($0)" }
            }
            + [
                ("Firestore", firestorePort), ("accounts", accountsPort), ("storage", storagePort),
                ("console", controlPort), ("requests", requestsPort),
            ].compactMap { name, port in port.map { "\(name) port \($0)" } }
            + (editions?.remarks ?? []) + databases.flatMap(remarks)
            + missing.map { "\($0) does not exist" }
        return "\(path): "
            + (parts.isEmpty ? "no settings for Firestore." : parts.joined(separator: ", "))
    }

    /// Returns the settings of a database as parts of a sentence. That everything is allowed is
    /// said, because other databases have rules.
    private func remarks(_ database: OwnDatabase) -> [String] {
        [
            database.rules.map { "rules \($0) of \(database.id)" }
                ?? "no rules of \(database.id), so everything is allowed there",
            database.indexes.map { "indexes \($0) of \(database.id)" },
        ].compactMap { $0 }
    }

    private struct Contents: Decodable {
        let firestore: Databases?
        let emulators: Emulators?
        let storage: Buckets?
    }

    private struct Bucket: Decodable {
        let bucket: String?
        let rules: String?
    }

    /// The rules of all buckets, or a list with rules of several.
    private struct Buckets: Decodable {
        let all: [Bucket]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let list = try? container.decode([Bucket].self) {
                all = list
            } else {
                all = [try container.decode(Bucket.self)]
            }
        }
    }

    private struct Database: Decodable {
        let database: String?
        let target: String?
        let rules: String?
        let indexes: String?
        let edition: String?
    }

    /// A single database, or a list of databases.
    private struct Databases: Decodable {
        let all: [Database]
        let isList: Bool

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let list = try? container.decode([Database].self) {
                (all, isList) = (list, true)
            } else {
                (all, isList) = ([try container.decode(Database.self)], false)
            }
        }
    }

    private struct Emulators: Decodable {
        let firestore: Emulator?
        let auth: Emulator?
        let storage: Emulator?
        let ui: Emulator?
    }

    private struct Emulator: Decodable {
        let port: Int?
        let websocketPort: Int?
        let edition: String?
    }
}

extension DatabaseEditions {
    /// The editions as parts of a sentence, by the name of the database.
    fileprivate var remarks: [String] {
        let all = common == .standard ? [] : ["\(common.rawValue) edition"]
        return all
            + own.sorted { $0.key < $1.key }.map { "\($0.value.rawValue) edition of \($0.key)" }
    }
}
