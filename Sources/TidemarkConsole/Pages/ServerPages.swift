import TidemarkHTTP
import TidemarkModel
import TidemarkServer

/// The page of the existing indexes, of the indexes that queries have used, and of those that
/// production would require.
struct IndexesPage: Page {
    /// The indexes of some databases.
    struct Part {
        /// The id of a database with its own indexes; nil for the other databases.
        let database: String?
        /// The declared indexes; nil if none are enforced.
        let declared: [IndexUse]?
        /// The declared indexes that no query has used so far.
        let unused: [IndexUse]
        /// The text of a `firestore.indexes.json` of the missing indexes; nil if none is missing.
        let file: String?
    }

    let report: IndexReport
    /// The indexes of the databases without their own, then those with their own by id.
    let parts: [Part]
    var title: String { "Indexes" }
    var section: Section { .indexes }

    private enum CodingKeys: String, CodingKey { case report, unused, file, databases }

    private struct PartJSON: Encodable {
        let database: String
        let unused: [String]
        let file: String?
    }

    func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(parts[0].unused.map(\.properties), forKey: .unused)
        try container.encodeIfPresent(parts[0].file, forKey: .file)
        if parts.count == 1 { return }
        let own = parts.compactMap { part in
            part.database.map {
                PartJSON(database: $0, unused: part.unused.map(\.properties), file: part.file)
            }
        }
        try container.encode(own, forKey: .databases)
    }

    @HTMLBuilder var body: HTML {
        Tag.p {
            if let policy = report.policy {
                "Query without an index: \(policy.rawValue)."
            } else {
                """
                Indexes are not enforced. Start the server with --indexes FILE to see which \
                queries production refuses.
                """
            }
        }
        Tag.section(.data(.part, "live"), .data(.key, "traffic")) {
            if let scans = report.scans { table(of: scans) }
            for part in parts {
                if parts.count > 1 {
                    Tag.h2 { part.database.map { "Database \($0)" } ?? "Other databases" }
                }
                indexes(of: part)
            }
        }
    }

    @HTMLBuilder private func indexes(of part: Part) -> HTML {
        table("Missing", report.missing.filter { $0.database == part.database })
        if let file = part.file {
            Tag.details {
                Tag.summary { "Add to firestore.indexes.json" }
                Tag.pre { Tag.code { file } }
            }
        }
        table("Used", report.used.filter { $0.database == part.database })
        if part.declared != nil { list("Never used", part.unused) }
        if let declared = part.declared { list("Declared", declared) }
    }

    /// Returns the title of a table, below the name of its databases if there are several.
    private func heading(_ title: String) -> HTML {
        parts.count > 1 ? Tag.h3 { title } : Tag.h2 { title }
    }

    @HTMLBuilder private func list(_ title: String, _ indexes: [IndexUse]) -> HTML {
        heading(title)
        if indexes.isEmpty { Tag.p { "None." } }
        Tag.ul(.class("list")) {
            for index in indexes {
                Tag.li {
                    Tag.code { index.properties }
                    Tag.small { index.queryScope }
                }
            }
        }
    }

    /// Returns the table of scans in databases of the Enterprise edition.
    @HTMLBuilder private func table(of scans: [IndexReport.Scan]) -> HTML {
        Tag.h2 { "Scans without an index" }
        Tag.p { "The Enterprise edition demands no index. Each of these would replace a scan." }
        Tag.table {
            Tag.thead {
                Tag.tr {
                    for name in [
                        "Collections", "Database", "Fields", "Queries", "Documents", "Read units",
                        "$",
                    ] {
                        Tag.th(.scope("col")) { name }
                    }
                }
            }
            Tag.tbody {
                for scan in scans.prefix(Self.maxScans) {
                    Tag.tr {
                        Tag.th(.scope("row")) { Tag.bdi { scan.collectionGroup } }
                        Tag.td { Tag.bdi { scan.database } }
                        Tag.td { Tag.code { scan.properties } }
                        for number in [scan.queries, scan.documents, scan.readUnits] {
                            Tag.td(.class("number")) { number.grouped }
                        }
                        Tag.td(.class("number")) { Self.dollars(scan.readUnits) }
                    }
                }
            }
        }
    }

    private static let maxScans = 100

    /// Returns the price of read units, in US dollars.
    private static func dollars(_ readUnits: Int) -> String {
        let cost = UnitPrices.table["nam5"]!.cost(of: BilledUnits(read: readUnits))
        return "\((cost * 10_000).rounded() / 10_000)"
    }

    @HTMLBuilder private func table(_ title: String, _ rows: [IndexReport.Row]) -> HTML {
        heading(title)
        if rows.isEmpty {
            Tag.p { "None." }
        } else {
            Tag.table {
                Tag.thead {
                    Tag.tr {
                        for name in ["Collections", "Scope", "Fields", "Queries"] {
                            Tag.th(.scope("col")) { name }
                        }
                    }
                }
                Tag.tbody {
                    for row in rows {
                        Tag.tr {
                            Tag.th(.scope("row")) { Tag.bdi { row.collectionGroup } }
                            Tag.td { row.queryScope }
                            Tag.td { Tag.code { row.properties } }
                            Tag.td(.class("number")) { row.queries.grouped }
                        }
                    }
                }
            }
        }
    }
}

