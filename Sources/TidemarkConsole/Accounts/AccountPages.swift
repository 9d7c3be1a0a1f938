import Foundation
import TidemarkServer

/// The accounts of a project, page by page, and the messages that would have been sent to their
/// owners.
struct AccountsPage: Page {
    let project: String
    let accounts: [AccountRow]
    /// The start of the next page; nil on the last page.
    let next: String?
    let inbox: [InboxRow]
    let phones: [PhoneRow]

    var title: String { "Accounts of \(project)" }
    var section: Section { .accounts }

    private enum CodingKeys: String, CodingKey { case project, accounts, next, inbox, phones }

    @HTMLBuilder var body: HTML {
        Tag.form(.class("query"), .action(PagePath(["accounts"])), .role("search")) {
            Tag.label(.for("project")) { "Project" }
            Tag.input(.id("project"), .name("project"), .type(.search), .value(project))
            Tag.button(.type(.submit)) { "Show" }
        }
        AccountForm(project: project, account: nil).html
        table
        if let next {
            Tag.p {
                Tag.a(.href(PagePath(["accounts"], [("project", project), ("page", next)]))) {
                    "Next \(AccountRow.pageSize)"
                }
            }
        }
        InboxRow.html(inbox)
        PhoneRow.html(phones)
        TokenForm().html
    }

    private var table: HTML {
        Tag.div(.class("scroll"), .focusable, .role("region"), .label("Accounts")) {
            Tag.table {
                Tag.thead {
                    Tag.tr {
                        for name in ["Account", "E-mail", "Providers", "Created", "State"] {
                            Tag.th(.scope("col")) { name }
                        }
                    }
                }
                Tag.tbody {
                    for account in accounts {
                        Tag.tr {
                            Tag.th(.scope("row")) {
                                Tag.a(.href(PagePath(["accounts", project, account.id]))) {
                                    Tag.bdi { account.id }
                                }
                            }
                            Tag.td { Tag.bdi { account.email ?? "–" } }
                            Tag.td { account.providers.joined(separator: ", ") }
                            Tag.td { account.created }
                            Tag.td { account.isDisabled ? "disabled" : "active" }
                        }
                    }
                }
            }
        }
    }
}

/// The properties of an account that pages show.
struct AccountRow: Encodable {
    let id: String
    let email: String?
    let isEmailVerified: Bool
    let displayName: String?
    let phoneNumber: String?
    let providers: [String]
    let created: String
    let lastLogin: String?
    let isDisabled: Bool
    /// The claims, as the text of a JSON object.
    let claims: String?

    static let pageSize = 100

    init(_ json: JSONTree) {
        let fields = json.object ?? [:]
        id = fields["localId"]?.string ?? ""
        email = fields["email"]?.string
        isEmailVerified = fields["emailVerified"]?.isTrue ?? false
        displayName = fields["displayName"]?.string
        phoneNumber = fields["phoneNumber"]?.string
        let links = fields["providerUserInfo"]?.array ?? []
        var names = links.compactMap { $0.object?["providerId"]?.string }
        if fields["customAuth"]?.isTrue == true { names.append("custom") }
        providers = names.isEmpty ? ["anonymous"] : names
        created = Self.time(fields["createdAt"]) ?? ""
        lastLogin = Self.time(fields["lastLoginAt"])
        isDisabled = fields["disabled"]?.isTrue ?? false
        claims = fields["customAttributes"]?.string
    }

    private static func time(_ json: JSONTree?) -> String? {
        guard let text = json?.string, let milliseconds = Double(text) else { return nil }
        return Date(timeIntervalSince1970: milliseconds / 1_000).formatted(.iso8601)
    }
}

/// A code or a link that would have been sent by mail.
struct InboxRow: Encodable {
    let email: String
    let kind: String
    let code: String
    let link: String

    init(_ json: JSONTree) {
        let fields = json.object ?? [:]
        email = fields["email"]?.string ?? ""
        kind = fields["requestType"]?.string ?? ""
        code = fields["oobCode"]?.string ?? ""
        link = fields["oobLink"]?.string ?? ""
    }

    @HTMLBuilder static func html(_ rows: [InboxRow]) -> HTML {
        Tag.h2 { "Inbox" }
        Tag.p {
            "Codes and links of unsent emails, newest first. Each is valid for one hour."
        }
        if rows.isEmpty { Tag.p { "No messages." } }
        if !rows.isEmpty {
            Tag.table {
                Tag.thead {
                    Tag.tr {
                        for name in ["To", "For", "Code", "Link"] { Tag.th(.scope("col")) { name } }
                    }
                }
                Tag.tbody {
                    for row in rows {
                        Tag.tr {
                            Tag.th(.scope("row")) { Tag.bdi { row.email } }
                            Tag.td { row.purpose }
                            Tag.td { Tag.code { row.code } }
                            Tag.td(.class("value")) { Tag.code { row.link } }
                        }
                    }
                }
            }
        }
    }

