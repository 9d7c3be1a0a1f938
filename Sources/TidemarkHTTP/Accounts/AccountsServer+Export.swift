package import Foundation
package import TidemarkServer

/// The files of an export's folder of accounts, by their names.
package enum AccountFiles {
    /// All accounts, in Identity Toolkit's form.
    package static let accounts = "accounts.json"
    /// What the project's tools have set.
    package static let configuration = "config.json"
    /// How the keys of passwords were made, which only this server reads.
    package static let passwords = "tidemark-passwords.json"

    package static let names = [accounts, configuration, passwords]
}

extension AccountsServer {
    /// The projects that have accounts, in the order of their names.
    package func projects() async throws(AccountRefusal) -> [String] {
        try await onCore { (core) throws(AccountRefusal) in try core.projects() }
    }

    /// All accounts of a project as of one moment. The same accounts make the same bytes.
    ///
    /// A password is not among them, only its key: Firebase's emulator cannot check it, this server can.
    ///
    /// - Returns: The files, and how many accounts are in them.
    package func files(of project: String) async throws(AccountRefusal) -> (
        files: [(name: String, data: Data)], accounts: Int
    ) {
        let saved = try await onCore { (core) throws(AccountRefusal) in try core.saved(project) }
        let schemes = saved.schemes.mapValues(JSONTree.text)
        let files = [
            (
                AccountFiles.accounts,
                AccountsJSON.data([
                    "kind": .text("identitytoolkit#DownloadAccountResponse"),
                    "users": .list(saved.users),
                ])
            ),
            (AccountFiles.configuration, AccountsJSON.data(saved.configuration)),
            (AccountFiles.passwords, AccountsJSON.data(["schemes": .object(schemes)])),
        ]
        return (files, saved.users.count)
    }

    /// Reads such files, and makes keys of the passwords that stand in those of Firebase's emulator.
    ///
    /// - Throws: What is wrong with them, in a sentence.
    package func saved(in files: [String: Data]) async throws(AccountRefusal) -> SavedAccounts {
        var saved = SavedAccounts()
        let list = try Self.object(AccountFiles.accounts, in: files)
        switch list["users"] {
        case .list(let users)?: saved.users = users
        case nil, .null?: break
        default: throw AccountRefusal("users is no list in \(AccountFiles.accounts).")
        }
        saved.configuration = try Self.object(AccountFiles.configuration, in: files)
        let schemes = try Self.object(AccountFiles.passwords, in: files)["schemes"]?.fields
        saved.schemes = (schemes ?? [:]).compactMapValues { Optional($0).text }
        var generator = SystemRandomNumberGenerator()
        let works = saved.plainPasswords(settings.passwords) {
            (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        }
        for (user, work) in works { saved.set(try await hasher.key(work), ofUser: user) }
        return saved
    }

    private static func object(
        _ name: String, in files: [String: Data]
    ) throws(AccountRefusal) -> [String: JSONTree] {
        guard let data = files[name] else { return [:] }
        guard let object = AccountsJSON.object(data) else {
            throw AccountRefusal("\(name) is no JSON object.")
        }
        return object
    }

    /// Brings accounts in, all or none.
    ///
    /// - Throws: For the first that cannot be taken.
    package func restore(
        _ saved: SavedAccounts, to project: String
    ) async throws(AccountRefusal) -> RestoredAccounts {
        guard AccountsSettings.isProject(project) else {
            throw AccountRefusal("INVALID_PROJECT_ID")
        }
        return try await changing { (core) throws(AccountRefusal) in
            try core.restore(saved, to: project)
        }
    }
}
