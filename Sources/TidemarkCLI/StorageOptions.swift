import ArgumentParser
import Foundation
import TidemarkHTTP
import TidemarkModel
import TidemarkObjects
import TidemarkRules
import TidemarkServer
import TidemarkStore

/// The options of the objects: Firebase Storage and Cloud Storage.
struct StorageOptions: ParsableArguments {
    @Flag(
        help: """
            Also serve files: Firebase Storage for its three clients, and the part of Cloud \
            Storage's JSON API that google-cloud-storage for Python uses. Files are kept beside \
            the database; with --memory, in a temporary folder.
            """)
    var storage = false

    @Option(
        help: """
            The port for files; 0 picks a free port. (default: 9199; a free port if --port or \
            --control-port is 0)
            """)
    var storagePort: Int?

    @Option(
        help: ArgumentHelp(
            """
            A storage.rules file. It decides what Firebase's clients may do with files, and may \
            read documents with firestore.get(). The server reloads the file when it changes. \
            Without rules everything is allowed. (default: the files that firebase.json names)
            """, valueName: "file"))
    var storageRules: String?

    func validate() throws {
        if storagePort != nil, !storage {
            throw ValidationError("--storage-port needs --storage.")
        }
        if storageRules != nil, !storage {
            throw ValidationError("--storage-rules needs --storage.")
        }
    }

    /// The rules of objects, and the watches of their files.
    struct Rules {
        let rules: StorageRules
        let watches: [RulesFileWatch]
    }

    /// Reads the rules.
    ///
    /// - Parameters:
    ///   - firebase: The settings of a `firebase.json`.
    ///   - server: The server of the documents that the rules read.
    ///   - errors: Decides whether a refused caller is told the reason.
    func rules(
        _ firebase: FirebaseFile?, for server: FirestoreServer, project: String,
        errors: RulesSettings.Errors
    ) throws -> Rules? {
        guard storage else { return nil }
        let rules = StorageRules(server, project: project, errors: errors, say: Self.say)
        let files =
            storageRules.map { [FirebaseFile.StorageRules(file: $0)] }
            ?? firebase?.storageRules ?? []
        do throws(InvalidRulesFile) {
            var watches: [RulesFileWatch] = []
            for entry in files {
                watches.append(
                    try RulesFileWatch(entry.file, service: .storage, say: Self.say) {
                        rules.set($0, for: entry.bucket)
                    })
            }
            return Rules(rules: rules, watches: watches)
        } catch {
            throw CleanExit.message("tidemark serve: the storage rules cannot be used.").asFailure
        }
    }

    private static let say: @Sendable (String) -> Void = { line in
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }

    /// Opens the objects; nil without `--storage`.
    ///
    /// - Parameters:
    ///   - dataDirectory: The folder of the data; nil for a server in memory.
    ///   - project: The project of the default buckets.
    ///   - gate: Decides who may call.
    ///   - rules: Decides what users may do.
    func server(
        dataDirectory: String?, project: String, gate: (any CallerGate)?, rules: Rules?
    ) throws -> ObjectsServer? {
        guard storage else { return nil }
        do {
            return try ObjectsServer(
                dataDirectory: dataDirectory, project: project, gate: gate,
                rules: rules?.rules)
        } catch {
            let message =
                (error as? StoreError)?.message ?? (error as? ObjectRefusal)?.message
                ?? "\(error)"
            throw CleanExit.message("tidemark serve: \(message)").asFailure
        }
    }
}
