/// Performs an administrator's calls on accounts: creates one, imports many, deletes many.
struct AccountBatches: AccountCalls {
    let turn: AccountTurn

    /// Creates an account with an administrator's fields.
    func create() throws -> AccountReply {
        let localID = try fields.localID() ?? turn.newLocalID()
        if try accounts.account(localID: localID) != nil { throw AccountRefusal.duplicateLocalID }
        var account = Account(localID: localID, createdAt: now)
        account.validSince = seconds
        if let email = try fields.email() {
            if try accounts.account(email: email) != nil { throw AccountRefusal.emailExists }
            account.email = email
            account.initialEmail = email
        }
        if let number = try fields.phoneNumber() {
            if try accounts.account(phoneNumber: number) != nil {
                throw AccountRefusal.phoneNumberExists
            }
            account.phoneNumber = number
        }
        if try fields.password() != nil { account.password = try turn.storedPassword() }
        account.displayName = try fields.filled("displayName", upTo: 1_024)
        account.photoURL = try fields.filled("photoUrl")
        account.isDisabled = try fields.flag("disabled") ?? false
        account.isEmailVerified = try fields.flag("emailVerified") ?? false
        account.customAttributes = try fields.customAttributes()
        try accounts.insert(&account)
        var reply = AccountReply(kind: "SignupNewUserResponse", ["localId": .text(localID)])
        if let email = account.email { reply.fields["email"] = .text(email) }
        if let name = account.displayName { reply.fields["displayName"] = .text(name) }
        return reply
    }

    /// The maximum number of accounts in a batch. Source: Firebase, `importUsers` and
    /// `deleteUsers`.
    static let maxBatch = 1_000

    /// Imports accounts of another system, with their passwords if the hash algorithm is known. The
    /// reply contains an error for each account that cannot be imported. The others are imported.
    func importAll() throws -> AccountReply {
        let users = try fields.list("users", upTo: Self.maxBatch)
        if users.isEmpty { throw AccountRefusal("MISSING_USER_ACCOUNT") }
        let scheme = try ImportedPasswords(turn: turn).scheme()
        var errors: [JSONTree] = []
        for (index, user) in users.enumerated() {
            do {
                try importOne(AccountFields(user.fields ?? [:]).withoutEmptyTexts, scheme)
            } catch let refusal as AccountRefusal {
                errors.append(
                    .object([
                        "index": .integer(Int64(index)), "message": .text(refusal.message),
                    ]))
            }
        }
        var reply = AccountReply(kind: "UploadAccountResponse")
        if !errors.isEmpty { reply.fields["error"] = .list(errors) }
        return reply
    }

    private func importOne(_ user: AccountFields, _ scheme: PasswordScheme?) throws {
        guard let localID = try user.localID() else { throw AccountRefusal.missingLocalID }
        let known = try accounts.account(localID: localID)
        if known != nil, try fields.flag("allowOverwrite") == false {
            throw AccountRefusal.duplicateLocalID
        }
        var account = try imported(user, localID: localID, known: known)
        if let hash = try user.filled("passwordHash") {
            account.password = try ImportedPasswords(turn: turn).password(
                hash, salt: try user.text("salt") ?? "", scheme: scheme)
        }
        if let known { try accounts.delete(known) }
        try accounts.insert(&account)
    }

    /// Returns an imported account without its password.
    ///
    /// - Parameter known: The existing account with that id; nil if there is none.
    func imported(
        _ user: AccountFields, localID: String, known: Account?
    ) throws -> Account {
        var account = Account(localID: localID, createdAt: try user.integer("createdAt") ?? now)
        account.validSince = try user.integer("validSince") ?? seconds
        account.lastLoginAt = try user.integer("lastLoginAt")
        try importNames(user, known: known, account: &account)
        account.displayName = try user.filled("displayName", upTo: 1_024)
        account.photoURL = try user.filled("photoUrl")
        account.isDisabled = try user.flag("disabled") ?? false
        account.isEmailVerified = try user.flag("emailVerified") ?? false
        account.customAttributes = try user.customAttributes()
        return account
    }

    private func importNames(
        _ user: AccountFields, known: Account?, account: inout Account
    ) throws {
        if let email = try user.email() {
            if let other = try accounts.account(email: email), other.row != known?.row {
                throw AccountRefusal.emailExists
            }
            account.email = email
            account.initialEmail = email
        }
        if let number = try user.phoneNumber() {
            if let other = try accounts.account(phoneNumber: number), other.row != known?.row {
                throw AccountRefusal.phoneNumberExists
            }
            account.phoneNumber = number
        }
        for info in try user.list("providerUserInfo", upTo: 32) {
            guard let link = ProviderLink(json: info.fields ?? [:]) else {
                throw AccountRefusal("INVALID_PROVIDER_ID")
            }
            if link.providerID == "password" || link.providerID == "phone" { continue }
            if let other = try accounts.account(providerID: link.providerID, rawID: link.rawID),
                other.row != known?.row
            {
                throw AccountRefusal.federatedIDLinked
            }
            account.links.removeAll { $0.providerID == link.providerID }
            account.links.append(link)
        }
    }

    /// Deletes disabled accounts, or all of the listed accounts with `force`. Unknown ids count as
    /// deleted.
    func deleteAll() throws -> AccountReply {
        let ids = try fields.texts("localIds", upTo: Self.maxBatch)
        if ids.isEmpty { throw AccountRefusal("LOCAL_ID_LIST_EXCEEDS_LIMIT") }
        let isForced = try fields.flag("force") ?? false
        var errors: [JSONTree] = []
        for (index, id) in ids.enumerated() {
            guard let account = try accounts.account(localID: id) else { continue }
            if isForced || account.isDisabled {
                try accounts.delete(account)
                if let email = account.email { try codes.deleteAll(of: email) }
                continue
            }
            errors.append(
                .object([
                    "index": .integer(Int64(index)), "localId": .text(id),
                    "message": .text("NOT_DISABLED : Disable the account before batch deletion."),
                ]))
        }
        return AccountReply(errors.isEmpty ? [:] : ["errors": .list(errors)])
    }
}
