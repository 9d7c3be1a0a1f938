import TidemarkModel

/// The page of the server's calls and streams, newest first, with advice.
struct TrafficPage: Page {
    let filter: TrafficFilter
    let open: Int
    let ended: Int
    let advice: [TrafficAdvice]
    let entries: [TrafficEntry]
    /// The ids of calls that belong to a storm.
    let stormy: Set<Int>

    /// The maximum number of rows on the page.
    static let maxRows = 300

    var title: String { "Traffic" }
    var section: Section { .traffic }

    private enum CodingKeys: String, CodingKey {
        case filter, open, ended, advice, entries, stormy
    }

    @HTMLBuilder var body: HTML {
        Tag.form(.class("query"), .action(PagePath(["traffic"])), .role("search")) {
            Tag.label(.for("filter")) { "Find" }
            Tag.input(
                .id("filter"), .name("filter"), .type(.search), .value(filter.text ?? ""),
                .placeholder("a client, a label, a method, a path"))
            Tag.label(.for("show")) { "Show" }
            Tag.select(.id("show"), .name("show")) {
                for show in TrafficFilter.Show.allCases { option(show) }
            }
            Tag.label(.for("reads")) { "Reads at least" }
            Tag.input(
                .id("reads"), .name("reads"), .type(.number), .value("\(filter.reads)"))
            Tag.button(.type(.submit)) { "Filter" }
        }
        Tag.section(.data(.part, "live"), .data(.key, "traffic")) {
            Tag.p { "\(open.grouped) open, \(ended.grouped) ended." }
            for advice in advice {
                Tag.p(.class("advice"), .role("note")) {
                    Tag.strong { advice.what }
                    HTML(" \(advice.remedy) ")
                    Tag.a(.href(PagePath(["traffic", "\(advice.entry)"]))) { "Show" }
                }
            }
            table
        }
    }

    private func option(_ show: TrafficFilter.Show) -> HTML {
        let text =
            switch show {
            case .all: "everything"
            case .open: "open"
            case .failed: "failed"
            case .writes: "writes"
            case .listens: "listeners"
            case .functions: "functions"
            }
        return show == filter.show
            ? Tag.option(.value(show.rawValue), .selected) { text }
            : Tag.option(.value(show.rawValue)) { text }
    }

    private var table: HTML {
        Tag.div(.class("scroll"), .focusable, .role("region"), .label("Calls")) {
            Tag.table {
                Tag.thead {
                    Tag.tr {
                        for name in [
                            "Call", "Request", "Client", "Documents", "Reads", "Bytes", "Time",
                            "Outcome",
                        ] { Tag.th(.scope("col")) { name } }
                    }
                }
                Tag.tbody { for entry in entries { row(entry) } }
            }
        }
    }

    private func row(_ entry: TrafficEntry) -> HTML {
        let isStormy = stormy.contains(entry.id)
        return Tag.tr(.class(isStormy ? "storm" : "calm")) {
            Tag.th(.scope("row")) {
                Tag.a(.href(PagePath(["traffic", "\(entry.id)"]))) { entry.method }
                if isStormy { Tag.small { " repeated" } }
            }
            Tag.td(.class("asked")) { Tag.bdi { entry.asked } }
            Tag.td { entry.caller }
            Tag.td(.class("number")) { entry.documents.grouped }
            Tag.td(.class("number")) { entry.reads.grouped }
            Tag.td(.class("number")) { entry.bytes.grouped }
            Tag.td(.class("number")) { entry.timeText }
            Tag.td(.class(entry.outcome == "OK" ? "ok" : "outcome")) { entry.outcome ?? "open" }
        }
    }
}

extension TrafficEntry {
    /// The label and the client; empty if both are unknown.
    var caller: String { [label, client].compactMap { $0 }.joined(separator: " · ") }

    var asksQuery: Bool { ["Listen", "RunQuery", "RunAggregationQuery"].contains(method) }

    var timeText: String {
        guard let duration else { return "…" }
        return duration < 10_000 ? "\(duration) µs" : "\(duration / 1_000) ms"
    }
}

extension TrafficEntry.Moment {
    var sentence: String {
        switch what {
        case .asked: "The client starts without a token: every document is sent and billed."
        case .resumed: "The client resumes with a token: only changes are sent."
        case .documents: "Sent \(documents.grouped) documents."
        case .removals: "\(documents.grouped) documents left the result."
        case .current: "The client is up to date."
        case .reset: "Reset: the client discards the result and receives all of it again."
        case .mismatch: "The client receives the number of documents, to find what it missed."
        case .stopped: "The client stopped listening."
        case .refused: "Denied by the rules."
        }
    }
}

