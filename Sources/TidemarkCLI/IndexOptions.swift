import ArgumentParser
import Foundation
import TidemarkServer

/// The options for the indexes that queries need.
struct IndexOptions: ParsableArguments {
    @Option(
        help: """
            A firestore.indexes.json. Queries then need its indexes, as in production. Without \
            the file every query runs.
            """)
    var indexes: String?

    @Option(
        help: """
            The handling of a query whose index is missing: strict refuses the query, as \
            production does; warn runs it and prints the index on standard error; auto runs it \
            and adds the index to the file. (default: strict)
            """, transform: Self.policy)
    var indexPolicy: IndexPolicy?

    /// Returns these options with the file that a firebase.json names, if no option names a file.
    func with(_ file: FirebaseFile?) throws -> IndexOptions {
        var options = self
        options.indexes = indexes ?? file?.indexes
        if indexPolicy != nil, options.indexes == nil {
            throw ValidationError("--index-policy needs --indexes.")
        }
        return options
    }

    /// Returns the settings; nil if indexes are not enforced.
    func settings() throws -> IndexSettings? {
        guard let indexes else { return nil }
        do throws(IndexFileError) {
            let settings = try IndexFile.read(indexes, policy: indexPolicy ?? .strict)
            for remark in settings.configuration.remarks { Self.say("\(indexes): \(remark)") }
            return settings
        } catch {
            throw CleanExit.message("tidemark serve: \(error.message)").asFailure
        }
    }

    /// Prints the missing indexes when the server ends.
    func report(_ server: FirestoreServer) {
        guard let indexes, indexPolicy == .warn, let missing = server.missingIndexes() else {
            return
        }
        Self.say("Queries needed these indexes. Add them to \(indexes):")
        FileHandle.standardError.write(missing.json)
    }

    private static func policy(_ name: String) throws -> IndexPolicy {
        guard let policy = IndexPolicy(rawValue: name) else {
            let names = IndexPolicy.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("'\(name)' is not one of \(names).")
        }
        return policy
    }

    private static func say(_ line: String) {
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
}