    private var purpose: String {
        switch kind {
        case "PASSWORD_RESET": "password reset"
        case "VERIFY_EMAIL": "address verification"
        case "EMAIL_SIGNIN": "sign-in"
        case "VERIFY_AND_CHANGE_EMAIL": "change of address"
        default: kind
        }
    }
}

/// A code that would have been sent to a phone.
struct PhoneRow: Encodable {
    let phoneNumber: String
    let code: String

    init(_ json: JSONTree) {
        let fields = json.object ?? [:]
        phoneNumber = fields["phoneNumber"]?.string ?? ""
        code = fields["code"]?.string ?? ""
    }

    @HTMLBuilder static func html(_ rows: [PhoneRow]) -> HTML {
        if !rows.isEmpty {
            Tag.h2 { "Text messages" }
            Tag.p {
                "Codes of unsent text messages, newest first. Each is valid once, for one hour."
            }
            Tag.table {
                Tag.thead {
                    Tag.tr { for name in ["To", "Code"] { Tag.th(.scope("col")) { name } } }
                }
                Tag.tbody {
                    for row in rows {
                        Tag.tr {
                            Tag.th(.scope("row")) { Tag.bdi { row.phoneNumber } }
                            Tag.td { Tag.code { row.code } }
                        }
                    }
                }
            }
        }
    }
}

/// The page of one account, with its properties and the possible changes.
struct AccountPage: Page {
    let project: String
    let account: AccountRow
    var title: String { account.email ?? account.id }
    var section: Section { .accounts }

    private enum CodingKeys: String, CodingKey { case project, account }

    @HTMLBuilder var body: HTML {
        Tag.p {
            Tag.a(.href(PagePath(["accounts"], [("project", project)]))) { "All accounts" }
        }
        Tag.dl(.class("figures")) {
            for (name, text) in figures {
                Tag.dt { name }
                Tag.dd { Tag.bdi { text } }
            }
        }
        AccountForm(project: project, account: account).html
    }

    private var figures: [(String, String)] {
        [
            ("Id", account.id), ("Providers", account.providers.joined(separator: ", ")),
            ("Address verified", account.isEmailVerified ? "yes" : "no"),
            ("Phone", account.phoneNumber ?? "none"), ("Created", account.created),
            ("Last sign-in", account.lastLogin ?? "never"),
            ("State", account.isDisabled ? "disabled" : "active"),
        ]
    }
}

/// The form to create or change an account. The script sends it.
struct AccountForm {
    let project: String
    /// The account to change; nil for a new account.
    let account: AccountRow?

    var html: HTML {
        Tag.form(
            .class("query"), .data(.part, "account"),
            .data(.path, PagePath(["accounts", project, account?.id ?? ""]).text),
            .data(.key, account == nil ? "create" : "update"), .hidden
        ) {
            field("email", label: "E-mail", value: account?.email)
            field("displayName", label: "Name", value: account?.displayName)
            field("password", label: account == nil ? "Password" : "New password", value: nil)
            field("customAttributes", label: "Claims, as JSON", value: account?.claims)
            Tag.button(.type(.submit)) { account == nil ? "Create account" : "Save account" }
            if let account {
                button(
                    account.isDisabled ? "enable" : "disable",
                    account.isDisabled ? "Enable" : "Disable", isDangerous: false)
                button("delete", "Delete account", isDangerous: true)
            }
            Tag.output(.live)
        }
    }

    @HTMLBuilder private func field(_ name: String, label: String, value: String?) -> HTML {
        Tag.label(.for("account-" + name)) { label }
        Tag.input(
            .id("account-" + name), .name(name), .type(name == "password" ? .password : .text),
            .value(value ?? ""))
    }

    private func button(_ action: String, _ text: String, isDangerous: Bool) -> HTML {
        Tag.button(
            .type(.button), .class(isDangerous ? "danger" : "plain"), .data(.update, action)
        ) { text }
    }
}

/// The form for a token and its contents.
struct TokenForm {
    var html: HTML {
        Tag.form(.class("editor"), .data(.part, "token"), .hidden) {
            Tag.h2 { "Decode a token" }
            Tag.label(.for("token")) { "Token" }
            Tag.textarea(.id("token"), .rows(3), .noSpelling)
            Tag.p { Tag.button(.type(.submit), .class("plain")) { "Decode" } }
            Tag.output(.live)
        }
    }
}

extension JSONTree {
    var object: [String: JSONTree]? { if case .object(let fields) = self { fields } else { nil } }
    var array: [JSONTree]? { if case .list(let elements) = self { elements } else { nil } }
    var string: String? {
        switch self {
        case .text(let text): text
        case .integer(let value): "\(value)"
        default: nil
        }
    }
    var isTrue: Bool { if case .bool(true) = self { true } else { false } }
}