/// The page of a call or stream, with all known facts.
struct TrafficEntryPage: Page {
    let entry: TrafficEntry
    let advice: TrafficAdvice?
    /// The indexes of the query; empty if the call is no query.
    let indexes: [String]
    let relations: TrafficRelations
    var title: String { "\(entry.method) \(entry.id)" }
    var section: Section { .traffic }

    private enum CodingKeys: String, CodingKey {
        case entry, advice, indexes, commit, deliveries, calls, cause
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(entry, forKey: .entry)
        try container.encodeIfPresent(advice, forKey: .advice)
        try container.encode(indexes, forKey: .indexes)
        try container.encodeIfPresent(relations.commit, forKey: .commit)
        try container.encodeIfPresent(relations.cause, forKey: .cause)
        if !relations.deliveries.isEmpty {
            try container.encode(relations.deliveries, forKey: .deliveries)
        }
        if entry.links.event != nil { try container.encode(relations.calls, forKey: .calls) }
    }

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
            if let query {
                Tag.p { Tag.a(.href(query)) { "Show its query, indexes and price" } }
            }
            if let pipeline {
                Tag.p { Tag.a(.href(pipeline)) { "Show its pipeline, stages and price" } }
            }
            TrafficRelationsPart(entry: entry, relations: relations).body
            if !entry.targets.isEmpty { targets }
            if !entry.life.isEmpty { life }
        }
    }

    /// The page of the query; nil if the call was no query.
    private var query: PagePath? { entry.asksQuery ? address(entry.asked) : nil }

    /// The page of the pipeline; nil if the pipeline bar cannot read the call.
    private var pipeline: PagePath? {
        guard entry.method == "ExecutePipeline",
            let database = try? DatabaseID(name: entry.database),
            (try? PipelineText.parse(entry.asked, in: database)) != nil
        else { return nil }
        return PagePath(
            ["query", database.project, database.database], [("pipeline", entry.asked)])
    }

    private func address(_ text: String) -> PagePath? {
        guard let database = try? DatabaseID(name: entry.database),
            (try? QueryText.parse(text, in: database)) != nil
        else { return nil }
        return PagePath(["query", database.project, database.database], [("q", text)])
    }

    private var life: HTML {
        Tag.table {
            Tag.caption { "Events" }
            Tag.thead {
                Tag.tr {
                    for name in ["After", "Target", "Event"] {
                        Tag.th(.scope("col")) { name }
                    }
                }
            }
            Tag.tbody {
                for moment in entry.life {
                    Tag.tr {
                        Tag.th(.scope("row")) { "\((moment.at - entry.began) / 1_000) ms" }
                        Tag.td { moment.target.map { "\($0)" } ?? "–" }
                        Tag.td { moment.sentence }
                    }
                }
            }
        }
    }

    private var figures: [(String, String)] {
        let began = Timestamp(microseconds: entry.began).rfc3339
        var rows = [
            ("Request", entry.asked), ("Database", entry.database),
            ("Label", entry.label ?? "none"), ("Client", entry.client ?? "none"), ("Began", began),
            ("Time", entry.timeText),
            ("Documents sent", entry.documents.grouped), ("Messages", entry.messages.grouped),
            ("Bytes sent, approximately", entry.bytes.grouped),
        ]
        if let event = entry.links.event {
            rows.append(("Event", event.id))
            rows.append(("Commit", Timestamp(microseconds: event.time).rfc3339))
            rows.append(("Outcome", entry.outcome ?? "under way"))
            if let message = entry.message { rows.append(("Reason", message)) }
            return rows
        }
        rows.append((entry.outcome == nil ? "Reads so far" : "Reads billed", entry.reads.grouped))
        if entry.outcome != nil {
            rows.append(("Writes billed", entry.writes.grouped))
            rows.append(("Deletes billed", entry.deletes.grouped))
        }
        if !indexes.isEmpty { rows.append(("Indexes", indexes.joined(separator: "; "))) }
        rows.append(("Outcome", entry.outcome ?? "open"))
        if let message = entry.message { rows.append(("Reason", message)) }
        return rows
    }

    private var targets: HTML {
        Tag.table {
            Tag.caption { "Targets" }
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
                        Tag.td {
                            if let address = address(target.asked) {
                                Tag.a(.href(address)) { Tag.bdi { target.asked } }
                            } else {
                                Tag.bdi { target.asked }
                            }
                        }
                        Tag.td { target.isResumed ? "resumed" : "anew" }
                        Tag.td(.class("number")) { target.documents.grouped }
                        Tag.td { target.state.rawValue }
                    }
                }
            }
        }
    }
}
