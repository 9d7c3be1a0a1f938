import TidemarkStore

/// Lists a project's accounts, and keeps the project's settings.
struct AccountLists: AccountCalls {
    let turn: AccountTurn

    /// The maximum number of accounts on a page. Source: server-protocol 4.
    static let maxPage: Int64 = 1_000

    /// Returns a page of all accounts, in the byte order of their ids. With `fields=users.localId`
    /// the page contains only ids, and the accounts' rows are not read at all.
    func page() throws -> AccountReply {
        let wanted = try fields.integer("maxResults") ?? 20
        guard (1...Self.maxPage).contains(wanted) else {
            throw AccountRefusal("INVALID_PAGE_SELECTION")
        }
        let after = try fields.filled("nextPageToken", upTo: 1_024).map(PageMark.localID) ?? ""
        guard let after else { throw AccountRefusal("INVALID_PAGE_SELECTION") }
        var reply = AccountReply(kind: "DownloadAccountResponse")
        let users: [JSONTree]
        let last: String?
        if try wantsIDsAlone() {
            let ids = try accounts.ids(after: after, limit: Int(wanted))
            users = ids.map { .object(["localId": .text($0)]) }
            last = ids.last
        } else {
            let page = try accounts.page(after: after, limit: Int(wanted))
            users = page.map { $0.json(tenant: call.pool.tenant, withPassword: true) }
            last = page.last?.localID
        }
        if !users.isEmpty { reply.fields["users"] = .list(users) }
        // The token is also set on a full last page. Source: server-protocol 4.
        if users.count == Int(wanted), let last {
            reply.fields["nextPageToken"] = .text(PageMark.text(last))
        }
        return reply
    }

    /// True for a partial response with ids alone. This is the only one of Google's partial
    /// responses that the server supports.
    private func wantsIDsAlone() throws -> Bool {
        guard let mask = try fields.filled("fields") else { return false }
        let parts = Set(mask.split(separator: ",").map(String.init))
        let ids: Set<String> = ["users.localId", "users/localId", "users(localId)"]
        guard !parts.intersection(ids).isEmpty,
            parts.subtracting(ids).isSubset(of: ["nextPageToken", "kind"])
        else {
            throw AccountRefusal.invalidArgument(
                "fields can be nextPageToken and users.localId, or nothing.")
        }
        return true
    }

    private static let orders = [
        "USER_ID": "localID", "NAME": "displayName", "CREATED_AT": "createdAt",
        "LAST_LOGIN_AT": "lastLoginAt", "USER_EMAIL": "email",
    ]

    /// Returns accounts by a condition, or their number.
    func query() throws -> AccountReply {
        if try fields.flag("returnUserInfo") == false {
            return AccountReply(["recordsCount": .text(String(try accounts.count()))])
        }
        let limit = try fields.integer("limit") ?? 500
        let offset = try fields.integer("offset") ?? 0
        guard (1...500).contains(limit), (0...10_000_000).contains(offset) else {
            throw AccountRefusal.invalidArgument("limit is 1 to 500, offset not negative.")
        }
        let sort = try fields.filled("sortBy") ?? "USER_ID"
        guard let column = Self.orders[sort] else { throw AccountRefusal.invalidArgument("sortBy") }
        let direction = try fields.filled("order") == "DESC" ? "DESC" : "ASC"
        let (condition, values) = try condition()
        let users = try accounts.accounts(
            where: condition, values, orderedBy: "\(column) \(direction), localID", offset: offset,
            limit: limit)
        return AccountReply([
            "recordsCount": .text(String(users.count)),
            "userInfo": .list(users.map { $0.json(tenant: call.pool.tenant) }),
        ])
    }

    private func condition() throws -> (String, [SQLValue]) {
        var parts: [String] = []
        var values: [SQLValue] = []
        for expression in try fields.list("expression", upTo: 10) {
            let known = [("email", "email"), ("userId", "localID"), ("phoneNumber", "phoneNumber")]
            for (name, column) in known {
                guard let value = expression.fields?[name].text else { continue }
                parts.append("\(column) = ?")
                values.append(.text(name == "email" ? value.lowercased() : value))
            }
        }
        return (parts.isEmpty ? "1" : parts.joined(separator: " OR "), values)
    }

    // MARK: The project

    func clear() throws -> AccountReply {
        try accounts.clear()
        return AccountReply([:])
    }

    func updateConfiguration() throws -> AccountReply {
        let known: Set = ["signIn", "emailPrivacyConfig", "mfa", "blockingFunctions", "updateMask"]
        for name in fields.values.keys where !known.contains(name) {
            throw AccountRefusal.invalidArgument("\(name) is unknown.")
        }
        if try fields.object("signIn")?["allowDuplicateEmails"].flag == true {
            throw AccountRefusal(
                """
                UNSUPPORTED : On this server an address belongs to one account only.
                """)
        }
        var configuration = try turn.configuration()
        if let privacy = try fields.object("emailPrivacyConfig"),
            let hides = privacy["enableImprovedEmailPrivacy"].flag
        {
            configuration.hidesAccounts = hides
        }
        if let mfa = try fields.object("mfa") { configuration.factors = try FactorSettings(mfa) }
        if let functions = try fields.object("blockingFunctions") {
            configuration.blocking = try BlockingFunctions(functions)
        }
        try transaction.execute(
            "INSERT OR REPLACE INTO projectConfiguration (project, json) VALUES (?, ?)",
            [.text(call.pool.project), .text(AccountClaims.text(configuration.json))])
        return AccountReply(configuration.json)
    }
}

/// The settings that a project's tools may change.
struct ProjectConfiguration {
    /// True if answers must not reveal that an address has an account. The default is true in the
    /// secure mode; an administrator can change it.
    var hidesAccounts: Bool
    var factors = FactorSettings()
    var blocking = BlockingFunctions()

    init(_ json: [String: JSONTree]?, isSecure: Bool) {
        let privacy = json?["emailPrivacyConfig"]?.fields
        hidesAccounts = privacy?["enableImprovedEmailPrivacy"].flag ?? isSecure
        if let mfa = json?["mfa"]?.fields, let known = try? FactorSettings(mfa) { factors = known }
        if let functions = json?["blockingFunctions"]?.fields,
            let known = try? BlockingFunctions(functions)
        {
            blocking = known
        }
    }

    /// The settings of second factors and blocking functions are left out if nobody has changed
    /// them.
    var json: [String: JSONTree] {
        var json: [String: JSONTree] = [
            "signIn": .object(["allowDuplicateEmails": .bool(false)]),
            "emailPrivacyConfig": .object(["enableImprovedEmailPrivacy": .bool(hidesAccounts)]),
        ]
        if factors != FactorSettings() { json["mfa"] = factors.json }
        if blocking != BlockingFunctions() { json["blockingFunctions"] = blocking.json }
        return json
    }
}

/// Encodes the position at which a list continues. The mark differs from the id, because readers
/// should not build marks from ids.
enum PageMark {
    static func text(_ id: String) -> String { Base64.text(Array(id.utf8), isURL: true) }

    /// Returns nil for an invalid mark.
    static func localID(_ text: String) -> String? {
        Base64.bytes(text).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
