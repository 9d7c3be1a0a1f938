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

    /// The file with the accounts and settings of the project's tenants. Only Tidemark reads it.
    package static let tenants = "tidemark-tenants.json"

    package static let names = [accounts, configuration, passwords, tenants]
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
        var files = [
            (
                AccountFiles.accounts,
                AccountsJSON.data([
                    "kind": .text("identitytoolkit#DownloadAccountResponse"),
                    "users": .list(saved.users),
                ])
            ),
            (AccountFiles.configuration, AccountsJSON.data(saved.configuration)),
            (AccountFiles.passwords, AccountsJSON.data(Self.passwords(saved))),
        ]
        if !saved.tenants.isEmpty {
            let tenants = saved.tenants.mapValues { tenant in
                JSONTree.object(
                    Self.passwords(tenant).merging([
                        "settings": .object(tenant.configuration), "users": .list(tenant.users),
                    ]) { $1 })
            }
            files.append((AccountFiles.tenants, AccountsJSON.data(["tenants": .object(tenants)])))
        }
        return (files, saved.users.count + saved.tenants.values.reduce(0) { $0 + $1.users.count })
    }

    private static func passwords(_ saved: SavedAccounts) -> [String: JSONTree] {
        var passwords = ["schemes": JSONTree.object(saved.schemes.mapValues(JSONTree.text))]
        if !saved.factors.isEmpty {
            passwords["factors"] = .object(saved.factors.mapValues(JSONTree.text))
        }
        return passwords
    }

    /// Reads such files. Hashes the plain passwords in the files of Firebase's emulator.
    ///
    /// - Throws: A sentence that states the error in the files.
    package func saved(in files: [String: Data]) async throws(AccountRefusal) -> SavedAccounts {
        var saved = try Self.accounts(
            in: try Self.object(AccountFiles.accounts, in: files),
            try Self.object(AccountFiles.passwords, in: files), of: AccountFiles.accounts)
        saved.configuration = try Self.object(AccountFiles.configuration, in: files)
        let tenants = try Self.object(AccountFiles.tenants, in: files)["tenants"]?.fields ?? [:]
        for (id, tenant) in tenants {
            let fields = tenant.fields ?? [:]
            var accounts = try Self.accounts(in: fields, fields, of: AccountFiles.tenants)
            accounts.configuration = fields["settings"]?.fields ?? [:]
            saved.tenants[id] = accounts
        }
        var generator = SystemRandomNumberGenerator()
        let works = saved.plainPasswords(settings.passwords) {
            (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        }
        for (user, work) in works { saved.set(try await hasher.key(work), ofUser: user) }
        return saved
    }

    /// - Parameters:
    ///   - list: The object with the accounts.
    ///   - passwords: The object with the parameters of their passwords, and their factors.
    ///   - file: The name of the file, for the error.
    private static func accounts(
        in list: [String: JSONTree], _ passwords: [String: JSONTree], of file: String
    ) throws(AccountRefusal) -> SavedAccounts {
        func texts(_ name: String) -> [String: String] {
            (passwords[name]?.fields ?? [:]).compactMapValues { Optional($0).text }
        }
        var saved = SavedAccounts(schemes: texts("schemes"))
        saved.factors = texts("factors")
        switch list["users"] {
        case .list(let users)?: saved.users = users
        case nil, .null?: break
        default: throw AccountRefusal("users is not a list in \(file).")
        }
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
