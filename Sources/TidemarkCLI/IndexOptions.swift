import ArgumentParser
import Foundation
import TidemarkModel
import TidemarkServer

/// The options for the indexes that queries need.
struct IndexOptions: ParsableArguments {
    @Option(
        help: """
            A firestore.indexes.json. Queries then need its indexes, as in production. The \
            server reloads the file when it changes. Without the file every query runs.
            """)
    var indexes: String?

    @Option(
        help: """
            The handling of a query whose index is missing: strict refuses the query, as \
            production does; warn runs it and prints the index on standard error; auto runs it \
            and adds the index to the file. (default: strict)
            """, transform: Self.policy)
    var indexPolicy: IndexPolicy?

    /// Reads the files, and puts their indexes in force.
    ///
    /// - Parameter firebase: The settings of a `firebase.json`. They count if no option names a
    ///   file.
    /// - Returns: The watches of the files, at most one for each scope.
    func watch(
        _ firebase: FirebaseFile?, for server: FirestoreServer
    ) throws -> [IndexFileWatch] {
        let policy = indexPolicy ?? .strict
        var watches: [IndexFileWatch] = []
        do {
            if let path = indexes ?? firebase?.indexes {
                watches.append(
                    try IndexFileWatch(path, policy: policy, for: server, say: Self.say))
            }
            for database in indexes == nil ? firebase?.databases ?? [] : [] {
                let scope = DatabaseScope.database(database.id)
                if let path = database.indexes {
                    watches.append(
                        try IndexFileWatch(
                            path, of: scope, policy: policy, for: server, say: Self.say))
                } else {
                    try server.setIndexes(nil, of: scope)
                }
            }
        } catch {
            let message =
                (error as? IndexFileError)?.message ?? (error as? RPCStatus)?.message ?? "\(error)"
            throw CleanExit.message("tidemark serve: \(message)").asFailure
        }
        if indexPolicy != nil, watches.isEmpty {
            throw ValidationError("--index-policy needs --indexes.")
        }
        return watches
    }

    /// Prints the missing indexes when the server ends.
    func report(_ server: FirestoreServer, _ watches: [IndexFileWatch]) {
        if indexPolicy != .warn { return }
        for watch in watches {
            guard let missing = server.missingIndexes(of: watch.scope) else { continue }
            Self.say("Queries needed these indexes. Add them to \(watch.name):")
            FileHandle.standardError.write(missing.json)
        }
    }

    private static func policy(_ name: String) throws -> IndexPolicy {
        guard let policy = IndexPolicy(rawValue: name) else {
            let names = IndexPolicy.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("'\(name)' is not one of \(names).")
        }
        return policy
    }

    private static let say: @Sendable (String) -> Void = { line in
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
}
