import TidemarkModel

/// The calls and streams that the server has seen, newest first, with what stands out among them.
struct TrafficPage: Page {
    let filter: String?
    let failedOnly: Bool
    let openOnly: Bool
    let open: Int
    let ended: Int
    let advice: [TrafficAdvice]
    let entries: [TrafficEntry]

    /// Rows of the page.
    static let maxRows = 300

    var title: String { "Traffic" }
    var section: Section { .traffic }

    private enum CodingKeys: String, CodingKey {
        case filter, failedOnly, openOnly, open, ended, advice, entries
    }

    @HTMLBuilder var body: HTML {
        Tag.form(.class("query"), .action(PagePath(["traffic"])), .role("search")) {
            Tag.label(.for("filter")) { "Find" }
            Tag.input(
                .id("filter"), .name("filter"), .type(.search), .value(filter ?? ""),
                .placeholder("a client, a label, a method, a path"))
            Tag.label(.for("show")) { "Show" }
            Tag.select(.id("show"), .name("show")) {
                option("all", "everything", isChosen: !failedOnly && !openOnly)
                option("open", "what is open", isChosen: openOnly)
                option("failed", "what failed", isChosen: failedOnly)
            }
            Tag.button(.type(.submit)) { "Filter" }
        }
        Tag.section(.data(.part, "live"), .data(.key, "traffic")) {
            Tag.p { "\(open.grouped) open, \(ended.grouped) ended." }
            for advice in advice {
                Tag.p(.class("advice"), .role("note")) {
                    Tag.strong { advice.what }
                    HTML(" \(advice.remedy) ")
                    Tag.a(.href(PagePath(["traffic", "\(advice.entry)"]))) { "Show it" }
                }
            }
            table
        }
    }

    private func option(_ value: String, _ text: String, isChosen: Bool) -> HTML {
        isChosen
            ? Tag.option(.value(value), .selected) { text } : Tag.option(.value(value)) { text }
    }

    private var table: HTML {
        Tag.div(.class("scroll"), .focusable, .role("region"), .label("Calls")) {
            Tag.table {
                Tag.thead {
                    Tag.tr {
                        for name in [
                            "Call", "Asked", "Client", "Documents", "Reads", "Bytes", "Time",
                            "Outcome",
                        ] { Tag.th(.scope("col")) { name } }
                    }
                }
                Tag.tbody { for entry in entries { row(entry) } }
            }
        }
    }

    private func row(_ entry: TrafficEntry) -> HTML {
        Tag.tr {
            Tag.th(.scope("row")) {
                Tag.a(.href(PagePath(["traffic", "\(entry.id)"]))) { entry.method }
            }
            Tag.td(.class("asked")) { Tag.bdi { entry.asked } }
            Tag.td { entry.caller }
            Tag.td(.class("number")) { entry.documents.grouped }
            Tag.td(.class("number")) { entry.outcome == nil ? "…" : entry.reads.grouped }
            Tag.td(.class("number")) { entry.bytes.grouped }
            Tag.td(.class("number")) { entry.timeText }
            Tag.td(.class(entry.outcome == "OK" ? "ok" : "outcome")) { entry.outcome ?? "open" }
        }
    }
}

extension TrafficEntry {
    /// The label and the client; empty where neither was told.
    var caller: String { [label, client].compactMap { $0 }.joined(separator: " · ") }

    var timeText: String {
        guard let duration else { return "…" }
        return duration < 10_000 ? "\(duration) µs" : "\(duration / 1_000) ms"
    }
}

/// One call or stream, with all that is known of it.
struct TrafficEntryPage: Page {
    let entry: TrafficEntry
    let advice: TrafficAdvice?
    var title: String { "\(entry.method) \(entry.id)" }
    var section: Section { .traffic }

    private enum CodingKeys: String, CodingKey { case entry, advice }

    @HTMLBuilder var body: HTML {
        Tag.section(.data(.part, "live"), .data(.key, "traffic")) {
            if let advice {
                Tag.p(.class("advice"), .role("note")) {
                    Tag.strong { advice.what }
                    HTML(" " + advice.remedy)
                }
            }
            Tag.dl(.class("figures")) {
                for (name, text) in figures {
                    Tag.dt { name }
                    Tag.dd { Tag.bdi { text } }
                }
            }
            if !entry.targets.isEmpty { targets }
        }
    }

    private var figures: [(String, String)] {
        let began = Timestamp(microseconds: entry.began).rfc3339
        var rows = [
            ("Asked", entry.asked), ("Database", entry.database), ("Label", entry.label ?? "none"),
            ("Client", entry.client ?? "none"), ("Began", began), ("Time", entry.timeText),
            ("Documents sent", entry.documents.grouped), ("Messages", entry.messages.grouped),
            ("Bytes sent, about", entry.bytes.grouped),
        ]
        if entry.outcome != nil {
            rows.append(("Reads billed", entry.reads.grouped))
            rows.append(("Writes billed", entry.writes.grouped))
            rows.append(("Deletes billed", entry.deletes.grouped))
        }
        rows.append(("Outcome", entry.outcome ?? "open"))
        if let message = entry.message { rows.append(("Because", message)) }
        return rows
    }

    private var targets: HTML {
        Tag.table {
            Tag.caption { "What it listens to" }
            Tag.thead {
                Tag.tr {
                    for name in ["Target", "Query", "Began", "Documents", "State"] {
                        Tag.th(.scope("col")) { name }
                    }
                }
            }
            Tag.tbody {
                for target in entry.targets {
                    Tag.tr {
                        Tag.th(.scope("row")) { "\(target.id)" }
                        Tag.td { Tag.bdi { target.asked } }
                        Tag.td { target.isResumed ? "resumed" : "anew" }
                        Tag.td(.class("number")) { target.documents.grouped }
                        Tag.td { target.state.rawValue }
                    }
                }
            }
        }
    }
}