/// The simulated network, and the ordered faults.
struct FaultsPage: Page {
    /// The state; nil if the server has no faults.
    let state: FaultState?
    var title: String { "Faults and networks" }
    var section: Section { .faults }

    init(_ state: FaultState?) { self.state = state }

    func encode(to encoder: any Encoder) throws { try state.encode(to: encoder) }

    @HTMLBuilder var body: HTML {
        if let state {
            Tag.form(.class("query"), .data(.part, "faults")) {
                Tag.label(.for("network")) { "Network" }
                Tag.select(.id("network"), .name("network")) {
                    for profile in NetworkProfile.allCases {
                        if profile.rawValue == state.network {
                            Tag.option(.value(profile.rawValue), .selected) { profile.rawValue }
                        } else {
                            Tag.option(.value(profile.rawValue)) { profile.rawValue }
                        }
                    }
                }
                Tag.label(.for("rules")) { "Faults, one per line" }
                Tag.textarea(.id("rules"), .rows(4), .noSpelling) {
                    state.rules.map(\.rule).joined(separator: "\n")
                }
                Tag.button(.type(.submit)) { "Set" }
                Tag.output(.live)
            }
            Tag.table {
                Tag.thead {
                    Tag.tr {
                        for name in ["Fault", "Matching calls", "Affected calls"] {
                            Tag.th(.scope("col")) { name }
                        }
                    }
                }
                Tag.tbody {
                    for rule in state.rules {
                        Tag.tr {
                            Tag.th(.scope("row")) { Tag.code { rule.rule } }
                            Tag.td(.class("number")) { rule.matched.grouped }
                            Tag.td(.class("number")) { rule.applied.grouped }
                        }
                    }
                }
            }
        } else {
            Tag.p { "This server cannot simulate faults." }
        }
    }
}

/// The page that asks for the server's token. It works without a script.
struct LoginPage: Page {
    let isWrong: Bool
    let title = "This server needs a token"
    var section: Section { .data }

    private enum CodingKeys: String, CodingKey { case isWrong }

    @HTMLBuilder var body: HTML {
        Tag.form(.class("query"), .action(PagePath(["login"])), .post) {
            Tag.label(.for("server-token")) { "Token" }
            Tag.input(.id("server-token"), .name("token"), .type(.password), .autofocus)
            Tag.button(.type(.submit)) { "Continue" }
        }
        if isWrong { Tag.p(.role("alert")) { "The token is wrong." } }
    }
}
