import Foundation
import TidemarkHTTP
import TidemarkServer

/// Reads the accounts for pages, and changes them.
struct AccountDesk {
    let accounts: AccountsServer
    let project: String

    func page(after mark: String?) async throws(AccountRefusal) -> AccountsPage {
        var fields: [String: JSONTree] = ["maxResults": .integer(Int64(AccountRow.pageSize))]
        if let mark { fields["nextPageToken"] = .text(mark) }
        let list = try await accounts.ask(.batchGet, project: project, fields: fields)
        let codes = try await accounts.ask(.listOobCodes, project: project, fields: [:])
        let inbox = (codes["oobCodes"]?.array ?? []).suffix(50).reversed()
        let sent = try await accounts.ask(.listVerificationCodes, project: project, fields: [:])
        let phones = (sent["verificationCodes"]?.array ?? []).suffix(50).reversed()
        return AccountsPage(
            project: project, accounts: (list["users"]?.array ?? []).map { AccountRow($0) },
            next: list["nextPageToken"]?.string, inbox: inbox.map { InboxRow($0) },
            phones: phones.map { PhoneRow($0) })
    }

    /// - Returns: The page; nil if there is no such account.
    func account(_ id: String) async throws(AccountRefusal) -> AccountPage? {
        let found = try await accounts.ask(
            .lookup, project: project, fields: ["localId": .list([.text(id)])])
        guard let user = found["users"]?.array?.first else { return nil }
        return AccountPage(project: project, account: AccountRow(user))
    }

    /// - Parameters:
    ///   - id: The account's id; nil for a new account.
    ///   - order: The action and the form's fields, including empty fields.
    func change(
        _ id: String?, _ order: [String: JSONTree]
    ) async throws(AccountRefusal) -> [String: JSONTree] {
        var fields = order
        let action = fields.removeValue(forKey: "action")?.string ?? ""
        if action == "token" {
            let (claims, verdict) = try await accounts.takeApart(fields["token"]?.string ?? "")
            return ["claims": .object(claims), "verdict": .text(verdict)]
        }
        if fields["password"]?.string == "" { fields["password"] = nil }
        if let id { fields["localId"] = .text(id) }
        switch action {
        case "create":
            fields = fields.filter { $0.value.string != "" }
            return try await accounts.ask(.create, project: project, fields: fields)
        case "update":
            if fields["email"]?.string == "" { fields["email"] = nil }
            if fields["customAttributes"]?.string == "" { fields["customAttributes"] = .text("{}") }
            return try await accounts.ask(.update, project: project, fields: fields)
        case "disable", "enable":
            let change: [String: JSONTree] = [
                "localId": fields["localId"] ?? .null, "disableUser": .bool(action == "disable"),
            ]
            return try await accounts.ask(.update, project: project, fields: change)
        case "delete":
            return try await accounts.ask(
                .delete, project: project, fields: ["localId": fields["localId"] ?? .null])
        default: throw AccountRefusal("INVALID_ARGUMENT : \(action) is not an action.")
        }
    }
}
