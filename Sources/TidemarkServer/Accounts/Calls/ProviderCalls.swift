/// Stores a project's OpenID Connect and SAML providers.
struct ProviderCalls: AccountCalls {
    let turn: AccountTurn

    /// Answers an administrator's request about a project's OpenID Connect and SAML providers.
    func answerAboutProviders() throws -> AccountReply {
        let kind = try fields.filled("_kind") ?? ""
        guard kind == "oauthIdpConfigs" || kind == "inboundSamlConfigs" else {
            throw AccountRefusal.configurationNotFound
        }
        let table = ProviderConfigurations(
            project: call.pool.name, kind: kind, transaction: transaction)
        switch call.method {
        case .createProvider: return try createProvider(table)
        case .listProviders: return try listProviders(table)
        default: break
        }
        guard let id = try fields.filled("_id", upTo: 256),
            let current = try table.configuration(id)
        else { throw AccountRefusal.configurationNotFound }
        switch call.method {
        case .getProvider: return AccountReply(named(table, id: id, fields: current))
        case .deleteProvider:
            try table.delete(id)
            return AccountReply([:])
        default:
            let mask = try fields.filled("updateMask") ?? ""
            var changed = JSONTree.object(current)
            for path in mask.split(separator: ",").prefix(32) {
                changed = changed.replacing(
                    path.split(separator: ".").map(String.init), from: .object(body))
            }
            let result = changed.fields ?? current
            try table.put(id, result)
            return AccountReply(named(table, id: id, fields: result))
        }
    }

    /// The request's body, without the fields from its path.
    private var body: [String: JSONTree] {
        fields.values.filter { !$0.key.hasPrefix("_") && $0.key != "updateMask" }
    }

    private func named(
        _ table: ProviderConfigurations, id: String, fields: [String: JSONTree]
    ) -> [String: JSONTree] {
        var fields = fields
        fields["name"] = .text("projects/\(call.pool.path)/\(table.kind)/\(id)")
        return fields
    }

    private func createProvider(_ table: ProviderConfigurations) throws -> AccountReply {
        let isSAML = table.kind == "inboundSamlConfigs"
        let parameter = isSAML ? "inboundSamlConfigId" : "oauthIdpConfigId"
        guard let id = try fields.filled(parameter, upTo: 256),
            id.hasPrefix(isSAML ? "saml." : "oidc."), AccountFields.isLocalID(id)
        else { throw AccountRefusal("INVALID_PROVIDER_ID") }
        if try table.configuration(id) != nil {
            throw AccountRefusal("DUPLICATE_PROVIDER_ID : \(id)", status: 409)
        }
        if try table.count() >= ProviderConfigurations.capacity {
            throw AccountRefusal("QUOTA_EXCEEDED")
        }
        var kept = body
        kept[parameter] = nil
        try table.put(id, kept)
        return AccountReply(named(table, id: id, fields: kept))
    }

    private func listProviders(_ table: ProviderConfigurations) throws -> AccountReply {
        let size = try fields.integer("pageSize") ?? 20
        guard (1...100).contains(size) else { throw AccountRefusal("INVALID_PAGE_SELECTION") }
        let after = try fields.filled("pageToken").map(PageMark.localID) ?? ""
        guard let after else { throw AccountRefusal("INVALID_PAGE_SELECTION") }
        let page = try table.page(after: after, limit: Int(size) + 1)
        let shown = page.prefix(Int(size))
        var reply = AccountReply([
            table.kind: .list(shown.map { .object(named(table, id: $0.0, fields: $0.1)) })
        ])
        if page.count > shown.count, let last = shown.last {
            reply.fields["nextPageToken"] = .text(PageMark.text(last.0))
        }
        return reply
    }
}

extension JSONTree {
    /// Returns a tree with the other tree's value at a path, or without a value there if the other
    /// has none.
    fileprivate func replacing(_ path: [String], from other: JSONTree) -> JSONTree {
        guard let name = path.first else { return other }
        var fields = self.fields ?? [:]
        let value = other.fields?[name]
        if path.count == 1 {
            fields[name] = value == .null ? nil : value
        } else {
            fields[name] = (fields[name] ?? .object([:])).replacing(
                Array(path.dropFirst()), from: value ?? .object([:]))
        }
        return .object(fields)
    }
}
