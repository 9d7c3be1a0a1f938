import ArgumentParser
import Foundation
import TidemarkRules
import TidemarkServer

/// Which security rules a server obeys.
struct RulesOptions: ParsableArguments {
    @Option(
        help: """
            A firestore.rules. Callers may do what it allows, as in production; the bearer token "owner" \
            may do everything. It is read again when it changes. Without one everything is allowed.
            """)
    var rules: String?

    @Option(
        help: """
            What a refused caller reads: explained says which condition was not true, and why; \
            production is production's one sentence. (default: explained)
            """, transform: Self.errors)
    var rulesErrors: RulesSettings.Errors?

    @Option(
        help: ArgumentHelp(
            """
            The firebase.json that names rules, indexes and ports, where options do not; "none" for \
            none. (default: the one in this folder or the nearest one around it)
            """, valueName: "file"))
    var firebaseJson: String?

    /// Reads the rules and puts them in force.
    ///
    /// - Parameter administrator: A token that may do everything beside "owner".
    /// - Returns: Nil where there are none.
    func watch(
        _ path: String?, for server: FirestoreServer, administrator: String?
    ) throws -> RulesFileWatch? {
        guard let path else { return nil }
        let settings = settings(administrator)
        do throws(InvalidRulesFile) {
            return try RulesFileWatch(path, for: server, settings: settings) { line in
                FileHandle.standardError.write(Data("\(line)\n".utf8))
            }
        } catch {
            throw CleanExit.message("tidemark serve: the rules cannot be used.").asFailure
        }
    }

    /// What becomes of rules that are read or put.
    func settings(_ administrator: String?) -> @Sendable (Ruleset) -> RulesSettings {
        let errors = rulesErrors ?? .explained
        return {
            RulesSettings($0, errors: errors, administrators: Set(administrator.map { [$0] } ?? []))
        }
    }

    private static func errors(_ name: String) throws -> RulesSettings.Errors {
        guard let errors = RulesSettings.Errors(rawValue: name) else {
            let names = RulesSettings.Errors.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("'\(name)' is none of \(names).")
        }
        return errors
    }
}
