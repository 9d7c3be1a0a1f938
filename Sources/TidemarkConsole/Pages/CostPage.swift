import TidemarkModel
import TidemarkServer

/// The page of the bill by client, label, collection or RPC, with the cost for many users.
struct CostPage: Page {
    let by: [String]
    let rows: [MeterDetail]
    let users: Int
    /// The price of 100,000 reads in the Standard edition, in US dollars.
    let pricePer100000: Double
    /// The prices of the Enterprise edition, for rows with units.
    let unitPrices: UnitPrices
    /// The number of hidden rows, which are the cheapest.
    let hidden: Int
    let chart: CostChart
    /// The newest traffic with other prices.
    let whatIf: WhatIf

    static let maxRows = 500

    var title: String { "Cost" }
    var section: Section { .cost }

    private enum CodingKeys: String, CodingKey {
        case by, rows, users, pricePer100000, hidden, chart, whatIf
    }

    @HTMLBuilder var body: HTML {
        Tag.form(.class("query"), .action(PagePath(["cost"]))) {
            Tag.label(.for("by")) { "By" }
            Tag.select(.id("by"), .name("by")) {
                for dimension in MeterDimension.allCases {
                    if by.contains(dimension.rawValue) {
                        Tag.option(.value(dimension.rawValue), .selected) { dimension.rawValue }
                    } else {
                        Tag.option(.value(dimension.rawValue)) { dimension.rawValue }
                    }
                }
            }
            Tag.label(.for("users")) { "For users" }
            Tag.input(.id("users"), .name("users"), .type(.number), .value("\(users)"))
            Tag.label(.for("limit")) { "With a limit of" }
            Tag.input(.id("limit"), .name("limit"), .type(.number), .value("\(whatIf.limit)"))
            Tag.button(.type(.submit)) { "Show" }
        }
        Tag.section(.data(.part, "live"), .data(.key, "traffic")) {
            Tag.p {
                """
                \(total.grouped) reads since the start of the count: $\(text(dollars(rows))), or \
                $\(text(dollars(rows) * Double(users))) if each of \(users.grouped) users does the \
                same. Price: $\(pricePer100000) for 100,000 reads (nam5), without the free quota.
                """
            }
            if hasUnits { unitsSentence }
            chart.html
            table
            if hidden > 0 { Tag.p { "\(hidden.grouped) cheaper rows are hidden." } }
            if !whatIf.rows.isEmpty {
                Tag.h2 { "What if" }
                Tag.p {
                    """
                    The recorded queries and listeners with a limit of \(whatIf.limit.grouped), and \
                    as a feed, which reads only what changed. A feed's later starts are counted as \
                    one read each, the least. The last two prices are of both editions (nam5); \
                    the Enterprise edition's with an index, by the mean size of the documents.
                    """
                }
                whatIfTable
            }
        }
    }

    private var hasUnits: Bool { rows.contains { $0.units != nil } }

    @HTMLBuilder private var unitsSentence: HTML {
        Tag.p {
            """
            Databases of the Enterprise edition are billed by units: \
            $\(unitPrices.perMillionReads) for a million read units, \
            $\(unitPrices.perMillionUpdates) for real-time update units, \
            $\(unitPrices.perMillionWrites) for write units (nam5).
            """
            for assumption in unitPrices.assumptions { " \(assumption)" }
        }
    }

    private var whatIfTable: HTML {
        Tag.div(.class("scroll"), .focusable, .role("region"), .label("What if")) {
            Tag.table {
                Tag.thead {
                    Tag.tr {
                        for name in [
                            "Query", "Calls", "Reads", "With the limit", "As a feed",
                            "$ saved by the limit for \(users.grouped) users",
                            "$ Standard", "$ Enterprise", "Code",
                        ] {
                            Tag.th(.scope("col")) { name }
                        }
                    }
                }
                Tag.tbody { for row in whatIf.rows { html(row) } }
            }
        }
    }

    private func html(_ row: WhatIf.Row) -> HTML {
        Tag.tr {
            Tag.th(.scope("row")) { Tag.bdi { row.asked } }
            for number in [row.calls, row.reads, row.withLimit, row.asFeed] {
                Tag.td(.class("number")) { number.grouped }
            }
            Tag.td(.class("number")) { dollars(row.reads - row.withLimit, users) }
            for price in [row.dollarsStandard, row.dollarsEnterprise] {
                Tag.td(.class("number")) { text(price * Double(users)) }
            }
            Tag.td { if let code = row.code { Tag.code { code } } }
        }
    }

    private var total: Int { rows.reduce(0) { $0 + $1.reads } }

    private func dollars(_ reads: Int, _ users: Int = 1) -> String {
        text(Double(reads) * Double(users) * pricePer100000 / 100_000)
    }

    /// Returns the price of rows: of their units where they have some, and else of their reads.
    private func dollars(_ rows: [MeterDetail]) -> Double {
        rows.reduce(0) { sum, row in
            sum
                + (row.units.map(unitPrices.cost(of:))
                    ?? Double(row.reads) * pricePer100000 / 100_000)
        }
    }

    private func text(_ dollars: Double) -> String {
        dollars >= 1
            ? "\((dollars * 100).rounded() / 100)" : "\((dollars * 10_000).rounded() / 10_000)"
    }

    private var table: HTML {
        Tag.div(.class("scroll"), .focusable, .role("region"), .label("Billed")) {
            Tag.table {
                Tag.thead {
                    Tag.tr {
                        Tag.th(.scope("col")) { by.joined(separator: ", ") }
                        for name in ["Reads", "Share", "Writes", "Deletes"] {
                            Tag.th(.scope("col")) { name }
                        }
                        if hasUnits {
                            for name in ["Read units", "Update units", "Write units"] {
                                Tag.th(.scope("col")) { name }
                            }
                        }
                        for name in ["$", "$ for \(users.grouped) users"] {
                            Tag.th(.scope("col")) { name }
                        }
                    }
                }
                Tag.tbody { for row in rows { html(row) } }
            }
        }
    }

    private func html(_ row: MeterDetail) -> HTML {
        let names = [row.label, row.client, row.target, row.method].compactMap { $0 }
        let most = max(1, rows.map(\.reads).max() ?? 1)
        return Tag.tr {
            Tag.th(.scope("row")) { Tag.bdi { names.joined(separator: " · ") } }
            Tag.td(.class("number")) { row.reads.grouped }
            Tag.td(.class("bar w\(20 * row.reads / most)"), .label("share of the largest"))
            Tag.td(.class("number")) { row.writes.grouped }
            Tag.td(.class("number")) { row.deletes.grouped }
            if hasUnits {
                let units = row.units ?? BilledUnits()
                for number in [units.read, units.realtimeUpdate, units.write] {
                    Tag.td(.class("number")) { number.grouped }
                }
            }
            Tag.td(.class("number")) { text(dollars([row])) }
            Tag.td(.class("number")) { text(dollars([row]) * Double(users)) }
        }
    }
}
