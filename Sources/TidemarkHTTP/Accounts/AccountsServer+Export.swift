package import Foundation
package import TidemarkServer

/// The names of the files in an export's folder of accounts.
package enum AccountFiles {
    /// The file with all accounts, in the form of Identity Toolkit.
    package static let accounts = "accounts.json"
    /// The file with the project's configuration.
    package static let configuration = "config.json"
    /// The file with the parameters of the password hashes, and the secrets of second factors. Only
    /// Tidemark reads it.
    package static let passwords = "tidemark-passwords.json"

    package static let names = [accounts, configuration, passwords]
}

extension AccountsServer {
    /// Returns the projects that have accounts, sorted by name.
    package func projects() async throws(AccountRefusal) -> [String] {
        try await onCore { (core) throws(AccountRefusal) in try core.projects() }
    }

    /// Returns all accounts of a project at one point in time. Equal accounts produce equal bytes.
    ///
    /// The files contain no passwords, only their hashes. They contain the secrets of second
    /// factors. Tidemark can check a password against
    /// such a hash; Firebase's emulator cannot.
    ///
    /// - Returns: The files, and the number of accounts in them.
    package func files(of project: String) async throws(AccountRefusal) -> (
        files: [(name: String, data: Data)], accounts: Int
    ) {
        let saved = try await onCore { (core) throws(AccountRefusal) in try core.saved(project) }
        var passwords: [String: JSONTree] = [
            "schemes": .object(saved.schemes.mapValues(JSONTree.text))
        ]
        if !saved.factors.isEmpty {
            passwords["factors"] = .object(saved.factors.mapValues(JSONTree.text))
        }
        let files = [
            (
                AccountFiles.accounts,
                AccountsJSON.data([
                    "kind": .text("identitytoolkit#DownloadAccountResponse"),
                    "users": .list(saved.users),
                ])
            ),
            (AccountFiles.configuration, AccountsJSON.data(saved.configuration)),
            (AccountFiles.passwords, AccountsJSON.data(passwords)),
        ]
        return (files, saved.users.count)
    }

    /// Reads such files. Hashes the plain passwords in the files of Firebase's emulator.
    ///
    /// - Throws: A sentence that states the error in the files.
    package func saved(in files: [String: Data]) async throws(AccountRefusal) -> SavedAccounts {
        var saved = SavedAccounts()
        let list = try Self.object(AccountFiles.accounts, in: files)
        switch list["users"] {
        case .list(let users)?: saved.users = users
        case nil, .null?: break
        default: throw AccountRefusal("users is not a list in \(AccountFiles.accounts).")
        }
        saved.configuration = try Self.object(AccountFiles.configuration, in: files)
        let passwords = try Self.object(AccountFiles.passwords, in: files)
        func texts(_ name: String) -> [String: String] {
            (passwords[name]?.fields ?? [:]).compactMapValues { Optional($0).text }
        }
        saved.schemes = texts("schemes")
        saved.factors = texts("factors")
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
            throw AccountRefusal("\(name) is not a JSON object.")
        }
        return object
    }

    /// Imports all accounts or none.
    ///
    /// - Throws: The error of the first account that cannot be imported.
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
