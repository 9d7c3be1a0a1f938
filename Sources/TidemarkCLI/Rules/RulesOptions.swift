import ArgumentParser
import Foundation
import TidemarkHTTP
import TidemarkModel
import TidemarkRules
import TidemarkServer

/// The watched files of a server's security rules.
struct RulesWatches {
    /// The file for databases without their own; nil for none.
    var common: RulesFileWatch?
    /// The files of databases with their own rules, by id.
    var databases: [String: RulesFileWatch] = [:]

    var all: [RulesFileWatch] { (common.map { [$0] } ?? []) + databases.values }
}

/// The options for a server's security rules.
struct RulesOptions: ParsableArguments {
    @Option(
        help: """
            A firestore.rules file. It decides what callers may do, as in production; the bearer \
            token "owner" may do everything. The server reloads the file when it changes. \
            Without rules everything is allowed.
            """)
    var rules: String?

    @Option(
        help: """
            The message for a denied caller. explained: the condition that was not true, with \
            its values. production: the sentence that production sends; standard error and the \
            console show the reason. (default: explained on this machine; production with \
            --accounts secure, and for an address that others can reach)
            """, transform: Self.errors)
    var rulesErrors: RulesSettings.Errors?

    @Option(
        help: ArgumentHelp(
            """
            The firebase.json file that names rules, indexes, editions and ports; options take \
            precedence. "none" ignores such files. (default: the file in this folder or the \
            nearest parent folder)
            """, valueName: "file"))
    var firebaseJson: String?

    @Option(
        name: [.long, .customLong("database-edition")],
        help: """
            The edition of all databases: standard or enterprise, which runs pipelines. (default: \
            those of firebase.json, else standard)
            """, transform: Self.edition)
    var edition: DatabaseEdition?

    @Option(
        help: """
            The port for the feed of rules decisions, ws://HOST:PORT/requests, which the \
            Emulator UI of Firebase reads; 0 picks a free port. (default: 0; GET /emulators on \
            the control port returns the port)
            """)
    var requestsPort: Int?

    /// Returns a remark about the callers for a developer who starts a server with rules; nil if
    /// there is none.
    ///
    /// - Parameters:
    ///   - hasToken: True if the server has a token.
    ///   - mode: The mode of the accounts; nil without accounts.
    static func remark(hasToken: Bool, mode: AccountsSettings.Mode?) -> String? {
        if !hasToken || mode == .secure { return nil }
        return """
            The rules have no effect: every caller must send the server's token, and a caller \
            with that token is an administrator, who may do everything. Use --accounts secure to \
            let callers sign in.
            """
    }

    /// Reads the rules and activates them.
    ///
    /// - Parameters:
    ///   - firebase: The settings of a `firebase.json`. They count if no option names a file.
    ///   - settings: Returns the settings for rules.
    /// - Returns: The watches of the files.
    func watch(
        _ firebase: FirebaseFile?, for server: FirestoreServer,
        settings: @escaping @Sendable (Ruleset) -> RulesSettings
    ) throws -> RulesWatches {
        let say: @Sendable (String) -> Void = { line in
            FileHandle.standardError.write(Data("\(line)\n".utf8))
        }
        let databases = rules == nil ? firebase?.databases ?? [] : []
        var watches = RulesWatches()
        do {
            if let path = rules ?? firebase?.rules {
                watches.common = try RulesFileWatch(
                    path, for: server, of: databases.isEmpty ? nil : .others,
                    settings: settings, say: say)
            }
            for database in databases {
                let scope = DatabaseScope.database(database.id)
                if let path = database.rules {
                    watches.databases[database.id] = try RulesFileWatch(
                        path, for: server, of: scope, settings: settings, say: say)
                } else {
                    try server.setRules(nil, of: scope)
                }
            }
        } catch {
            if let status = error as? RPCStatus { say(status.message) }
            throw CleanExit.message("tidemark serve: the rules cannot be used.").asFailure
        }
        return watches
    }

    /// Returns a function that makes the settings for rules that are read from a file or set over
    /// HTTP.
    ///
    /// - Parameters:
    ///   - administrator: A token that permits everything, in addition to "owner".
    ///   - hasStrangers: True if callers other than the developer have access. An explanation would
    ///     show them values of documents that they must not read.
    func settings(
        _ administrator: String?, hasStrangers: Bool
    ) -> @Sendable (Ruleset) -> RulesSettings {
        let errors = messages(hasStrangers: hasStrangers)
        return {
            RulesSettings($0, errors: errors, administrators: Set(administrator.map { [$0] } ?? []))
        }
    }

    /// Returns the messages for denied callers.
    ///
    /// - Parameter hasStrangers: True if callers other than the developer have access.
    func messages(hasStrangers: Bool) -> RulesSettings.Errors {
        rulesErrors ?? (hasStrangers ? .production : .explained)
    }

    private static func edition(_ name: String) throws -> DatabaseEdition {
        guard let edition = DatabaseEdition(rawValue: name) else {
            let names = DatabaseEdition.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("'\(name)' is not one of \(names).")
        }
        return edition
    }

    private static func errors(_ name: String) throws -> RulesSettings.Errors {
        guard let errors = RulesSettings.Errors(rawValue: name) else {
            let names = RulesSettings.Errors.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("'\(name)' is not one of \(names).")
        }
        return errors
    }
}
