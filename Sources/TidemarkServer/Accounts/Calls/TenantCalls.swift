import TidemarkStore

/// Creates, lists, changes and deletes the tenants of a project.
struct TenantCalls: AccountCalls {
    let turn: AccountTurn

    private static let notFound = AccountRefusal("TENANT_NOT_FOUND", status: 404)

    private var table: ProviderConfigurations {
        ProviderConfigurations(
            project: call.pool.project, kind: "tenants", transaction: transaction)
    }

    /// Returns the settings of the call's tenant; nil for a call about the project's own accounts.
    ///
    /// - Throws: `TENANT_NOT_FOUND` for a tenant that nobody has created, if tokens are signed.
    func settingsOfCall() throws -> TenantSettings? {
        guard let tenant = call.pool.tenant else { return nil }
        if let json = try table.configuration(tenant) { return TenantSettings(json) }
        if isSecure { throw AccountRefusal("TENANT_NOT_FOUND") }
        return .open
    }

    /// Returns the settings of each tenant of the project, also of tenants that only have accounts.
    func all() throws -> [(id: String, settings: [String: JSONTree])] {
        var settings: [String: [String: JSONTree]] = [:]
        let pools = try transaction.rows(
            "SELECT DISTINCT project FROM account WHERE project > ? AND project < ?",
            [.text(call.pool.project + "/"), .text(call.pool.project + "0")])
        for row in pools {
            if let tenant = AccountPool(name: try row.text(0)).tenant { settings[tenant] = [:] }
        }
        for (id, json) in try table.page(after: "", limit: Int(ProviderConfigurations.capacity)) {
            settings[id] = json
        }
        return settings.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Restores a tenant's settings. A tenant without settings stays one that nobody has created.
    func restore(_ id: String, _ settings: [String: JSONTree]) throws {
        guard AccountPool.isTenant(id) else { throw AccountRefusal("INVALID_TENANT_ID : \(id)") }
        let known = settings.filter { TenantSettings.names.contains($0.key) }
        if !known.isEmpty { try table.put(id, known) }
    }

    func answer() throws -> AccountReply {
        switch call.method {
        case .createTenant: return try create()
        case .listTenants: return try list()
        default: break
        }
        guard let id = try fields.filled("_id", upTo: 256),
            let current = try table.configuration(id)
        else { throw Self.notFound }
        switch call.method {
        case .getTenant: return AccountReply(named(id, current))
        case .deleteTenant:
            try table.delete(id)
            var turn = turn
            turn.call.pool = AccountPool(project: call.pool.project, tenant: id)
            try turn.accounts.clear()
            return AccountReply([:])
        default: return try update(id, current)
        }
    }

    private func create() throws -> AccountReply {
        if try table.count() >= ProviderConfigurations.capacity {
            throw AccountRefusal("QUOTA_EXCEEDED")
        }
        let settings = try checked()
        let name = settings["displayName"].text ?? "tenant"
        var id = name + "-" + suffix()
        while try table.configuration(id) != nil { id = name + "-" + suffix() }
        try table.put(id, settings)
        return AccountReply(named(id, settings))
    }

    private func update(_ id: String, _ current: [String: JSONTree]) throws -> AccountReply {
        let changes = try checked()
        let mask = try fields.filled("updateMask")?.split(separator: ",").map {
            $0.split(separator: ".").first.map(String.init) ?? ""
        }
        var settings = current
        for name in Set(mask ?? Array(changes.keys)) where TenantSettings.names.contains(name) {
            settings[name] = changes[name]
        }
        try table.put(id, settings)
        return AccountReply(named(id, settings))
    }

    /// Returns the settings in the request's body.
    private func checked() throws -> [String: JSONTree] {
        let settings = fields.values.filter { TenantSettings.names.contains($0.key) }
        for name in settings.keys.sorted() {
            switch name {
            case "displayName":
                guard let text = settings[name].text, Self.isDisplayName(text) else {
                    throw AccountRefusal(
                        """
                        INVALID_DISPLAY_NAME : A tenant's name has 4 to 20 letters, digits and \
                        hyphens, and begins with a letter.
                        """)
                }
            case "mfaConfig", "testPhoneNumbers": _ = try fields.object(name)
            default: _ = try fields.flag(name)
            }
        }
        return settings
    }

    /// Source: Identity Platform, `projects.tenants`.
    private static func isDisplayName(_ text: String) -> Bool {
        AccountPool.isPlain(text, or: "-") && (4...20).contains(text.utf8.count)
            && text.first?.isLetter == true
    }

    /// Returns five small letters and digits, as production adds to a tenant's name.
    private func suffix() -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        return String(environment.randomBytes(5).map { letters[Int($0) % letters.count] })
    }

    private func named(_ id: String, _ settings: [String: JSONTree]) -> [String: JSONTree] {
        var fields = settings
        fields["name"] = .text("projects/\(call.pool.project)/tenants/\(id)")
        return fields
    }

    private func list() throws -> AccountReply {
        let size = try fields.integer("pageSize") ?? 20
        guard (1...1_000).contains(size) else { throw AccountRefusal("INVALID_PAGE_SELECTION") }
        let after = try fields.filled("pageToken").map(PageMark.localID) ?? ""
        guard let after else { throw AccountRefusal("INVALID_PAGE_SELECTION") }
        let page = try table.page(after: after, limit: Int(size) + 1)
        let shown = page.prefix(Int(size))
        var reply = AccountReply(["tenants": .list(shown.map { .object(named($0.0, $0.1)) })])
        if page.count > shown.count, let last = shown.last {
            reply.fields["nextPageToken"] = .text(PageMark.text(last.0))
        }
        return reply
    }
}
